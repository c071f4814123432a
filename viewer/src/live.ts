// A run that still grows: looks for new rows, follows the end, and steers the simulation when the
// page belongs to one (saltus run --view).
import type { Run } from "./data/run";
import type { DataSource, Status } from "./data/source";
import type { Player } from "./state/player";
import type { Store } from "./state/store";
import { h, toggle } from "./ui/dom";

const SOON = 300; // [ms]
const LATER = 2000;

export class Live {
  readonly element = h("div", { class: "live", role: "group", "aria-label": "Simulation", hidden: true });
  private readonly word = h("span", { class: "word" });
  private readonly follow;
  private readonly pause;
  private readonly step;
  private status: Status | null = null;
  private quiet = 0; // looks without news
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly source: DataSource,
    private readonly runs: Run[],
    private readonly store: Store,
    private readonly player: Player,
    private readonly grown: () => void,
  ) {
    this.follow = toggle("Follow the end", "show the newest frame", () => store.set({ followEnd: !store.state.followEnd, playing: false }));
    this.pause = toggle("Pause the run", "pause or resume the simulation", () => void this.steer(this.status?.live?.paused ? "resume" : "pause"));
    this.step = h("button", { type: "button", title: "compute one more frame", onclick: () => void this.steer("step") }, "Step the run");
    this.element.append(this.word, this.follow.button, this.pause.button, this.step);
    store.watch(["followEnd"], () => this.show());
  }

  get growing(): boolean {
    return !this.source.embedded && this.runs.some((run) => !run.ended);
  }

  async watch(): Promise<void> {
    this.show();
    while (this.growing) {
      await this.look().catch((error: unknown) => console.warn(error));
      const idle = this.quiet > 40 && !this.status?.live?.running;
      await new Promise((resolve) => setTimeout(resolve, idle ? LATER : SOON));
    }
  }

  // One look after the other: an older answer must not overtake a newer one.
  look(): Promise<void> {
    this.last = this.last.catch(() => undefined).then(() => this.lookOnce());
    return this.last;
  }

  private async lookOnce(): Promise<void> {
    const status = await this.source.status();
    let news = false;
    for (const run of this.runs) {
      const now = status.runs[run.index]!;
      const rows = now.rows["frames"] ?? 0;
      news ||= rows > run.rows || (now.summary !== null && !run.ended);
      run.update(now.rows, now.summary);
      await run.extend(rows);
    }
    this.status = status; // shown when the frames it speaks of are there
    this.quiet = news ? 0 : this.quiet + 1;
    if (news) this.grown();
    if (this.store.state.followEnd) this.store.set({ time: this.player.end });
    this.show();
  }

  private async steer(what: "pause" | "resume" | "step"): Promise<void> {
    await this.source.steer(what);
    if (what !== "resume") this.store.set({ followEnd: true });
    await this.look();
  }

  private show(): void {
    const live = this.status?.live ?? null;
    this.element.hidden = !this.growing && !live;
    this.word.textContent = !this.growing ? "the run has ended" : live?.waiting ? "paused" : live?.running ? "computing" : "not ended";
    this.follow.show(this.store.state.followEnd);
    this.follow.button.hidden = !this.growing;
    this.pause.button.hidden = this.step.hidden = !live?.running;
    this.pause.button.textContent = live?.paused ? "Resume the run" : "Pause the run";
    this.pause.show(live?.paused ?? false);
  }
}
