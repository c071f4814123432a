// How large the scene is: bodies at a few frames, and the obstacles that end somewhere.
import * as THREE from "three";
import type { Run } from "../data/run";
import type { Shape } from "../data/types";
import { extent } from "./geometry";

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
    const dressed = new Set<number>();
    const moving: Shape[] = [];
    for (const shape of [...header.shapes, ...(header.visuals ?? [])]) {
      if (shape.body >= 0) {
        moving.push(shape);
        dressed.add(shape.body);
        thickness = Math.max(thickness, shape.radius ?? shape.half_size?.[2] ?? shape.semi_axes?.[2] ?? 0);
      } else grow(box, new THREE.Matrix4(), shape);
    }
    header.bodies.forEach((body, i) => {
      if (!dressed.has(i)) moving.push({ name: body.name, body: i, type: "sphere", pose: [0, 0, 0, 1, 0, 0, 0] });
    });
    const pose = await samplePoses(run);
    const width = 7 * header.bodies.length;
    for (let at = 0; at < pose.length; at += width)
      for (const shape of moving) grow(box, poseOf(pose, at + 7 * shape.body), shape);
  }
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  if (box.getSize(new THREE.Vector3()).length() < 1e-6) box.expandByScalar(0.5); // points in one place
  const size = box.getSize(new THREE.Vector3()).length();
  return { box, centre: box.getCenter(new THREE.Vector3()), size, thickness: thickness || 0.05 * size };
}

function poseOf(pose: ArrayLike<number>, at: number): THREE.Matrix4 {
  const [x, y, z, qw, qx, qy, qz] = Array.from({ length: 7 }, (_, i) => pose[at + i]!);
  return new THREE.Matrix4().compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), new THREE.Vector3(1, 1, 1));
}

/** Takes in the box round a shape, where the shape ends somewhere. */
function grow(box: THREE.Box3, body: THREE.Matrix4, shape: Shape): void {
  const own = extent(shape);
  if (!own) return;
  const placed = own.applyMatrix4(body.multiply(poseOf(shape.pose, 0)));
  if (Number.isFinite(placed.min.lengthSq() + placed.max.lengthSq())) box.union(placed);
}

async function samplePoses(run: Run): Promise<Float64Array> {
  const count = Math.min(SAMPLES, run.rows);
  if (count === 0) return new Float64Array();
  const stride = Math.max(1, Math.floor((run.rows - 1) / Math.max(1, count - 1)));
  const [pose] = await run.source.rows(run.index, "frames", ["pose"], { first: 0, count, stride });
  return pose!;
}
