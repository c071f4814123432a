// The moving bodies of a run: one instanced mesh per kind of shape, so that a thousand links are a
// few draw calls.
import * as THREE from "three";
import type { Header, Pose, Shape } from "../data/types";
import { detailFor, pointRadius, shapeGeometry } from "./geometry";

interface Group {
  mesh: THREE.InstancedMesh;
  bodies: number[];
  local: Float64Array; // 12 numbers an instance: rotation by rows and position
}

/** Rotation matrix by rows and position of pose number i. */
export function poseMatrix(pose: ArrayLike<number>, i: number, out: Float64Array, at = 0): void {
  const p = 7 * i;
  const w = pose[p + 3]!;
  const x = pose[p + 4]!;
  const y = pose[p + 5]!;
  const z = pose[p + 6]!;
  out[at] = 1 - 2 * (y * y + z * z);
  out[at + 1] = 2 * (x * y - w * z);
  out[at + 2] = 2 * (x * z + w * y);
  out[at + 3] = 2 * (x * y + w * z);
  out[at + 4] = 1 - 2 * (x * x + z * z);
  out[at + 5] = 2 * (y * z - w * x);
  out[at + 6] = 2 * (x * z - w * y);
  out[at + 7] = 2 * (y * z + w * x);
  out[at + 8] = 1 - 2 * (x * x + y * y);
  out[at + 9] = pose[p]!;
  out[at + 10] = pose[p + 1]!;
  out[at + 11] = pose[p + 2]!;
}

/** Shapes to draw: those of moving bodies; a body that has none is a ball where springs hold it (a
 * point mass), nothing without mass (a link), else a box. Boxes differ, so that bodies in one place
 * can be told apart. */
function movingShapes(header: Header, size: number, radius: number): Shape[] {
  const shapes = header.shapes.filter((shape) => shape.body >= 0);
  const dressed = new Set(shapes.map((shape) => shape.body));
  const pose: Pose = [0, 0, 0, 1, 0, 0, 0];
  const sides = [size, 0.6 * size, 0.36 * size];
  const sprung = new Set((header.springs ?? []).flatMap((spring) => [spring.a, spring.b]));
  header.bodies.forEach((body, i) => {
    if (dressed.has(i) || body.mass === 0) return;
    if (sprung.has(i)) {
      shapes.push({ name: body.name, body: i, type: "sphere", pose, radius });
      return;
    }
    const half_size: [number, number, number] = [sides[i % 3]!, sides[(i + 1) % 3]!, sides[(i + 2) % 3]!];
    shapes.push({ name: body.name, body: i, type: "box", pose, half_size });
  });
  return shapes;
}

export class Bodies {
  readonly object = new THREE.Group();
  private readonly groups: Group[] = [];
  private readonly world = new Float64Array(12);

  constructor(header: Header, colour: string, opacity: number, size: number) {
    const kinds = new Map<string, Shape[]>();
    for (const shape of movingShapes(header, 0.06 * size, pointRadius(header, size))) {
      const { type, radius, half_length, half_size, semi_axes, vertices } = shape;
      // Those given by very many numbers are each their own kind.
      const own = shape.heights || shape.mesh ? shape.name : "";
      const key = JSON.stringify([type, radius, half_length, half_size, semi_axes, vertices, own]);
      kinds.set(key, [...(kinds.get(key) ?? []), shape]);
    }
    const detail = detailFor(header.bodies.length);
    for (const shapes of kinds.values()) {
      const geometry = shapeGeometry(shapes[0]!, detail, size);
      if (geometry) this.groups.push(this.group(geometry, shapes, colour, opacity));
    }
  }

  update(pose: Float64Array): void {
    for (const group of this.groups) {
      const out = group.mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < group.bodies.length; ++i) this.place(pose, group, i, out);
      group.mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private place(pose: Float64Array, group: Group, i: number, out: Float32Array): void {
    const a = this.world;
    const b = group.local;
    poseMatrix(pose, group.bodies[i]!, a);
    const at = 16 * i;
    const from = 12 * i;
    for (let row = 0; row < 3; ++row) {
      const a0 = a[3 * row]!;
      const a1 = a[3 * row + 1]!;
      const a2 = a[3 * row + 2]!;
      for (let column = 0; column < 3; ++column)
        out[at + 4 * column + row] =
          a0 * b[from + column]! + a1 * b[from + 3 + column]! + a2 * b[from + 6 + column]!;
      out[at + 12 + row] =
        a0 * b[from + 9]! + a1 * b[from + 10]! + a2 * b[from + 11]! + a[9 + row]!;
    }
    out[at + 15] = 1;
  }

  private group(geometry: THREE.BufferGeometry, shapes: Shape[], colour: string, opacity: number): Group {
    const material = new THREE.MeshLambertMaterial({
      color: colour,
      transparent: opacity < 1,
      opacity,
      depthWrite: opacity === 1,
      vertexColors: geometry.hasAttribute("color"),
      side: shapes[0]!.heights || shapes[0]!.mesh ? THREE.DoubleSide : THREE.FrontSide,
    });
    const mesh = new THREE.InstancedMesh(geometry, material, shapes.length);
    mesh.frustumCulled = false;
    if (["box", "hull"].includes(shapes[0]!.type)) {
      // Stones that lie face on face are told apart by their shade.
      const shade = new THREE.Color();
      shapes.forEach((shape, i) => mesh.setColorAt(i, shade.setScalar(shape.body % 2 ? 0.78 : 1)));
    }
    this.object.add(mesh);
    const local = new Float64Array(12 * shapes.length);
    shapes.forEach((shape, i) => poseMatrix(shape.pose, 0, local, 12 * i));
    return { mesh, bodies: shapes.map((shape) => shape.body), local };
  }
}
