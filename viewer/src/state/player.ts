// Moves the time: with the clock while it plays, by frames when it is stepped. Time waits for
// frames that are not here yet.
import type { Run } from "../data/run";
import type { Store } from "./store";

const AHEAD = 3; // blocks to load ahead of the time

export class Player {
  waiting = false;
  private last = 0;

  constructor(
    private readonly store: Store,
    private readonly runs: Run[],
    private readonly complain: (error: unknown) => void,
  ) {}

  get start(): number {
    return Math.min(...this.runs.map((run) => run.start));
  }
  get end(): number {
    return Math.max(...this.runs.map((run) => run.end));
  }

  /** Called once a picture. */
  tick(now: number): void {
    const elapsed = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    const { state } = this.store;
    this.waiting = !this.ready(state.time);
    this.prefetch(state.time);
    if (!state.playing || this.waiting) return;
    let time = state.time + elapsed * state.speed;
    if (time >= this.end) {
      if (state.loop) time = this.start;
      else {
        this.store.set({ time: this.end, playing: false });
        return;
      }
    }
    this.store.set({ time });
  }

  toggle(): void {
    const { playing, time } = this.store.state;
    if (!playing && time >= this.end) this.store.set({ time: this.start });
    this.store.set({ playing: !playing, followEnd: false });
  }

  seek(time: number): void {
    this.store.set({ time: Math.min(this.end, Math.max(this.start, time)), followEnd: false });
  }

  /** Steps by frames of the first run. */
  step(frames: number): void {
    const run = this.runs[0]!;
    const index = Math.min(run.rows - 1, Math.max(0, run.frameAt(this.store.state.time) + frames));
    this.store.set({ playing: false, followEnd: false, time: run.times[index] ?? 0 });
  }

  private ready(time: number): boolean {
    return this.runs.every((run) => run.rows === 0 || run.get(run.frameAt(time)) !== undefined);
  }

  private prefetch(time: number): void {
    for (const run of this.runs) {
      const index = run.frameAt(time);
      const blocks = this.store.state.playing ? AHEAD : 0;
      for (let k = 0; k <= blocks; ++k)
        run.load(Math.min(run.rows - 1, index + k * run.frames.perBlock)).catch(this.complain);
    }
  }
}
