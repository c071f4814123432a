// Rows that are part of the page: a report. The layout is written by apps/saltus/report_command.cpp.
import type { ContactList, DataSource, Part, RowRange, Series, SeriesQuery, Status } from "./source";
import type { Column, Impacts, Modes, RunInfo, Table } from "./types";

interface StoredColumn extends Column {
  at: number; // byte in the data
  bits: 32 | 64; // of each number
}
interface StoredRun extends Omit<RunInfo, "tables"> {
  tables: (Omit<Table, "columns"> & { columns: StoredColumn[] })[];
}

type Numbers = Float32Array | Float64Array;

function decode(base64: string): ArrayBuffer {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

export class EmbeddedSource implements DataSource {
  readonly embedded = true;
  private readonly stored: StoredRun;
  private readonly data: ArrayBuffer;

  /** null when the page carries no run. */
  static find(): EmbeddedSource | null {
    const info = document.getElementById("saltus-run");
    const data = document.getElementById("saltus-data");
    return info?.textContent && data?.textContent ? new EmbeddedSource(info.textContent, data.textContent) : null;
  }

  private constructor(info: string, base64: string) {
    this.stored = JSON.parse(info) as StoredRun;
    this.data = decode(base64.trim());
  }

  async runs(): Promise<RunInfo[]> {
    return [this.stored];
  }

  async rows(_: number, table: string, columns: string[], range: RowRange): Promise<Float64Array[]> {
    return columns.map((name) => {
      const { values, width } = this.column(table, name);
      return pick(values, width, range, { offset: 0, width });
    });
  }

  async part(_: number, table: string, column: string, range: RowRange, part: Part): Promise<Float64Array> {
    const { values, width } = this.column(table, column);
    return pick(values, width, range, part);
  }

  async series(_: number, query: SeriesQuery): Promise<Series> {
    if (query.table === "contacts") return this.contactSeries(query);
    const { values, width, rows, stride } = this.column(query.table, query.column);
    const all = { first: 0, count: rows };
    return {
      t: pick(this.column(query.table, "t").values, 1, all, { offset: 0, width: 1 }),
      y: pick(values, width, all, { offset: query.component, width: 1 }),
      reduction: stride === 1 ? "exact" : "sampled",
    };
  }

  async contacts(): Promise<ContactList> {
    const [a, b, feature] = ["a", "b", "feature"].map((name) => this.column("contacts", name).values);
    const found = new Map<string, ContactList["contacts"][number]>();
    for (let row = 0; row < a!.length; ++row) found.set(`${a![row]} ${b![row]} ${feature![row]}`, [a![row]!, b![row]!, feature![row]!]);
    const contacts = [...found.values()].sort((x, y) => x[0] - y[0] || x[1] - y[1] || x[2] - y[2]);
    return { contacts, complete: true, full: false };
  }

  async modes(): Promise<Modes | null> {
    return this.stored.modes ?? null;
  }

  async impacts(): Promise<Impacts | null> {
    return this.stored.impacts ?? null;
  }

  async status(): Promise<Status> {
    const rows = Object.fromEntries(this.stored.tables.map((t) => [t.name, t.rows]));
    return { runs: [{ rows, summary: this.stored.summary }], live: null };
  }

  async steer(): Promise<void> {
    throw new Error("no simulation is attached to a report");
  }

  private contactSeries(query: SeriesQuery): Series {
    const t = Float64Array.from(this.column("frames", "t").values);
    const ends = this.column("frames", "contact_end").values;
    const [a, b, feature] = ["a", "b", "feature"].map((name) => this.column("contacts", name).values);
    const { values, width, unit } = this.column("contacts", query.column);
    const wanted = (row: number): boolean =>
      a![row] === (query.a ?? -1) && b![row] === query.b && (query.feature === undefined || feature![row] === query.feature);
    const y = new Float64Array(t.length).fill(NaN);
    for (let frame = 0, row = 0; frame < t.length; ++frame)
      for (; row < ends[frame]!; ++row) {
        if (!wanted(row)) continue;
        const value = values[row * width + query.component]!;
        if (Number.isNaN(y[frame])) y[frame] = value;
        else if (unit === "N s") y[frame]! += value; // impulses of several points add up
      }
    return { t, y, reduction: this.stored.stride === 1 ? "exact" : "sampled" };
  }

  private column(table: string, name: string): { values: Numbers; width: number; rows: number; unit: string; stride: number | undefined } {
    const found = this.stored.tables.find((t) => t.name === table);
    const column = found?.columns.find((c) => c.name === name);
    if (!found || !column) throw new Error(`the report has no column ${table}.${name}`);
    const size = found.rows * column.width;
    const values =
      column.bits === 64
        ? new Float64Array(this.data, column.at, size)
        : new Float32Array(this.data, column.at, size);
    return { values, width: column.width, rows: found.rows, unit: column.unit, stride: found.stride ?? this.stored.stride };
  }
}

function pick(values: Numbers, whole: number, range: RowRange, part: Part): Float64Array {
  const stride = range.stride ?? 1;
  const out = new Float64Array(range.count * part.width);
  for (let i = 0; i < range.count; ++i) {
    const at = (range.first + i * stride) * whole + part.offset;
    for (let k = 0; k < part.width; ++k) out[i * part.width + k] = values[at + k]!;
  }
  return out;
}
