// Play, step, speed, loop and the time as a number.
import type { Run } from "../data/run";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h, option, toggle } from "./dom";

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];

export class Transport {
  readonly element = h("div", { class: "transport", role: "group", "aria-label": "Playback" });
  private readonly clock = h("output", { class: "clock", "aria-live": "off" });

  constructor(
    private readonly store: Store,
    private readonly run: Run,
    private readonly player: Player,
  ) {
    const button = (text: string, label: string, click: () => void): HTMLButtonElement =>
      h("button", { type: "button", title: label, "aria-label": label, onclick: click }, text);
    const play = h("button", { type: "button", class: "main play", onclick: () => player.toggle() });
    const speed = h("select", { "aria-label": "speed", title: "speed (+ and -)" }, ...SPEEDS.map((s) => option(String(s), `${s} ×`)));
    speed.addEventListener("change", () => store.set({ speed: Number(speed.value) }));
    const loop = toggle("Loop", "loop (l)", () => store.set({ loop: !store.state.loop }));
    this.element.append(
      button("|◀", "to the start (Home)", () => player.seek(player.start)),
      button("◁", "one frame back (,)", () => player.step(-1)),
      play,
      button("▷", "one frame on (.)", () => player.step(1)),
      button("▶|", "to the end (End)", () => player.seek(player.end)),
      speed,
      loop.button,
      this.clock,
    );
    const show = (): void => {
      const { playing } = store.state;
      play.textContent = playing ? "Pause" : "Play";
      play.setAttribute("aria-label", playing ? "pause (space)" : "play (space)");
      play.title = play.getAttribute("aria-label")!;
      if (![...speed.options].some((o) => Number(o.value) === store.state.speed))
        speed.append(option(String(store.state.speed), `${store.state.speed} ×`));
      speed.value = String(store.state.speed);
      loop.show(store.state.loop);
    };
    store.watch(["playing", "speed", "loop"], show);
    store.watch(["time"], () => this.showTime());
    show();
    this.showTime();
  }

  showTime(): void {
    const frame = this.run.frameAt(this.store.state.time);
    const digits = Math.max(2, Math.ceil(-Math.log10(this.run.info.header.dt)));
    const text = `${this.store.state.time.toFixed(digits)} / ${this.player.end.toFixed(2)} s · frame ${frame} of ${Math.max(0, this.run.rows - 1)}`;
    this.clock.textContent = this.player.waiting ? `${text} · loading` : text;
  }
}
