// What does not move: pegs, walls, the ground and its grid.
import * as THREE from "three";
import type { Header, Shape } from "../data/types";
import type { Bounds } from "./bounds";
import { shapeGeometry } from "./geometry";
import { mapGeometry, reliefGeometry } from "./ground";
import type { Palette } from "./palette";
import { colourOf } from "./pieces";

function place(object: THREE.Object3D, shape: Shape): void {
  const [x, y, z, qw, qx, qy, qz] = shape.pose;
  object.position.set(x, y, z);
  object.quaternion.set(qx, qy, qz, qw);
}

/** A round step of the grid for a scene of this size [m]. */
function gridStep(size: number): number {
  const raw = size / 12;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * (raw / power > 5 ? 10 : raw / power > 2 ? 5 : raw / power > 1 ? 2 : 1);
}

export class Surroundings {
  readonly object = new THREE.Group();
  readonly step: number; // of the grid [m]
  private readonly obstacle = new THREE.MeshLambertMaterial();
  private readonly field = new THREE.MeshLambertMaterial({ vertexColors: true, side: THREE.DoubleSide });
  private readonly ground = new THREE.MeshBasicMaterial();
  private readonly grid = new THREE.LineBasicMaterial();
  private readonly relief = new THREE.LineBasicMaterial({ color: "black", transparent: true, opacity: 0.16 });

  constructor(
    header: Header,
    bounds: Bounds,
    private readonly filled: boolean, // the ground is a surface, not only a grid
  ) {
    this.step = gridStep(bounds.size);
    const floor = header.planar ? -bounds.thickness : undefined;
    const pegHeight = header.planar ? 2 * bounds.thickness : bounds.size;
    if (floor !== undefined) this.addGround(bounds, floor);
    for (const shape of [...header.shapes, ...(header.visuals ?? [])].filter((s) => s.body < 0)) {
      if (shape.type === "half-space") this.addHalfSpace(shape, header, bounds);
      else this.addSolid(shape, pegHeight, bounds.size);
    }
  }

  paint(colours: Palette): void {
    this.obstacle.color.set(colours.obstacle);
    this.field.color.set(colours.obstacle);
    this.ground.color.set(colours.ground);
    this.grid.color.set(colours.grid);
  }

  private addSolid(shape: Shape, pegHeight: number, size: number): void {
    const geometry = shapeGeometry(shape, { around: 32, along: 10 }, pegHeight);
    if (!geometry) return;
    const mesh = new THREE.Mesh(geometry, this.painted(shape, shape.heights ? this.field : this.obstacle));
    place(mesh, shape);
    this.object.add(mesh);
    if (!shape.heights) return;
    const lines = new THREE.LineSegments(reliefGeometry(shape, 0.001 * size), this.relief);
    place(lines, shape);
    this.object.add(lines);
  }

  private addMap(shape: Shape, bounds: Bounds): void {
    if (!shape.friction_map) return;
    const frame = new THREE.Object3D();
    place(frame, shape);
    frame.updateMatrix();
    const middle = bounds.centre.clone().applyMatrix4(frame.matrix.clone().invert());
    const geometry = mapGeometry(shape.friction_map, middle.x, middle.y, 2 * bounds.size);
    const mesh = new THREE.Mesh(geometry, this.field);
    place(mesh, shape);
    mesh.translateZ(-0.001 * bounds.size);
    this.object.add(mesh);
  }

  private addHalfSpace(shape: Shape, header: Header, bounds: Bounds): void {
    this.addMap(shape, bounds);
    const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(
      new THREE.Quaternion(shape.pose[4], shape.pose[5], shape.pose[6], shape.pose[3]),
    );
    if (normal.z > 0.99) {
      this.addGround(bounds, shape.pose[2], this.painted(shape, this.ground));
      return;
    }
    // A slab on the solid side; in a planar model no higher than the creature.
    const long = 3 * bounds.size;
    const thick = 0.03 * bounds.size;
    const flat = header.planar ? 2 * bounds.thickness : long;
    const mesh = new THREE.Mesh(new THREE.BoxGeometry(long, flat, thick), this.painted(shape, this.obstacle));
    const across = new THREE.Vector3(0, 0, 1); // the slab's y is as near to z as it can be
    const x = new THREE.Vector3().crossVectors(across, normal).normalize();
    const y = new THREE.Vector3().crossVectors(normal, x);
    const centre = bounds.centre.clone();
    const origin = new THREE.Vector3(shape.pose[0], shape.pose[1], shape.pose[2]);
    centre.addScaledVector(normal, origin.sub(centre).dot(normal) - 0.5 * thick);
    mesh.matrixAutoUpdate = false;
    mesh.matrix.makeBasis(x, y, normal).setPosition(centre);
    this.object.add(mesh);
  }

  /** The material in the shape's own colour, where it has one. */
  private painted<T extends THREE.MeshLambertMaterial | THREE.MeshBasicMaterial>(shape: Shape, material: T): T {
    if (!shape.colour) return material;
    const own = material.clone() as T;
    own.color.copy(colourOf(shape, own.color));
    own.opacity = shape.colour[3];
    own.transparent = own.opacity < 1;
    return own;
  }

  private addGround(bounds: Bounds, z: number, material: THREE.Material = this.ground): void {
    const half = this.step * Math.ceil((2 * bounds.size) / this.step);
    const snap = (v: number): number => this.step * Math.round(v / this.step);
    const x = snap(bounds.centre.x);
    const y = snap(bounds.centre.y);
    const plane = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), material);
    plane.position.set(x, y, z - 0.002 * bounds.size);
    const points: number[] = [];
    // In pieces: software renderers lose lines that end far behind the camera.
    const piece = half / 8;
    for (let d = -half; d <= half + 1e-9; d += this.step)
      for (let e = -half; e < half - 1e-9; e += piece)
        points.push(x + d, y + e, z, x + d, y + e + piece, z, x + e, y + d, z, x + e + piece, y + d, z);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
    if (this.filled) this.object.add(plane);
    this.object.add(new THREE.LineSegments(geometry, this.grid));
  }
}
