// A run as the viewer uses it: what it is, when its frames are, and the frames themselves.
import { Frames, type Frame } from "./frames";
import type { DataSource } from "./source";
import { findTable, type RunInfo, type Summary } from "./types";

const TIMES_AT_ONCE = 1 << 18;

/** The last index whose value is <= x; 0 when there is none. */
export function lastNotAfter(values: ArrayLike<number>, x: number, length = values.length): number {
  let low = 0;
  let high = length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= x) low = middle;
    else high = middle;
  }
  return low;
}

export class Run {
  readonly frames: Frames;
  times = new Float64Array(); // of the frames [s]

  constructor(
    readonly source: DataSource,
    readonly index: number,
    readonly info: RunInfo,
  ) {
    this.frames = new Frames(source, index, info);
  }

  get rows(): number {
    return this.times.length;
  }
  get start(): number {
    return this.times[0] ?? 0;
  }
  get end(): number {
    return this.times[this.times.length - 1] ?? 0;
  }
  get ended(): boolean {
    return this.info.summary !== null;
  }

  /** Reads the times of frames that are new. */
  async extend(rows: number): Promise<void> {
    while (this.times.length < rows) {
      const first = this.times.length;
      const count = Math.min(TIMES_AT_ONCE, rows - first);
      const [t] = await this.source.rows(this.index, "frames", ["t"], { first, count });
      const longer = new Float64Array(first + count);
      longer.set(this.times);
      longer.set(t!, first);
      this.times = longer;
    }
    const table = findTable(this.info, "frames");
    if (table) table.rows = rows;
  }

  update(rows: Record<string, number>, summary: Summary): void {
    for (const table of this.info.tables) if (table.name !== "frames") table.rows = rows[table.name] ?? table.rows;
    this.info.summary = summary;
  }

  frameAt(time: number): number {
    // A frame counts as reached when the time is its time up to rounding.
    return lastNotAfter(this.times, time + 1e-9 * Math.max(1, Math.abs(time)));
  }

  get(index: number): Frame | undefined {
    return this.frames.get(index);
  }

  load(index: number): Promise<void> {
    return this.frames.load(index, this.rows);
  }
}
