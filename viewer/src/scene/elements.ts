// Springs as zigzags and runners as strokes that point forward, so that a worm of point masses can
// be recognised. Runners whose steering varies have none: their angle is not recorded.
import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { Header } from "../data/types";
import { poseMatrix } from "./bodies";
import { pointRadius } from "./geometry";

const TURNS = 6; // half turns of a spring
const MOST = 400; // springs that are drawn with turns

class Lines {
  readonly object: LineSegments2;
  private readonly material: LineMaterial;
  private points: number[] = [];

  constructor(colour: string, width: number, opacity: number) {
    this.material = new LineMaterial({ color: colour, linewidth: width, transparent: opacity < 1, opacity });
    this.material.resolution.set(1280, 720);
    this.object = new LineSegments2(new LineSegmentsGeometry(), this.material);
    this.object.frustumCulled = false;
    this.object.visible = false;
  }

  resize(width: number, height: number): void {
    this.material.resolution.set(width, height);
  }
  add(a: THREE.Vector3, b: THREE.Vector3): void {
    this.points.push(a.x, a.y, a.z, b.x, b.y, b.z);
  }
  show(): void {
    this.object.visible = this.points.length > 0;
    if (this.object.visible) {
      this.object.geometry.dispose();
      this.object.geometry = new LineSegmentsGeometry();
      this.object.geometry.setPositions(this.points);
    }
    this.points = [];
  }
}

export class Elements {
  readonly object = new THREE.Group();
  private readonly springs: Lines;
  private readonly runners: Lines;
  private readonly matrix = new Float64Array(12);
  private readonly radius: number;

  constructor(
    private readonly header: Header,
    colour: string,
    opacity: number,
    size: number,
  ) {
    this.radius = pointRadius(header, size);
    this.springs = new Lines("#7b8794", 2, opacity);
    this.runners = new Lines(new THREE.Color(colour).multiplyScalar(0.45).getStyle(), 2.5, opacity);
    this.object.add(this.springs.object, this.runners.object);
  }

  resize(width: number, height: number): void {
    this.springs.resize(width, height);
    this.runners.resize(width, height);
  }

  update(pose: Float64Array): void {
    this.drawSprings(pose);
    this.drawRunners(pose);
    this.springs.show();
    this.runners.show();
  }

  private drawSprings(pose: Float64Array): void {
    const springs = this.header.springs ?? [];
    const turns = springs.length > MOST ? 0 : TURNS;
    for (const spring of springs) {
      const a = this.place(pose, spring.a, spring.point_a);
      const b = this.place(pose, spring.b, spring.point_b);
      const along = b.clone().sub(a);
      // Across the spring, level where it can be.
      const side = new THREE.Vector3(0, 0, 1).cross(along);
      if (side.lengthSq() < 1e-12 * along.lengthSq()) side.set(1, 0, 0);
      side.normalize().multiplyScalar(0.5 * this.radius);
      let last = a;
      for (let k = 0; k <= turns; ++k) {
        // Straight ends, turns between.
        const next = k === turns ? b : a.clone().addScaledVector(along, 0.25 + (0.5 * (k + 0.5)) / turns).addScaledVector(side, k % 2 ? -1 : 1);
        this.springs.add(last, next);
        last = next;
      }
    }
  }

  private drawRunners(pose: Float64Array): void {
    for (const runner of this.header.runners ?? []) {
      if (runner.steering === null) continue;
      const at = this.place(pose, runner.body, runner.point);
      const normal = this.turn(pose, runner.body, runner.normal);
      const e = this.turn(pose, runner.body, runner.direction).applyAxisAngle(normal, runner.steering);
      const g = normal.cross(e);
      const r = this.radius;
      // Beside the mass, where it is seen from above and from the side.
      for (const s of [-1, 1]) {
        const middle = at.clone().addScaledVector(g, 1.35 * s * r);
        const tip = middle.clone().addScaledVector(e, 1.3 * r);
        this.runners.add(middle.clone().addScaledVector(e, -1.3 * r), tip);
        if (runner.scales) this.runners.add(tip.clone().addScaledVector(e, -0.6 * r).addScaledVector(g, 0.45 * s * r), tip);
      }
    }
  }

  private place(pose: Float64Array, body: number, point: [number, number, number]): THREE.Vector3 {
    if (body < 0) return new THREE.Vector3(...point);
    const p = this.turn(pose, body, point);
    return p.set(p.x + this.matrix[9]!, p.y + this.matrix[10]!, p.z + this.matrix[11]!);
  }

  private turn(pose: Float64Array, body: number, v: [number, number, number]): THREE.Vector3 {
    if (body < 0) return new THREE.Vector3(...v);
    const m = this.matrix;
    poseMatrix(pose, body, m);
    return new THREE.Vector3(
      m[0]! * v[0] + m[1]! * v[1] + m[2]! * v[2],
      m[3]! * v[0] + m[4]! * v[1] + m[5]! * v[2],
      m[6]! * v[0] + m[7]! * v[1] + m[8]! * v[2],
    );
  }
}
