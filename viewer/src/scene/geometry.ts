// The solid of a shape, in the shape's own frame.
import * as THREE from "three";
import type { Header, Shape } from "../data/types";
import { heightFieldGeometry } from "./ground";

/** Fewer facets when there are many bodies. */
export interface Detail {
  around: number;
  along: number;
}
export const detailFor = (bodies: number): Detail =>
  bodies > 500 ? { around: 6, along: 2 } : bodies > 100 ? { around: 10, along: 3 } : { around: 32, along: 10 };

/** Shades the octants of a ball or a cylinder in turn, so that its rotation can be seen. */
function chequer(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  const flat = geometry.toNonIndexed();
  const position = flat.getAttribute("position");
  const colours = new Float32Array(position.count * 3);
  for (let i = 0; i < position.count; i += 3) {
    let x = 0;
    let y = 0;
    let z = 0;
    for (let k = i; k < i + 3; ++k) {
      x += position.getX(k);
      y += position.getY(k);
      z += position.getZ(k);
    }
    colours.fill((x > 0) === (y > 0) === (z > 0) ? 1 : 0.72, 3 * i, 3 * i + 9);
  }
  flat.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  return flat;
}

/** Flat faces: every triangle has its own corners. */
function hullGeometry(shape: Shape): THREE.BufferGeometry {
  const { vertices = [], triangles = [] } = shape.mesh ?? shape;
  const corners = triangles.flatMap((i) => vertices[i] ?? [0, 0, 0]);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
  geometry.computeVertexNormals();
  return geometry;
}

/** `marked`: balls and cylinders show how they are turned. */
export function shapeGeometry(shape: Shape, detail: Detail, sceneSize: number, marked = true): THREE.BufferGeometry | null {
  const radius = shape.radius ?? 0;
  const mark = marked ? chequer : (geometry: THREE.BufferGeometry) => geometry;
  const ball = (r: number) => mark(new THREE.SphereGeometry(r, detail.around, Math.max(8, detail.along * 2)));
  switch (shape.type) {
    case "sphere": // of radius 0 a point: small against the scene
      return ball(radius || 0.008 * sceneSize);
    case "ellipsoid": {
      const [x, y, z] = shape.semi_axes ?? [0.1, 0.1, 0.1];
      return ball(1).scale(x, y, z);
    }
    case "capsule": // three's axis is y, ours x
      return new THREE.CapsuleGeometry(radius, 2 * (shape.half_length ?? 0), detail.along, detail.around).rotateZ(
        -Math.PI / 2,
      );
    case "box": {
      const [x, y, z] = shape.half_size ?? [0.1, 0.1, 0.1];
      return new THREE.BoxGeometry(2 * x, 2 * y, 2 * z);
    }
    case "cylinder": // three's axis is y, ours x; two halves along it, so that no facet is in two octants
      return mark(
        new THREE.CylinderGeometry(radius, radius, 2 * (shape.half_length ?? 0), detail.around, 2).rotateZ(-Math.PI / 2),
      );
    case "hull":
      return hullGeometry(shape);
    case "height-field":
      return heightFieldGeometry(shape);
    case "peg": // unbounded along z
      return new THREE.CylinderGeometry(radius, radius, sceneSize, 48).rotateX(Math.PI / 2);
    default:
      return null;
  }
}

/** Radius of a point mass: small against the scene and against its springs [m]. */
export function pointRadius(header: Header, size: number): number {
  const lengths = (header.springs ?? []).map((s) => s.length).filter((l) => l > 0);
  return Math.min(0.03 * size, 0.14 * Math.min(...lengths, Infinity));
}

/** The box round a shape in its own frame; null when it has no end. */
export function extent(shape: Shape): THREE.Box3 | null {
  // A height field is ground like a half-space: what moves on it is looked at.
  if (shape.type === "half-space" || shape.type === "height-field") return null;
  const radius = shape.radius ?? 0;
  const half = shape.half_size ?? shape.semi_axes ?? [radius + (shape.half_length ?? 0), radius, radius];
  if (!shape.vertices) return new THREE.Box3(new THREE.Vector3(...half).negate(), new THREE.Vector3(...half));
  return new THREE.Box3().setFromPoints(shape.vertices.map((v) => new THREE.Vector3(...v)));
}
