// What a fluid does and how it flows: arrows at the places of header.fluids, and the vortices of
// streets as rings, blue where they turn clockwise, red where they do not.
import * as THREE from "three";
import type { Frame } from "../data/frames";
import type { Header } from "../data/types";
import type { Force } from "./arrows";
import { FLOW_MODE, FLUID_MODE } from "./palette";

const COLOURS = ["#3f6fd0", "#d0563f"];

/** Where the k-th of the fluids acts, in the inertial frame. */
export function fluidPlace(header: Pick<Header, "fluids">, pose: ArrayLike<number>, k: number): THREE.Vector3 {
  const { body, point } = header.fluids![k]!;
  const [x, y, z, w, a, b, c] = [0, 1, 2, 3, 4, 5, 6].map((i) => pose[7 * body + i]!) as number[];
  return new THREE.Vector3(...point).applyQuaternion(new THREE.Quaternion(a, b, c, w)).add(new THREE.Vector3(x, y, z));
}

function arrows(header: Pick<Header, "fluids">, pose: ArrayLike<number>, values: ArrayLike<number>, mode: number): Force[] {
  const kind = "fluid";
  return Array.from({ length: values.length / 3 }, (_, k) => ({
    a: -1,
    b: header.fluids![k]!.body,
    mode,
    kind,
    point: fluidPlace(header, pose, k),
    force: new THREE.Vector3(values[3 * k], values[3 * k + 1], values[3 * k + 2]),
  }));
}

/** The forces of a frame's fluids on their bodies [N]. */
export const fluidForces = (header: Pick<Header, "fluids">, frame: Pick<Frame, "pose" | "fluid">): Force[] =>
  header.fluids ? arrows(header, frame.pose, frame.fluid, FLUID_MODE) : [];

/** Its velocities there, as lengths [m/s]. */
export const flowArrows = (header: Pick<Header, "fluids">, frame: Pick<Frame, "pose" | "flow">): Force[] =>
  header.fluids ? arrows(header, frame.pose, frame.flow, FLOW_MODE) : [];

/** The vortices at a time between two abscissas: x, y, circulation. */
export function vorticesAt(header: Pick<Header, "streets">, time: number, from: number, to: number): [number, number, number][] {
  const found: [number, number, number][] = [];
  for (const { period, carried, rows } of header.streets ?? [])
    for (const row of rows) {
      const first = row.x + carried * time;
      const begin = Math.ceil((from - first) / period);
      const end = Math.min(Math.floor((to - first) / period), begin + 199);
      for (let k = begin; k <= end; ++k) found.push([first + k * period, row.y, row.circulation]);
    }
  return found;
}

export class Vortices {
  readonly object = new THREE.Group();
  private readonly meshes: THREE.InstancedMesh[];

  constructor(
    private readonly header: Pick<Header, "streets">,
    private readonly from: number,
    private readonly to: number,
  ) {
    const most = vorticesAt(header, 0, from, to).length + 2 * (header.streets?.length ?? 0) + 8;
    this.meshes = COLOURS.map((colour) => {
      const material = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.55, side: THREE.DoubleSide });
      const mesh = new THREE.InstancedMesh(new THREE.RingGeometry(0.7, 1, 32), material, most);
      mesh.frustumCulled = false;
      mesh.count = 0;
      this.object.add(mesh);
      return mesh;
    });
  }

  update(time: number): void {
    const counts = [0, 0];
    const matrix = new THREE.Matrix4();
    const radius = 0.08 * Math.min(...(this.header.streets ?? []).map((s) => s.period));
    for (const [x, y, circulation] of vorticesAt(this.header, time, this.from, this.to)) {
      const which = circulation > 0 ? 1 : 0;
      const mesh = this.meshes[which]!;
      if (counts[which]! >= mesh.instanceMatrix.count) continue;
      mesh.setMatrixAt(counts[which]!++, matrix.makeScale(radius, radius, 1).setPosition(x, y, 0));
    }
    this.meshes.forEach((mesh, i) => {
      mesh.count = counts[i]!;
      mesh.instanceMatrix.needsUpdate = true;
    });
  }
}
