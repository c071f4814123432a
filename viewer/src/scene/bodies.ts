// The moving bodies of a run: one instanced mesh per kind of shape, so that a thousand links are a
// few draw calls.
import * as THREE from "three";
import type { Header } from "../data/types";
import { detailFor, pointRadius, shapeGeometry } from "./geometry";
import { movingPieces, type Piece } from "./pieces";

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

export class Bodies {
  readonly object = new THREE.Group();
  readonly contacts = new THREE.Group(); // contact shapes of bodies that have visuals
  private readonly groups: Group[] = [];
  private readonly world = new Float64Array(12);

  constructor(header: Header, colour: string, opacity: number, size: number) {
    const kinds = new Map<string, Piece[]>();
    movingPieces(header, colour, opacity, 0.06 * size, pointRadius(header, size)).forEach((piece, i) => {
      const { type, radius, half_length, half_size, semi_axes, vertices, heights, mesh } = piece.shape;
      // Those given by very many numbers are each their own kind.
      const own = heights || mesh ? i : [radius, half_length, half_size, semi_axes, vertices];
      const key = JSON.stringify([type, own, piece.opacity, piece.marked, piece.extra, piece.back]);
      kinds.set(key, [...(kinds.get(key) ?? []), piece]);
    });
    const detail = detailFor(header.bodies.length);
    for (const pieces of kinds.values()) {
      const { shape, marked } = pieces[0]!;
      const geometry = shapeGeometry(shape, detail, size, marked);
      if (geometry) this.groups.push(this.group(geometry, pieces));
    }
    this.object.add(this.contacts);
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

  private group(geometry: THREE.BufferGeometry, pieces: Piece[]): Group {
    const { shape, opacity, extra, back } = pieces[0]!;
    const material = new THREE.MeshLambertMaterial({
      transparent: opacity < 1,
      opacity,
      depthWrite: opacity > 0.6, // what is nearly solid hides what is behind it
      vertexColors: geometry.hasAttribute("color"),
      side: shape.heights || shape.mesh ? THREE.DoubleSide : THREE.FrontSide,
      polygonOffset: back !== 0, // a contact shape often is its visual
      polygonOffsetFactor: back,
      polygonOffsetUnits: back,
    });
    const mesh = new THREE.InstancedMesh(geometry, material, pieces.length);
    mesh.frustumCulled = false;
    pieces.forEach(({ colour }, i) => mesh.setColorAt(i, colour));
    (extra ? this.contacts : this.object).add(mesh);
    const local = new Float64Array(12 * pieces.length);
    pieces.forEach((piece, i) => poseMatrix(piece.shape.pose, 0, local, 12 * i));
    return { mesh, bodies: pieces.map((piece) => piece.shape.body), local };
  }
}
