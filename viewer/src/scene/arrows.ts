// Contact forces as arrows: from the contact point, along the force on the second body of the
// contact (on the moving one when that is the world), coloured by the contact's mode.
import * as THREE from "three";
import type { Frame } from "../data/frames";
import type { Run } from "../data/run";
import { MODE_COLOURS } from "./palette";

const UP = new THREE.Vector3(0, 1, 0);

export interface Force {
  a: number; // shape; -1: a support
  b: number; // shape, or the support's body
  mode: number;
  kind: "contact" | "support" | "fluid"; // of a fluid: b is a body
  point: THREE.Vector3; // [m]
  force: THREE.Vector3; // [N]
}

/** The forces of a frame on the bodies that move. */
export function forcesOf(run: Run, frame: Frame, choice: { contacts: boolean; supports: boolean }): Force[] {
  const { a, b, mode, point, impulse, begin, end } = frame.contacts;
  const forces: Force[] = [];
  for (let row = begin; row < end; ++row) {
    const kind = a[row]! < 0 ? "support" : "contact";
    if (!(kind === "support" ? choice.supports : choice.contacts)) continue;
    const onWorld = kind === "contact" && run.info.header.shapes[b[row]!]?.body === -1;
    const scale = (onWorld ? -1 : 1) / run.info.header.dt;
    forces.push({
      a: a[row]!,
      b: b[row]!,
      mode: mode[row]!,
      kind,
      point: new THREE.Vector3(point[3 * row], point[3 * row + 1], point[3 * row + 2]),
      force: new THREE.Vector3(impulse[3 * row], impulse[3 * row + 1], impulse[3 * row + 2]).multiplyScalar(scale),
    });
  }
  return forces;
}

export class Arrows {
  readonly object = new THREE.Group();
  private shafts!: THREE.InstancedMesh;
  private heads!: THREE.InstancedMesh;
  private capacity = 0;
  private readonly material: THREE.MeshBasicMaterial;
  private readonly colours = MODE_COLOURS.map((c) => new THREE.Color(c));

  constructor(
    private readonly width: number,
    opacity: number,
  ) {
    // Drawn over the bodies: a force on a link starts inside what is drawn of it.
    this.material = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity });
    this.resize(64);
  }

  update(forces: Force[], metresPerNewton: number): void {
    if (forces.length > this.capacity) this.resize(2 * forces.length);
    const turn = new THREE.Quaternion();
    const matrix = new THREE.Matrix4();
    const scale = new THREE.Vector3();
    const along = new THREE.Vector3();
    const place = new THREE.Vector3();
    let n = 0;
    for (const { point, force, mode } of forces) {
      const length = force.length() * metresPerNewton;
      if (!(length > 0.02 * this.width)) continue;
      const head = Math.min(0.6 * length, 3.2 * this.width);
      along.copy(force).normalize();
      turn.setFromUnitVectors(UP, along);
      matrix.compose(point, turn, scale.set(this.width, length - head, this.width));
      this.shafts.setMatrixAt(n, matrix);
      place.copy(point).addScaledVector(along, length - head);
      matrix.compose(place, turn, scale.set((head / 3.2) * 2.6, head, (head / 3.2) * 2.6));
      this.heads.setMatrixAt(n, matrix);
      const colour = this.colours[mode] ?? this.colours[0]!;
      this.shafts.setColorAt(n, colour);
      this.heads.setColorAt(n, colour);
      ++n;
    }
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = n;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  private resize(capacity: number): void {
    this.object.clear();
    this.shafts?.dispose();
    this.heads?.dispose();
    this.capacity = capacity;
    const make = (geometry: THREE.BufferGeometry): THREE.InstancedMesh => {
      const mesh = new THREE.InstancedMesh(geometry, this.material, capacity);
      mesh.frustumCulled = false;
      mesh.renderOrder = 10;
      mesh.count = 0;
      this.object.add(mesh);
      return mesh;
    };
    // Unit height from the origin along y, unit width.
    this.shafts = make(new THREE.CylinderGeometry(0.5, 0.5, 1, 6, 1, true).translate(0, 0.5, 0));
    this.heads = make(new THREE.ConeGeometry(0.5, 1, 8).translate(0, 0.5, 0));
  }
}
