// Arrows of fluids at their places, and the vortices of a street.
import assert from "node:assert";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const outfile = join(mkdtempSync(join(tmpdir(), "water-")), "water.mjs");
const source = fileURLToPath(new URL("../src/scene/water.ts", import.meta.url));
await build({ entryPoints: [source], bundle: true, format: "esm", outfile, logLevel: "error" });
const { flowArrows, fluidForces, vorticesAt } = await import(outfile);

const near = (values, expected) => values.forEach((x, k) => assert(Math.abs(x - expected[k]) < 1e-12, `${values}`));
const half = Math.SQRT1_2; // a quarter turn about z
const pose = Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 2, 3, half, 0, 0, half);
const header = { fluids: [{ body: 1, point: [0.5, 0, 0], wake: false }, { body: 0, point: [0, 0, 0], wake: true }] };

test("forces and velocities stand where the fluid acts", () => {
  const frame = { pose, fluid: Float64Array.of(1, 2, 3, 4, 5, 6), flow: Float64Array.of(0, 1, 0, 0, 0, 0) };
  const [section, wake] = fluidForces(header, frame);
  near(section.point.toArray(), [1, 2.5, 3]);
  near(section.force.toArray(), [1, 2, 3]);
  assert.equal(section.b, 1);
  near(wake.force.toArray(), [4, 5, 6]);
  near(flowArrows(header, frame)[0].force.toArray(), [0, 1, 0]);
  assert.deepEqual(fluidForces({}, frame), []);
});

test("vortices are carried along", () => {
  const street = { period: 1, carried: 0.8, rows: [{ x: 0, y: 0.1, circulation: -2 }, { x: 0.5, y: -0.1, circulation: 2 }] };
  const found = vorticesAt({ streets: [street] }, 0.5, -1, 1);
  near(found.map(([x]) => x), [-0.6, 0.4, -0.1, 0.9]);
  near(found.map(([, , c]) => c), [-2, -2, 2, 2]);
  assert.deepEqual(vorticesAt({}, 0.5, -1, 1), []);
});
