// Rods as smooth tubes: between two stations a cubic curve that leaves each along its x-axis, rings
// across it with the sections' own axes.
import * as THREE from "three";
import type { Frame } from "../data/frames";
import type { Header, Rod } from "../data/types";
import { poseMatrix } from "./bodies";
import { rodValues, type RodColour } from "./rod_values";

const SIDES = 12;
const PIECES = 3; // between neighbouring stations

class Tube {
  readonly mesh: THREE.Mesh;
  private readonly place: Float32Array;
  private readonly normal: Float32Array;
  private readonly colour: Float32Array;
  private readonly a = new Float64Array(12);
  private readonly b = new Float64Array(12);

  constructor(
    readonly rod: Rod,
    material: THREE.Material,
    private readonly least: number,
  ) {
    const rings = PIECES * (rod.bodies.length - 1) + 1;
    this.place = new Float32Array(3 * SIDES * (rings + 2));
    this.normal = new Float32Array(this.place.length);
    this.colour = new Float32Array(this.place.length).fill(1);
    const index: number[] = [];
    for (let k = 0; k + 1 < rings; ++k)
      for (let i = 0; i < SIDES; ++i) {
        const p = SIDES * k + i;
        const q = SIDES * k + ((i + 1) % SIDES);
        index.push(p, q, p + SIDES, q, q + SIDES, p + SIDES);
      }
    // Flat ends, with normals of their own.
    for (let i = 1; i + 1 < SIDES; ++i) {
      const first = SIDES * rings;
      const last = first + SIDES;
      index.push(first, first + i + 1, first + i, last, last + i, last + i + 1);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.place, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(this.normal, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(this.colour, 3));
    geometry.setIndex(index);
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = true;
  }

  update(pose: Float64Array): void {
    const { bodies, at, radii } = this.rod;
    poseMatrix(pose, bodies[0]!, this.a);
    let ring = 0;
    for (let k = 0; k + 1 < bodies.length; ++k) {
      poseMatrix(pose, bodies[k + 1]!, this.b);
      const h = at[k + 1]! - at[k]!;
      for (let i = 0; i < PIECES; ++i) this.ring(ring++, i / PIECES, h, radii[k]!, radii[k + 1]!);
      this.a.set(this.b);
    }
    this.ring(ring, 0, 0, radii.at(-1)!, radii.at(-1)!);
    this.end(ring + 1, 0, -1);
    this.end(ring + 2, ring, 1);
    this.mesh.geometry.getAttribute("position").needsUpdate = true;
    this.mesh.geometry.getAttribute("normal").needsUpdate = true;
  }

  /** Values of the stations, of the largest so far; none: the material's own colour. */
  paint(values: number[] | undefined, most: number): void {
    const rings = PIECES * (this.rod.bodies.length - 1) + 1;
    const one = new THREE.Color("white");
    for (let k = 0; k < rings + 2; ++k) {
      const ring = k < rings ? k : k === rings ? 0 : rings - 1;
      if (values) {
        const i = Math.min(Math.floor(ring / PIECES), values.length - 1);
        const u = ring / PIECES - i;
        const value = (1 - u) * values[i]! + u * (values[i + 1] ?? values[i]!);
        scaleColour(most > 0 ? value / most : 0, one);
      }
      for (let j = 0; j < SIDES; ++j) one.toArray(this.colour, 3 * (SIDES * k + j));
    }
    this.mesh.geometry.getAttribute("color").needsUpdate = true;
  }

  // At the share u between the frames a and b, which are h apart along the rod.
  private ring(k: number, u: number, h: number, from: number, to: number): void {
    const { a, b } = this;
    const radius = Math.max(this.least, from + u * (to - from));
    const f = [2 * u ** 3 - 3 * u ** 2 + 1, h * (u ** 3 - 2 * u ** 2 + u), 3 * u ** 2 - 2 * u ** 3, h * (u ** 3 - u ** 2)];
    for (let i = 0; i < SIDES; ++i) {
      const angle = (2 * Math.PI * i) / SIDES;
      const n = [0, 0, 0];
      for (let c = 0; c < 3; ++c)
        n[c] =
          Math.cos(angle) * ((1 - u) * a[3 * c + 1]! + u * b[3 * c + 1]!) +
          Math.sin(angle) * ((1 - u) * a[3 * c + 2]! + u * b[3 * c + 2]!);
      const size = Math.hypot(n[0]!, n[1]!, n[2]!) || 1;
      for (let c = 0; c < 3; ++c) {
        const p = 3 * (SIDES * k + i) + c;
        this.normal[p] = n[c]! / size;
        this.place[p] =
          f[0]! * a[9 + c]! + f[1]! * a[3 * c]! + f[2]! * b[9 + c]! + f[3]! * b[3 * c]! + radius * this.normal[p];
      }
    }
  }

  // The ring `to` is a copy of `from` that faces along the rod, or against it.
  private end(to: number, from: number, sign: number): void {
    const p = new THREE.Vector3();
    const q = new THREE.Vector3();
    p.fromArray(this.normal, 3 * SIDES * from);
    q.fromArray(this.normal, 3 * (SIDES * from + SIDES / 4));
    const facing = p.cross(q).multiplyScalar(sign);
    for (let i = 0; i < SIDES; ++i) {
      const at = 3 * (SIDES * to + i);
      const of = 3 * (SIDES * from + i);
      for (let c = 0; c < 3; ++c) this.place[at + c] = this.place[of + c]!;
      facing.toArray(this.normal, at);
    }
  }
}

const LOW = new THREE.Color("#2b5fb8");
const MIDDLE = new THREE.Color("#f2e9c9");
const HIGH = new THREE.Color("#c2272d");

/** From blue over white to red. */
function scaleColour(share: number, out: THREE.Color): void {
  const u = Math.min(1, Math.max(0, share));
  if (u < 0.5) out.lerpColors(LOW, MIDDLE, 2 * u);
  else out.lerpColors(MIDDLE, HIGH, 2 * u - 1);
}

export class Rods {
  readonly object = new THREE.Group();
  private readonly tubes: Tube[] = [];
  private readonly material: THREE.MeshLambertMaterial;
  private readonly plain: THREE.Color;
  private shown: RodColour = "";
  private most = 0; // of the values seen so far: the colour's scale

  constructor(
    private readonly header: Header,
    colour: string,
    opacity: number,
    size: number,
  ) {
    this.material = new THREE.MeshLambertMaterial({ color: colour, transparent: opacity < 1, opacity, vertexColors: true });
    this.plain = this.material.color.clone();
    for (const rod of header.rods ?? []) {
      const tube = new Tube(rod, this.material, 0.002 * size);
      this.tubes.push(tube);
      this.object.add(tube.mesh);
    }
  }

  update(frame: Frame, what: RodColour): void {
    for (const tube of this.tubes) tube.update(frame.pose);
    if (what !== this.shown) {
      this.shown = what;
      this.most = 0;
      if (what) this.material.color.set("white");
      else this.material.color.copy(this.plain);
      if (!what) for (const tube of this.tubes) tube.paint(undefined, 0);
    }
    if (!what) return;
    const values = this.tubes.map((tube) => rodValues(what, tube.rod, this.header, frame));
    for (const each of values) this.most = Math.max(this.most, ...each);
    this.tubes.forEach((tube, k) => tube.paint(values[k], this.most));
  }
}
