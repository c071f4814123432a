// What a run tells about itself; the words are those of the run format (docs/run-format.md).

export interface Column {
  name: string;
  width: number;
  unit: string;
  about: string;
}

export interface Table {
  name: string;
  rows: number;
  columns: Column[];
  stride?: number; // in a report: it holds one row in so many
}

/** x y z [m], then the quaternion w x y z. */
export type Pose = [number, number, number, number, number, number, number];

/** Factors of friction over x and y: of cells, or between nodes. */
export interface FrictionMap {
  points: [number, number];
  spacing: [number, number]; // [m]
  origin: [number, number]; // corner of the first cell, or first node [m]
  bilinear: boolean;
  factors: number[]; // row by row, x runs fastest
}

export interface Shape {
  name: string;
  body: number; // -1: the world
  type: string;
  pose: Pose; // in the body
  radius?: number; // [m]
  half_length?: number; // [m]
  half_size?: [number, number, number]; // [m]
  semi_axes?: [number, number, number]; // of an ellipsoid [m]
  vertices?: [number, number, number][]; // of a hull [m]
  triangles?: number[]; // three vertices each
  mesh?: { vertices: [number, number, number][]; triangles: number[] }; // what a hull is drawn as
  points?: [number, number]; // of a height field: heights along x and y
  spacing?: [number, number]; // [m]
  origin?: [number, number]; // x and y of the first height [m]
  heights?: number[]; // row by row, x runs fastest [m]
  friction_map?: FrictionMap;
  surface_velocity?: [number, number, number]; // [m/s]
  colour?: [number, number, number, number]; // of what is only seen: red, green, blue, opacity
}

type Triple = [number, number, number];

/** Between points of two bodies; -1: the world. */
export interface Spring {
  name: string;
  a: number;
  b: number;
  point_a: Triple; // in the body [m]
  point_b: Triple;
  length: number; // natural, where it is not driven [m]
}

export interface Runner {
  name: string;
  body: number;
  point: Triple; // in the body [m]
  direction: Triple; // forward at steering angle 0
  normal: Triple;
  edge: boolean; // no side slip
  scales: boolean; // slides forward only
  steering: number | null; // [rad] about the normal; null: it varies
}

/** A slender body whose shape is a field: its stations from base to tip. */
export interface Rod {
  name: string;
  bodies: number[];
  at: number[]; // arc length of each at rest [m]
  radii: number[]; // [m]; 0: not given
  rest?: number[][]; // strains without load: stretch, shear y and z, torsion, bending about y and z
  stiffness?: number[][]; // against them
}

/** Where a fluid acts on a body. */
export interface FluidPlace {
  body: number;
  point: Triple; // in the body [m]
  wake: boolean; // the end of a slender body, which sheds one
}

/** Rows of equal vortices along x that are carried along. */
export interface Street {
  period: number; // [m]
  carried: number; // [m/s]
  rows: { x: number; y: number; circulation: number }[]; // of one vortex at t = 0 [m], [m^2/s]
}

export interface Header {
  title: string;
  description?: string;
  dt: number; // [s]
  end: number; // [s]
  planar: boolean;
  nv?: number; // width of the velocity
  bodies: { name: string; mass: number; parent?: number; q0: number; v0: number }[]; // parents come first; -1: the world
  coordinates: string[];
  shapes: Shape[];
  visuals?: Shape[]; // what is only seen
  complete_scene?: string; // where the scene names robot files
  supports: number; // how many there are
  sensors?: { name: string; type: string; joints?: string[]; values: string[] }[];
  springs?: Spring[]; // files of older versions have none
  runners?: Runner[];
  rods?: Rod[];
  fluids?: FluidPlace[];
  streets?: Street[];
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Summary = { [key: string]: Json } | null; // null: the run has not ended

/** Times in one mode, and impacts; of very many the longest. */
export interface Modes {
  modes: { name: string; holds: string; slips: string }[];
  from: number[]; // [s]
  to: number[];
  mode: number[];
  cause: string[];
  impacts: number[]; // [s]
  left_out: { stretches: number; impacts: number };
}

/** Kinetic energies at impacts; of very many those that gained and the largest. */
export interface Impacts {
  law: string;
  t: number[]; // [s]
  before: number[]; // [J]
  after: number[];
  gained: number[]; // by the law beyond its claim [J]
  about: string[]; // its contacts, in words
  left_out: number;
}

export interface RunInfo {
  name: string;
  version: string;
  header: Header;
  summary: Summary;
  scene: string;
  tables: Table[];
  decimated?: string; // in a report: what was left out, in words
  stride?: number; // and one in how many frames it holds
  reporter?: string; // and what made it
  modes?: Modes | null; // and the modes
  impacts?: Impacts | null;
}

export const findTable = (run: RunInfo, name: string): Table | undefined =>
  run.tables.find((t) => t.name === name);

export const findColumn = (run: RunInfo, table: string, name: string): Column | undefined =>
  findTable(run, table)?.columns.find((c) => c.name === name);
