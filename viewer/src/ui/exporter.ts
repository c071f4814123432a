// Pictures (PNG) and films (WebM) of what is drawn.
import type { Run } from "../data/run";
import type { View } from "../scene/view";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { download } from "./dom";
import { colour } from "./theme";

const CAPTION = 26; // [px]

export class Exporter {
  private recorder: MediaRecorder | null = null;

  constructor(
    private readonly store: Store,
    private readonly runs: Run[],
    private readonly view: View,
    private readonly player: Player,
    private readonly scale: () => string,
  ) {}

  get recording(): boolean {
    return this.recorder !== null;
  }

  /** The picture with a line below that says what it shows. */
  async picture(): Promise<Blob> {
    this.view.draw(true);
    const { canvas } = this.view;
    const page = document.createElement("canvas");
    const ratio = canvas.width / Math.max(1, canvas.clientWidth);
    page.width = canvas.width;
    page.height = canvas.height + Math.round(CAPTION * ratio);
    const draw = page.getContext("2d")!;
    draw.drawImage(canvas, 0, 0);
    draw.fillStyle = colour("panel");
    draw.fillRect(0, canvas.height, page.width, page.height - canvas.height);
    draw.fillStyle = colour("text");
    draw.font = `${13 * ratio}px system-ui, sans-serif`;
    draw.fillText(this.caption(), 8 * ratio, canvas.height + 18 * ratio, page.width - 16 * ratio);
    return new Promise((resolve, reject) =>
      page.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made"))), "image/png"),
    );
  }

  async savePicture(): Promise<void> {
    download(await this.picture(), `${this.name}-${this.store.state.time.toFixed(3)}s.png`);
  }

  /** Plays from here to the end into a film; a second call ends it. */
  toggleFilm(changed: () => void): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    const stream = this.view.canvas.captureStream(30);
    const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((t) => MediaRecorder.isTypeSupported(t));
    if (!type) throw new Error("this browser cannot record WebM");
    const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 8_000_000 });
    const parts: Blob[] = [];
    recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
    recorder.addEventListener("stop", () => {
      this.recorder = null;
      this.view.full = false;
      for (const track of stream.getTracks()) track.stop();
      download(new Blob(parts, { type: "video/webm" }), `${this.name}.webm`);
      this.store.set({ playing: false });
      changed();
    });
    this.recorder = recorder;
    this.view.full = true;
    recorder.start(500);
    if (!this.store.state.playing) this.player.toggle();
    changed();
  }

  /** Ends a film when the run has been played. */
  watch(): void {
    this.store.watch(["playing"], () => {
      if (!this.store.state.playing && this.recorder?.state === "recording") this.recorder.stop();
    });
  }

  private get name(): string {
    return this.runs[0]!.info.name.replace(/\.h5$/, "");
  }

  private caption(): string {
    const { state } = this.store;
    const titles = this.runs.map((run) => run.info.header.title || run.info.name).join(" and ");
    const forces = state.contacts || state.supports ? ` · force arrows: ${this.scale()}` : "";
    return `${titles} · t = ${state.time.toFixed(3)} s${forces}`;
  }
}
