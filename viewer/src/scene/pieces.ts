// What is drawn of the moving bodies, and in which colour. A body that has visuals is drawn by
// these and its contact shapes are extra; else by its contact shapes. Both are drawn where bodies
// that are fixed to each other have visuals only in part: then meshes are absent.
import * as THREE from "three";
import type { Header, Pose, Shape } from "../data/types";
import { moves, tints } from "./tints";

export interface Piece {
  shape: Shape;
  colour: THREE.Color;
  opacity: number;
  marked: boolean; // shows how it is turned
  extra: boolean; // drawn only on demand
  back: -1 | 0 | 1; // of surfaces in one place: drawn before the others, behind them
}

/** Contact shapes of moving bodies that are drawn by their visuals. */
export function hiddenShapes(header: Header): Shape[] {
  const seen = new Set((header.visuals ?? []).map((visual) => visual.body));
  const touching = header.shapes.filter((shape) => shape.body >= 0);
  const carrier: number[] = []; // the body that each is fixed to
  header.bodies.forEach(({ parent = -1 }, i) => carrier.push(parent >= 0 && !moves(header, i) ? carrier[parent]! : i));
  const partly = new Set(touching.filter((shape) => !seen.has(shape.body)).map((shape) => carrier[shape.body]));
  return touching.filter((shape) => seen.has(shape.body) && !partly.has(carrier[shape.body]));
}

/** What stands for bodies that have no shape at all: a ball where springs hold it (a point mass),
 * nothing without mass (a link), else a box. Boxes differ, so that bodies in one place can be told
 * apart. */
function standIns(header: Header, dressed: Set<number>, size: number, radius: number): Shape[] {
  const pose: Pose = [0, 0, 0, 1, 0, 0, 0];
  const sides = [size, 0.6 * size, 0.36 * size];
  const rods = new Set((header.rods ?? []).flatMap((rod) => rod.bodies)); // drawn as tubes
  const sprung = new Set((header.springs ?? []).flatMap((spring) => [spring.a, spring.b]));
  return header.bodies.flatMap((body, i): Shape[] => {
    if (dressed.has(i) || rods.has(i) || body.mass === 0) return [];
    if (sprung.has(i)) return [{ name: body.name, body: i, type: "sphere", pose, radius }];
    const half_size: [number, number, number] = [sides[i % 3]!, sides[(i + 1) % 3]!, sides[(i + 2) % 3]!];
    return [{ name: body.name, body: i, type: "box", pose, half_size }];
  });
}

export function colourOf(shape: Shape, otherwise: THREE.Color): THREE.Color {
  if (!shape.colour) return otherwise;
  const [r, g, b] = shape.colour;
  return new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
}

/** `size` and `radius`: of the boxes and balls of bodies that have no shapes [m]. */
export function movingPieces(header: Header, runColour: string, opacity: number, size: number, radius: number): Piece[] {
  const moving = (shape: Shape): boolean => shape.body >= 0;
  const visuals = (header.visuals ?? []).filter(moving);
  const hidden = new Set(hiddenShapes(header));
  const shapes = header.shapes.filter((shape) => moving(shape) && !hidden.has(shape));
  const dressed = new Set([...visuals, ...shapes].map((shape) => shape.body));
  const own = tints(header, runColour);
  const seen = new Set(visuals.map((visual) => visual.body));
  const plain = (shape: Shape): Piece => {
    // Stones that lie face on face are told apart by their shade.
    const shade = !own.told && ["box", "hull"].includes(shape.type) && shape.body % 2 ? 0.78 : 1;
    const colour = own.colours[shape.body]!.clone().multiplyScalar(shade);
    return { shape, colour, opacity, marked: !own.told, extra: false, back: seen.has(shape.body) ? 1 : 0 };
  };
  return [
    ...[...shapes, ...standIns(header, dressed, size, radius)].map(plain),
    ...visuals.map((shape): Piece => ({
      shape,
      colour: colourOf(shape, own.colours[shape.body]!),
      opacity: opacity * (shape.colour?.[3] ?? 1),
      marked: false,
      extra: false,
      back: 0,
    })),
    ...[...hidden].map((shape): Piece => ({
      shape,
      colour: new THREE.Color(runColour),
      opacity: 0.45 * opacity,
      marked: false,
      extra: true,
      back: -1,
    })),
  ].filter((piece) => piece.opacity > 0);
}
