// The frames of a run, streamed in blocks of about a megabyte; the least recently used blocks go
// when the memory cap is reached, so a run may be as long as it likes.
import type { DataSource } from "./source";
import { findColumn, findTable, type RunInfo } from "./types";

const BLOCK_BYTES = 1 << 20;
const CAP_BYTES = 48 << 20; // of each run

/** The contacts of a frame: rows [begin, end) of the arrays. */
export interface Contacts {
  begin: number;
  end: number;
  a: Float64Array; // first shape; -1: a support
  b: Float64Array; // second shape, or the support's body
  mode: Float64Array; // 0 open, 1 stick, 2 slip, 3 closed
  point: Float64Array; // [m]
  impulse: Float64Array; // [N s]
}

export interface Frame {
  index: number;
  pose: Float64Array; // 7 numbers a body
  com: Float64Array;
  contacts: Contacts;
  fluid: Float64Array; // 3 numbers a fluid: its force [N]; empty: there is none
  flow: Float64Array; // and its velocity [m/s]; empty: it rests
}

interface Block {
  first: number;
  count: number;
  pose: Float64Array;
  com: Float64Array;
  fluid: Float64Array;
  flow: Float64Array;
  begins: Float64Array; // of each frame's contacts, and the end of the last
  contacts: Omit<Contacts, "begin" | "end">;
  bytes: number;
}

export class Frames {
  readonly perBlock: number;
  bytes = 0; // held now
  private readonly blocks = new Map<number, Block>(); // in the order of use
  private readonly loading = new Map<number, Promise<void>>();
  private retryAt = 0; // after a failure [ms]
  private readonly poseWidth: number;
  private readonly hasContacts: boolean;
  private readonly fluidWidth: number;
  private readonly flowWidth: number;

  constructor(
    private readonly source: DataSource,
    private readonly run: number,
    info: RunInfo,
  ) {
    this.poseWidth = findColumn(info, "frames", "pose")?.width ?? 0;
    const frames = Math.max(1, findTable(info, "frames")?.rows ?? 1);
    const contacts = findTable(info, "contacts")?.rows ?? 0;
    this.hasContacts = findColumn(info, "frames", "contact_end") !== undefined;
    this.fluidWidth = findColumn(info, "frames", "fluid_force")?.width ?? 0;
    this.flowWidth = findColumn(info, "frames", "flow")?.width ?? 0;
    const perFrame = 8 * (this.poseWidth + this.fluidWidth + this.flowWidth + 4 + (9 * contacts) / frames);
    this.perBlock = Math.max(1, Math.min(256, Math.round(BLOCK_BYTES / perFrame)));
  }

  /** The frame if it is here; it may have to be loaded first. */
  get(index: number): Frame | undefined {
    const key = Math.floor(index / this.perBlock);
    const block = this.blocks.get(key);
    if (!block || index >= block.first + block.count) return undefined;
    this.blocks.delete(key); // now the most recently used
    this.blocks.set(key, block);
    const i = index - block.first;
    return {
      index,
      pose: block.pose.subarray(i * this.poseWidth, (i + 1) * this.poseWidth),
      com: block.com.subarray(3 * i, 3 * i + 3),
      fluid: block.fluid.subarray(i * this.fluidWidth, (i + 1) * this.fluidWidth),
      flow: block.flow.subarray(i * this.flowWidth, (i + 1) * this.flowWidth),
      contacts: {
        ...block.contacts,
        begin: block.begins[i]! - block.begins[0]!,
        end: block.begins[i + 1]! - block.begins[0]!,
      },
    };
  }

  /** Resolves when the frame is here; `rows` is how many the run has. */
  async load(index: number, rows: number): Promise<void> {
    if (index < 0 || index >= rows || this.get(index) || performance.now() < this.retryAt) return;
    const key = Math.floor(index / this.perBlock);
    let job = this.loading.get(key);
    if (!job) {
      job = this.fetch(key, rows)
        .catch((error: unknown) => {
          this.retryAt = performance.now() + 2000;
          throw error;
        })
        .finally(() => this.loading.delete(key));
      this.loading.set(key, job);
    }
    await job;
  }

  private async fetch(key: number, rows: number): Promise<void> {
    const first = key * this.perBlock;
    const count = Math.min(this.perBlock, rows - first);
    // One frame earlier, too: where its contacts end ours begin.
    const before = first > 0 && this.hasContacts ? 1 : 0;
    const columns = ["pose", "com"];
    if (this.hasContacts) columns.push("contact_end");
    if (this.fluidWidth > 0) columns.push("fluid_force");
    if (this.flowWidth > 0) columns.push("flow");
    const range = { first: first - before, count: count + before };
    const read = await this.source.rows(this.run, "frames", columns, range);
    const of = (name: string): Float64Array | undefined => read[columns.indexOf(name)];
    const [pose, com, ends] = [of("pose"), of("com"), of("contact_end")];
    const fluid = of("fluid_force") ?? new Float64Array();
    const flow = of("flow") ?? new Float64Array();
    const begins = new Float64Array(count + 1);
    if (ends) begins.set(before ? ends : [0, ...ends]);
    const block: Block = {
      first,
      count,
      pose: pose!.subarray(before * this.poseWidth),
      com: com!.subarray(before * 3),
      fluid: fluid.subarray(before * this.fluidWidth),
      flow: flow.subarray(before * this.flowWidth),
      begins,
      contacts: await this.fetchContacts(begins[0]!, begins[count]!),
      bytes: 0,
    };
    block.bytes = pose!.byteLength + com!.byteLength + fluid.byteLength + flow.byteLength + 72 * (begins[count]! - begins[0]!);
    this.keep(key, block);
  }

  private async fetchContacts(begin: number, end: number): Promise<Block["contacts"]> {
    const none = new Float64Array();
    if (end <= begin) return { a: none, b: none, mode: none, point: none, impulse: none };
    const [a, b, mode, point, impulse] = await this.source.rows(
      this.run,
      "contacts",
      ["a", "b", "mode", "point", "impulse"],
      { first: begin, count: end - begin },
    );
    return { a: a!, b: b!, mode: mode!, point: point!, impulse: impulse! };
  }

  private keep(key: number, block: Block): void {
    this.bytes += block.bytes - (this.blocks.get(key)?.bytes ?? 0);
    this.blocks.delete(key);
    this.blocks.set(key, block);
    for (const [old, value] of this.blocks) {
      if (this.bytes <= CAP_BYTES || old === key) break;
      this.blocks.delete(old);
      this.bytes -= value.bytes;
    }
  }
}
