// Colours of the bodies of a robot whose file gives none: the trunk has the run's colour, and along
// each limb the tints alternate, so that links can be told apart.
import * as THREE from "three";
import type { Header } from "../data/types";

// What a link's colour is mixed with, and how much of it; by the joints between it and the trunk.
const LIMB: [string, number][] = [
  ["#26323e", 0.62],
  ["#e4e9ee", 0.72],
  ["#26323e", 0.4],
];

/** Whether the joint of a body lets it move; bodies have their velocities one after the other. */
export const moves = ({ bodies, nv }: Header, i: number): boolean => (bodies[i + 1]?.v0 ?? nv ?? Infinity) > bodies[i]!.v0;

export interface Tints {
  colours: THREE.Color[]; // of each body
  told: boolean; // links are told apart
}

export function tints(header: Header, runColour: string): Tints {
  const base = new THREE.Color(runColour);
  const { bodies } = header;
  const known = bodies.every((body) => body.parent !== undefined);
  if (header.complete_scene === undefined || !known) return { colours: bodies.map(() => base), told: false };

  const root: number[] = []; // of each body's tree
  const depth: number[] = []; // joints that move, from the trunk on
  const branches = new Set<number>(); // roots of trees that branch
  const limbs = bodies.map(() => 0); // that hang on a body
  bodies.forEach((body, i) => {
    const parent = body.parent!;
    root.push(parent < 0 ? i : root[parent]!);
    // A joint of several degrees of freedom is a chain of bodies without mass: one step.
    const step = parent >= 0 && moves(header, i) && bodies[parent]!.mass > 0;
    depth.push(parent < 0 ? 0 : depth[parent]! + (step ? 1 : 0));
    if (step && ++limbs[parent]! > 1) branches.add(root[i]!);
  });
  const colours = bodies.map((_, i) => {
    const d = depth[i]!;
    if (d === 0) return base;
    if (!branches.has(root[i]!)) return d % 2 ? mixed(base, ...LIMB[2]!) : base;
    return mixed(base, ...LIMB[(d - 1) % LIMB.length]!);
  });
  return { colours, told: true };
}

const mixed = (colour: THREE.Color, other: string, share: number): THREE.Color =>
  colour.clone().lerp(new THREE.Color(other), share);
