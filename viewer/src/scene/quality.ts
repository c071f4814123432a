// Keeps a film smooth on a slow machine: while it plays, pictures that take too long get fewer
// pixels. A picture that stands still always has all of them.

const STEPS = [1, 0.75, 0.55]; // share of the pixels along each side
const TOO_SLOW = 31; // between pictures [ms]
const PATIENCE = 8; // pictures

export class Quality {
  private step = 0;
  private last = 0;
  private slow = 0;

  /** The share for the next picture. */
  share(playing: boolean, now: number): number {
    if (!playing) {
      this.last = 0;
      return 1;
    }
    const late = this.last > 0 && now - this.last > TOO_SLOW;
    this.last = now;
    this.slow = late ? this.slow + 1 : Math.max(0, this.slow - 1);
    if (this.slow >= PATIENCE && this.step < STEPS.length - 1) {
      ++this.step;
      this.slow = 0;
    }
    return STEPS[this.step]!;
  }

  get current(): number {
    return STEPS[this.step]!;
  }
}
