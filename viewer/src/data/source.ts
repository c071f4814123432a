// Where rows come from: a local server (HttpSource) or the page itself (EmbeddedSource).
import type { Impacts, Modes, RunInfo, Summary } from "./types";

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

/** Two shapes that touch, or the supports of a body. */
export interface ContactPick {
  a?: number; // a shape; undefined: a support
  b: number; // a shape, or the body of a support
  feature?: number; // one of their points; undefined: all together
}

export interface SeriesQuery extends Partial<ContactPick> {
  table: string;
  column: string;
  component: number; // and of the table contacts, which contact
}

/** The contacts that occur in a run, as far as it has been searched. */
export interface ContactList {
  contacts: [a: number, b: number, feature: number][]; // a support: a = -1
  complete: boolean; // all rows were searched
  full: boolean; // there are more than a list can hold
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
  /** Each call searches further. */
  contacts(run: number): Promise<ContactList>;
  /** null: the run records none. */
  modes(run: number): Promise<Modes | null>;
  /** null: an older run, which records none. */
  impacts(run: number): Promise<Impacts | null>;
  status(): Promise<Status>;
  steer(what: "pause" | "resume" | "step"): Promise<void>;
}
