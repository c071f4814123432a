// Names of components: "link6 x" instead of pose[35].
import type { ContactPick, SeriesQuery } from "../data/source";
import { findColumn, type RunInfo } from "../data/types";

const XYZ = ["x", "y", "z"];
const POSE = ["x", "y", "z", "qw", "qx", "qy", "qz"];

/** The derived column of contacts: impulse / dt. */
export const FORCE = { name: "force", width: 4, unit: "N", about: "impulse / dt on the second body" };

/** Which body owns a coordinate or a velocity. */
function owner(run: RunInfo, key: "q0" | "v0", component: number): string {
  const bodies = run.header.bodies.filter((body) => body[key] <= component);
  const body = bodies.reduce((a, b) => (b[key] >= a[key] ? b : a), bodies[0]!);
  return body ? `${body.name} [${component - body[key]}]` : String(component);
}

/** The sensor whose readings a table holds. */
const sensorOf = (run: RunInfo, table: string) => run.header.sensors?.find((s) => `sensor_${s.name}` === table);

export function componentName(run: RunInfo, table: string, column: string, component: number, width: number): string {
  const { bodies, coordinates } = run.header;
  const joints = sensorOf(run, table)?.joints;
  if (joints?.length === width) return joints[component]!;
  if (column === "quaternion") return POSE[3 + component] ?? "";
  if (column === "pose") return `${bodies[Math.floor(component / 7)]?.name ?? "?"} ${POSE[component % 7]}`;
  if (column === "force") return ["x", "y", "z", "size"][component] ?? "";
  if (column === "coordinate" || column === "motor") return coordinates[component] ?? String(component);
  if (column === "q") return owner(run, "q0", component);
  if (column === "v" || column === "drive") return owner(run, "v0", component);
  if (width === 3) return XYZ[component]!;
  return width === 1 ? "" : String(component);
}

export function contactName(run: RunInfo, { a, b, feature }: ContactPick): string {
  const { bodies, shapes } = run.header;
  const point = feature === undefined ? "" : ` (${feature})`;
  if (a === undefined) return `ground – ${bodies[b]?.name ?? b}${point}`;
  return `${shapes[a]?.name ?? a} – ${shapes[b]?.name ?? b}${point}`;
}

const PLAIN: Record<string, string> = { com: "centre of mass", motor: "motor", pose: "" };

export function seriesName(run: RunInfo, s: SeriesQuery): string {
  const width = s.column === "force" ? FORCE.width : (findColumn(run, s.table, s.column)?.width ?? 1);
  const component = componentName(run, s.table, s.column, s.component, width);
  const column = PLAIN[s.column] ?? s.column.replaceAll("_", " ");
  const what = s.b === undefined ? column : `${contactName(run, { ...s, b: s.b })} ${column}`;
  return [sensorOf(run, s.table)?.name, what, component].filter(Boolean).join(" ");
}

export function seriesUnit(run: RunInfo, s: SeriesQuery): string {
  if (s.column === "force") return FORCE.unit;
  // A pose has metres and a quaternion.
  if (s.column === "pose" && s.component % 7 > 2) return "";
  return findColumn(run, s.table, s.column)?.unit ?? "";
}
