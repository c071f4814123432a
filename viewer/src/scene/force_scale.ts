// The length of force arrows: so that a large force of the run is a visible part of the scene.
import type { Run } from "../data/run";
import { findColumn } from "../data/types";

const SAMPLES = 1000;

/** A round number of newtons for an arrow of 10 cm, before the user's factor. */
export async function newtonsPerDecimetre(run: Run, sceneSize: number): Promise<number> {
  const rows = run.info.tables.find((t) => t.name === "contacts")?.rows ?? 0;
  const usual = 10;
  if (rows === 0) return (await ofFluids(run, sceneSize)) ?? usual;
  const count = Math.min(SAMPLES, rows);
  const range = { first: 0, count, stride: Math.max(1, Math.floor(rows / count)) };
  const [a, impulse] = await run.source.rows(run.index, "contacts", ["a", "impulse"], range);
  const of = (support: boolean): number[] => {
    const list: number[] = [];
    for (let i = 0; i < count; ++i)
      if (a![i]! < 0 === support)
        list.push(Math.hypot(impulse![3 * i]!, impulse![3 * i + 1]!, impulse![3 * i + 2]!) / run.info.header.dt);
    return list.sort((a, b) => a - b);
  };
  const contacts = of(false);
  const forces = contacts.length > 0 ? contacts : of(true);
  const large = forces[Math.floor(0.9 * forces.length)] ?? 0;
  if (!(large > 0)) return usual;
  return round((0.1 * large) / (0.1 * sceneSize));
}

/** Of the forces of fluids, where nothing touches. */
async function ofFluids(run: Run, sceneSize: number): Promise<number | undefined> {
  if (!findColumn(run.info, "frames", "fluid_force") || run.rows === 0) return undefined;
  const count = Math.min(100, run.rows);
  const range = { first: 0, count, stride: Math.max(1, Math.floor(run.rows / count)) };
  const [f] = await run.source.rows(run.index, "frames", ["fluid_force"], range);
  const list: number[] = [];
  for (let i = 0; i + 2 < f!.length; i += 3) list.push(Math.hypot(f![i]!, f![i + 1]!, f![i + 2]!));
  const large = list.sort((a, b) => a - b)[Math.floor(0.95 * list.length)] ?? 0;
  return large > 0 ? round(large / sceneSize) : undefined;
}

function round(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const lead = x / power;
  return power * (lead < 1.41 ? 1 : lead < 2.45 ? 2 : lead < 3.87 ? 3 : lead < 7.07 ? 5 : 10);
}
