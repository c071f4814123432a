// Rows from the local server, as little-endian doubles.
import type { ContactList, DataSource, Part, RowRange, Series, SeriesQuery, Status } from "./source";
import type { Impacts, Modes, RunInfo } from "./types";

type Query = Record<string, string | number | undefined>;

async function ask(path: string, query: Query = {}, method = "GET"): Promise<Response> {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]));
  const reply = await fetch(`/api/${path}?${search}`, { method });
  if (reply.ok) return reply;
  const text = await reply.text();
  let message = text;
  try {
    message = (JSON.parse(text) as { error: string }).error;
  } catch {
    // not ours: the text must do
  }
  throw Object.assign(new Error(message), { status: reply.status });
}

const numbers = async (reply: Response): Promise<Float64Array> =>
  new Float64Array(await reply.arrayBuffer());

export class HttpSource implements DataSource {
  readonly embedded = false;
  private infos: RunInfo[] = [];

  async runs(): Promise<RunInfo[]> {
    this.infos = (await (await ask("runs")).json()) as RunInfo[];
    return this.infos;
  }

  async rows(run: number, table: string, columns: string[], range: RowRange): Promise<Float64Array[]> {
    const all = await numbers(await ask("data", { run, table, columns: columns.join(","), ...range }));
    const widths = columns.map((name) => this.width(run, table, name));
    let at = 0;
    return widths.map((width) => all.subarray(at, (at += width * range.count)));
  }

  async part(run: number, table: string, column: string, range: RowRange, part: Part): Promise<Float64Array> {
    return numbers(await ask("data", { run, table, columns: column, ...range, ...part }));
  }

  async series(run: number, query: SeriesQuery, points: number): Promise<Series> {
    const reply = await ask("series", { run, ...query, points });
    const all = await numbers(reply);
    const n = all.length / 2;
    const reduction = reply.headers.get("X-Saltus-Reduction") ?? "exact";
    return { t: all.subarray(0, n), y: all.subarray(n), reduction };
  }

  async contacts(run: number): Promise<ContactList> {
    return (await (await ask("contacts", { run })).json()) as ContactList;
  }

  async modes(run: number): Promise<Modes | null> {
    return (await (await ask("modes", { run })).json()) as Modes | null;
  }

  async impacts(run: number): Promise<Impacts | null> {
    return (await (await ask("impacts", { run })).json()) as Impacts | null;
  }

  async status(): Promise<Status> {
    return (await (await ask("status")).json()) as Status;
  }

  async steer(what: "pause" | "resume" | "step"): Promise<void> {
    await ask("live", { do: what }, "POST");
  }

  private width(run: number, table: string, column: string): number {
    const found = this.infos[run]?.tables
      .find((t) => t.name === table)
      ?.columns.find((c) => c.name === column);
    if (!found) throw new Error(`the run has no column ${table}.${column}`);
    return found.width;
  }
}
