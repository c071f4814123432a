// The path of the centre of mass or of a body, up to the present time. Long runs are sampled.
import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { lastNotAfter, type Run } from "../data/run";

const POINTS = 2000;

interface Trail {
  line: Line2;
  stride: number;
  points: number;
  rows: number; // of the run when it was read
}

export class Trails {
  readonly object = new THREE.Group();
  private readonly trails = new Map<string, Trail>();
  private readonly materials: LineMaterial[] = [];
  private wanted: string[] = [];

  constructor(
    private readonly run: Run,
    private readonly colour: string,
    private readonly opacity: number,
    private readonly changed: () => void,
  ) {}

  resize(width: number, height: number): void {
    for (const material of this.materials) material.resolution.set(width, height);
  }

  async show(names: string[]): Promise<void> {
    this.wanted = names;
    for (const [name, trail] of this.trails) {
      const stale = trail.rows < this.run.rows;
      if (names.includes(name) && !stale) continue;
      if (names.includes(name) && trail.rows > 0.98 * this.run.rows && !this.run.ended) continue;
      this.object.remove(trail.line);
      trail.line.geometry.dispose();
      this.trails.delete(name);
    }
    for (const name of names) if (!this.trails.has(name)) await this.add(name);
    this.changed();
  }

  update(time: number): void {
    const frame = lastNotAfter(this.run.times, time);
    for (const { line, stride, points } of this.trails.values()) {
      const segments = Math.min(points - 1, Math.floor(frame / stride));
      line.visible = segments > 0;
      line.geometry.instanceCount = Math.max(1, segments);
    }
  }

  private async add(name: string): Promise<void> {
    const { run } = this;
    const rows = run.rows;
    if (rows < 2) return;
    const stride = Math.ceil(rows / POINTS);
    const range = { first: 0, count: Math.floor((rows - 1) / stride) + 1, stride };
    const body = run.info.header.bodies.findIndex((b) => b.name === name);
    if (name !== "com" && body < 0) return;
    const part = name === "com" ? { offset: 0, width: 3 } : { offset: 7 * body, width: 3 };
    const points = await run.source.part(run.index, "frames", name === "com" ? "com" : "pose", range, part);
    if (!this.wanted.includes(name) || this.trails.has(name)) return;
    const material = new LineMaterial({
      color: this.colour,
      linewidth: name === "com" ? 2.5 : 1.5,
      transparent: true,
      opacity: this.opacity,
      depthTest: false,
    });
    material.resolution.set(1280, 720);
    this.materials.push(material);
    const geometry = new LineGeometry();
    geometry.setPositions(Float32Array.from(points));
    const line = new Line2(geometry, material);
    line.frustumCulled = false;
    line.renderOrder = 5;
    this.object.add(line);
    this.trails.set(name, { line, stride, points: range.count, rows });
  }
}
