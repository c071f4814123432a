// Where rows come from: a local server (HttpSource) or the page itself (EmbeddedSource).
import type { RunInfo, Summary } from "./types";

export interface RowRange {
  first: number;
  count: number;
  stride?: number;
}

/** Part of each row: columns [offset, offset + width). */
export interface Part {
  offset: number;
  width: number;
}

export interface SeriesQuery {
  table: string;
  column: string;
  component: number;
  slot?: number; // of the table contacts
}

export interface Series {
  t: Float64Array; // [s]
  y: Float64Array; // NaN: a gap
  reduction: string; // exact, extremes or sampled
}

export interface Status {
  runs: { rows: Record<string, number>; summary: Summary }[];
  live: { running: boolean; paused: boolean; waiting: boolean } | null;
}

export interface DataSource {
  readonly embedded: boolean;
  runs(): Promise<RunInfo[]>;
  /** One array per column, row after row. */
  rows(run: number, table: string, columns: string[], range: RowRange): Promise<Float64Array[]>;
  part(run: number, table: string, column: string, range: RowRange, part: Part): Promise<Float64Array>;
  series(run: number, query: SeriesQuery, points: number): Promise<Series>;
  status(): Promise<Status>;
  steer(what: "pause" | "resume" | "step"): Promise<void>;
}
