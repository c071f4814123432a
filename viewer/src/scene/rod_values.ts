// What may be shown as colour along a rod, from the poses of its stations and the contacts of a
// frame: one value a station, the mean of the pieces on either side.
import type { Frame } from "../data/frames";
import type { Header, Rod } from "../data/types";

export type RodColour = "" | "bending" | "moment" | "pressure" | "fluid";
export const ROD_COLOURS: [RodColour, string, string][] = [
  ["", "plain", ""],
  ["bending", "curvature and twist beyond rest", "1/m"],
  ["moment", "bending and torsion moment", "N m"],
  ["pressure", "contact force per length", "N/m"],
  ["fluid", "fluid force per length", "N/m"],
];

/** Those that the run's file has the numbers for: older ones know no stiffness. */
export const rodColours = ({ rods, fluids }: Pick<Header, "rods" | "fluids">): typeof ROD_COLOURS =>
  ROD_COLOURS.filter(
    ([what]) =>
      (what !== "moment" || (rods ?? []).every((rod) => rod.stiffness)) &&
      (what !== "fluid" || (fluids ?? []).length > 0),
  );

/** The rotation from station i to k over the length between them, in i's axes [1/m]. */
export function curvature(pose: ArrayLike<number>, i: number, k: number, length: number): [number, number, number] {
  const [aw, ax, ay, az] = [3, 4, 5, 6].map((c) => pose[7 * i + c]!) as [number, number, number, number];
  const [bw, bx, by, bz] = [3, 4, 5, 6].map((c) => pose[7 * k + c]!) as [number, number, number, number];
  // conj(a) b
  const w = aw * bw + ax * bx + ay * by + az * bz;
  const v = [
    aw * bx - ax * bw - ay * bz + az * by,
    aw * by + ax * bz - ay * bw - az * bx,
    aw * bz - ax * by + ay * bx - az * bw,
  ];
  const size = Math.hypot(v[0]!, v[1]!, v[2]!);
  const angle = 2 * Math.atan2(size, Math.abs(w)) * (w < 0 ? -1 : 1);
  const scale = size > 0 ? angle / size / length : 0;
  return [v[0]! * scale, v[1]! * scale, v[2]! * scale];
}

function strains(rod: Rod, pose: ArrayLike<number>, moment: boolean): number[] {
  const pieces: number[] = [];
  for (let k = 0; k + 1 < rod.bodies.length; ++k) {
    const length = rod.at[k + 1]! - rod.at[k]!;
    if (!(length > 0)) {
      pieces.push(NaN);
      continue;
    }
    const x = curvature(pose, rod.bodies[k]!, rod.bodies[k + 1]!, length);
    const of = (values: number[][] | undefined, c: number, none: number): number =>
      values ? 0.5 * (values[k]![3 + c]! + values[k + 1]![3 + c]!) : none; // angular part
    const beyond = x.map((v, c) => (v - of(rod.rest, c, 0)) * (moment ? of(rod.stiffness, c, NaN) : 1));
    pieces.push(Math.hypot(...beyond));
  }
  return rod.bodies.map((_, k) => {
    const near = [pieces[k - 1], pieces[k]].filter((p): p is number => p !== undefined && !Number.isNaN(p));
    return near.length > 0 ? near.reduce((a, b) => a + b) / near.length : 0;
  });
}

/** Forces go to the nearest station, over half the length to either side. */
function pressures(rod: Rod, header: Header, frame: Frame): number[] {
  const values = rod.bodies.map(() => 0);
  const { a, b, point, impulse, begin, end } = frame.contacts;
  const own = (shape: number): boolean => {
    const body = header.bodies[header.shapes[shape]?.body ?? -1];
    return body !== undefined && body.name.startsWith(`${rod.name}.`);
  };
  for (let row = begin; row < end; ++row) {
    if (a[row]! < 0 || !(own(a[row]!) || own(b[row]!))) continue;
    let nearest = 0;
    let least = Infinity;
    rod.bodies.forEach((body, k) => {
      const d = Math.hypot(...[0, 1, 2].map((c) => frame.pose[7 * body + c]! - point[3 * row + c]!));
      if (d < least) [least, nearest] = [d, k];
    });
    values[nearest]! += Math.hypot(impulse[3 * row]!, impulse[3 * row + 1]!, impulse[3 * row + 2]!) / header.dt;
  }
  return perLength(rod, values);
}

/** Over half the length to either side of each station. */
function perLength(rod: Rod, values: number[]): number[] {
  return values.map((force, k) => {
    const from = rod.at[Math.max(0, k - 1)]!;
    const to = rod.at[Math.min(rod.at.length - 1, k + 1)]!;
    return force / (0.5 * (to - from));
  });
}

/** Of sections; a wake is a force at a point. */
function fluidDensities(rod: Rod, header: Header, frame: Frame): number[] {
  const sums = rod.bodies.map(() => [0, 0, 0] as [number, number, number]);
  (header.fluids ?? []).forEach(({ body, wake }, i) => {
    const k = rod.bodies.indexOf(body);
    if (k < 0 || wake) return;
    for (const c of [0, 1, 2]) sums[k]![c]! += frame.fluid[3 * i + c] ?? 0;
  });
  return perLength(rod, sums.map((sum) => Math.hypot(...sum)));
}

export function rodValues(what: RodColour, rod: Rod, header: Header, frame: Frame): number[] {
  if (what === "pressure") return pressures(rod, header, frame);
  if (what === "fluid") return fluidDensities(rod, header, frame);
  return strains(rod, frame.pose, what === "moment");
}
