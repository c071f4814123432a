// Height fields, friction maps and meshes: surfaces that are given by many points.
import * as THREE from "three";
import type { FrictionMap, Shape } from "../data/types";

/** The factor of a friction map at a place of the shape's frame; beyond the grid the nearest. */
export function factorAt(map: FrictionMap, x: number, y: number): number {
  const [nx, ny] = map.points;
  const u = (x - map.origin[0]) / map.spacing[0];
  const w = (y - map.origin[1]) / map.spacing[1];
  const clamp = (v: number, most: number): number => Math.min(Math.max(v, 0), most);
  const value = (i: number, j: number): number => map.factors[j * nx + i] ?? 1;
  if (!map.bilinear) return value(clamp(Math.floor(u), nx - 1), clamp(Math.floor(w), ny - 1));
  const cu = clamp(u, nx - 1);
  const cw = clamp(w, ny - 1);
  const i = Math.min(Math.floor(cu), Math.max(nx - 2, 0));
  const j = Math.min(Math.floor(cw), Math.max(ny - 2, 0));
  const i1 = Math.min(i + 1, nx - 1);
  const j1 = Math.min(j + 1, ny - 1);
  const [s, t] = [cu - i, cw - j];
  return (1 - t) * ((1 - s) * value(i, j) + s * value(i1, j)) + t * ((1 - s) * value(i, j1) + s * value(i1, j1));
}

/** Slippery is blue, rough is brown, as given is white; the least and most of the map are full. */
export function tintOf(map: FrictionMap): (factor: number) => [number, number, number] {
  const least = map.factors.reduce((a, b) => Math.min(a, b), Infinity);
  const most = map.factors.reduce((a, b) => Math.max(a, b), -Infinity);
  return (factor) => {
    const share = most > least ? (factor - least) / (most - least) : 0.5;
    return [0.55 + 0.45 * share, 0.75 + 0.05 * share, 1 - 0.5 * share];
  };
}

/** Smooth normals, and every triangle in one colour: the map's at its middle. */
export function heightFieldGeometry(shape: Shape): THREE.BufferGeometry {
  const [nx, ny] = shape.points ?? [0, 0];
  const [dx, dy] = shape.spacing ?? [1, 1];
  const [x0, y0] = shape.origin ?? [0, 0];
  const heights = shape.heights ?? [];
  const position = new Float32Array(3 * nx * ny);
  for (let k = 0; k < nx * ny; ++k)
    position.set([x0 + (k % nx) * dx, y0 + Math.floor(k / nx) * dy, heights[k] ?? 0], 3 * k);
  const index: number[] = [];
  for (let j = 0; j + 1 < ny; ++j)
    for (let i = 0; i + 1 < nx; ++i) {
      const a = j * nx + i; // cut along the diagonal (i, j) to (i + 1, j + 1), as the engine does
      index.push(a, a + 1, a + nx + 1, a, a + nx + 1, a + nx);
    }
  const smooth = new THREE.BufferGeometry();
  smooth.setAttribute("position", new THREE.BufferAttribute(position, 3));
  smooth.setIndex(index);
  smooth.computeVertexNormals();
  const geometry = smooth.toNonIndexed();
  const map = shape.friction_map;
  const tint = map && tintOf(map);
  const at = geometry.getAttribute("position");
  const colours = new Float32Array(3 * at.count).fill(1);
  if (map && tint)
    for (let k = 0; k < at.count; k += 3) {
      const x = (at.getX(k) + at.getX(k + 1) + at.getX(k + 2)) / 3;
      const y = (at.getY(k) + at.getY(k + 1) + at.getY(k + 2)) / 3;
      const colour = tint(factorAt(map, x, y));
      for (let c = 0; c < 3; ++c) colours.set(colour, 3 * (k + c));
    }
  geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  return geometry;
}

const MOST_LINES = 60; // across a height field

/** Lines along x and y over a height field, which show its relief; `up`: how far above it [m]. */
export function reliefGeometry(shape: Shape, up: number): THREE.BufferGeometry {
  const [nx, ny] = shape.points ?? [0, 0];
  const [dx, dy] = shape.spacing ?? [1, 1];
  const [x0, y0] = shape.origin ?? [0, 0];
  const every = Math.max(1, Math.ceil(Math.max(nx, ny) / MOST_LINES));
  const points: number[] = [];
  const node = (i: number, j: number): void => {
    points.push(x0 + i * dx, y0 + j * dy, (shape.heights?.[j * nx + i] ?? 0) + up);
  };
  for (let j = 0; j < ny; j += every) for (let i = 0; i + 1 < nx; ++i) (node(i, j), node(i + 1, j));
  for (let i = 0; i < nx; i += every) for (let j = 0; j + 1 < ny; ++j) (node(i, j), node(i, j + 1));
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return geometry;
}

/** A friction map as a sheet in the x-y plane, out to `half` round (x, y); its outer cells go on. */
export function mapGeometry(map: FrictionMap, x: number, y: number, half: number): THREE.BufferGeometry {
  const tint = tintOf(map);
  const cuts = (k: 0 | 1, centre: number): number[] => {
    const inner: number[] = [];
    for (let i = map.bilinear ? 0 : 1; i < map.points[k]; ++i) inner.push(map.origin[k] + i * map.spacing[k]);
    return [centre - half, ...inner.filter((v) => Math.abs(v - centre) < half), centre + half];
  };
  const [xs, ys] = [cuts(0, x), cuts(1, y)];
  const position: number[] = [];
  const colour: number[] = [];
  for (let j = 0; j + 1 < ys.length; ++j)
    for (let i = 0; i + 1 < xs.length; ++i) {
      const [a, b, c, d] = [xs[i]!, xs[i + 1]!, ys[j]!, ys[j + 1]!];
      position.push(a, c, 0, b, c, 0, b, d, 0, a, c, 0, b, d, 0, a, d, 0);
      const shade = tint(factorAt(map, (a + b) / 2, (c + d) / 2));
      for (let k = 0; k < 6; ++k) colour.push(...shade);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colour, 3));
  geometry.computeVertexNormals();
  return geometry;
}
