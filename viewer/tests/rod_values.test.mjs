// What colours rods, against an arc of known curvature and two known forces.
import assert from "node:assert";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const outfile = join(mkdtempSync(join(tmpdir(), "rods-")), "rod_values.mjs");
const source = fileURLToPath(new URL("../src/scene/rod_values.ts", import.meta.url));
await build({ entryPoints: [source], bundle: true, format: "esm", outfile, logLevel: "error" });
const { curvature, rodColours, rodValues } = await import(outfile);

// Curvature 2 about y; at rest it would be 0.5.
const at = [0, 0.1, 0.25, 0.3, 0.5];
const pose = new Float64Array(35);
at.forEach((s, k) => pose.set([Math.sin(2 * s) / 2, 0, 0, Math.cos(s), 0, Math.sin(s), 0], 7 * k));
const rod = {
  name: "rod",
  bodies: [0, 1, 2, 3, 4],
  at,
  radii: at.map(() => 0.01),
  rest: at.map(() => [1, 0, 0, 0, 0.5, 0]),
  stiffness: at.map(() => [1, 1, 1, 7, 3, 4]),
};
const header = {
  dt: 0.01,
  rods: [rod],
  bodies: ["rod.base", "rod.1", "rod.2", "rod.3", "rod.tip"].map((name) => ({ name })),
  shapes: [{ body: -1 }, { body: 2 }, { body: 4 }],
};
// The first row belongs to another frame.
const contacts = {
  begin: 1,
  end: 3,
  a: [1, 0, 0],
  b: [0, 1, 2],
  point: [9, 9, 9, ...pose.slice(14, 17), ...pose.slice(28, 31)],
  impulse: [9, 9, 9, 0, 0, 0.02, 0.03, 0, 0],
};
const frame = { pose, contacts };

const near = (values, expected) => values.forEach((x, k) => assert(Math.abs(x - expected[k]) < 1e-9, `${values}`));

test("curvature between two stations", () => near(curvature(pose, 0, 1, 0.1), [0, 2, 0]));

test("bending beyond rest and its moment", () => {
  near(rodValues("bending", rod, header, frame), [1.5, 1.5, 1.5, 1.5, 1.5]);
  near(rodValues("moment", rod, header, frame), [4.5, 4.5, 4.5, 4.5, 4.5]);
});

test("forces per length, at the nearest station", () =>
  near(rodValues("pressure", rod, header, frame), [0, 0, 2 / 0.1, 0, 3 / 0.1]));

test("fluid forces per length, summed at a station, without the wake", () => {
  const place = (body, wake) => ({ body, point: [0, 0, 0], wake });
  const wet = { ...header, fluids: [place(1, false), place(1, false), place(3, false), place(4, true)] };
  const fluid = Float64Array.of(1, 2, 0, 2, 2, 0, 0, 0, -3, 7, 7, 7);
  near(rodValues("fluid", rod, wet, { ...frame, fluid }), [0, 5 / 0.125, 0, 3 / 0.125, 0]);
  assert.equal(rodColours(wet).length, 5);
});

test("no moment without stiffness", () => {
  assert.equal(rodColours(header).length, 4);
  assert.equal(rodColours({ rods: [{ ...rod, stiffness: undefined }] }).length, 3);
});
