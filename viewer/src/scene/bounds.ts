// How large the scene is: bodies at a few frames, and the obstacles that end somewhere.
import * as THREE from "three";
import type { Run } from "../data/run";
import { reach } from "./geometry";

const SAMPLES = 9;

export interface Bounds {
  box: THREE.Box3;
  centre: THREE.Vector3;
  size: number; // diagonal [m]
  thickness: number; // of a planar creature: its largest radius [m]
}

export async function findBounds(runs: Run[]): Promise<Bounds> {
  const box = new THREE.Box3();
  let thickness = 0;
  for (const run of runs) {
    const { header } = run.info;
    const around = header.bodies.map(() => 0);
    for (const shape of header.shapes) {
      const r = reach(shape);
      const offset = Math.hypot(shape.pose[0], shape.pose[1], shape.pose[2]);
      if (shape.body >= 0) {
        around[shape.body] = Math.max(around[shape.body]!, offset + r);
        thickness = Math.max(thickness, shape.radius ?? shape.half_size?.[2] ?? shape.semi_axes?.[2] ?? 0);
      } else if (r > 0) grow(box, shape.pose, 0, r);
    }
    const pose = await samplePoses(run);
    const width = 7 * header.bodies.length;
    for (let at = 0; at < pose.length; at += width)
      for (let i = 0; i < around.length; ++i) grow(box, pose, at + 7 * i, around[i]!);
  }
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  if (box.getSize(new THREE.Vector3()).length() < 1e-6) box.expandByScalar(0.5); // points in one place
  const size = box.getSize(new THREE.Vector3()).length();
  return { box, centre: box.getCenter(new THREE.Vector3()), size, thickness: thickness || 0.05 * size };
}

function grow(box: THREE.Box3, at: ArrayLike<number>, i: number, radius: number): void {
  const point = new THREE.Vector3(at[i], at[i + 1], at[i + 2]);
  if (!Number.isFinite(point.lengthSq())) return;
  box.expandByPoint(point.clone().addScalar(radius)).expandByPoint(point.subScalar(radius));
}

async function samplePoses(run: Run): Promise<Float64Array> {
  const count = Math.min(SAMPLES, run.rows);
  if (count === 0) return new Float64Array();
  const stride = Math.max(1, Math.floor((run.rows - 1) / Math.max(1, count - 1)));
  const [pose] = await run.source.rows(run.index, "frames", ["pose"], { first: 0, count, stride });
  return pose!;
}
