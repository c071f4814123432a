// The viewer in a real browser: `make browser-tests`.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { complaints, csv, file, makeRun, open, python, saltus, ROOT, seek, serve, tidy, until } from "./browser.mjs";
import { decodePng, find, isClosed, isOverlay, isSlip, isSnake } from "./pixels.mjs";

let pegs, server, page;

before(async () => {
  pegs = makeRun("pegs.h5");
  server = await serve("view", pegs);
  page = await open(server.address);
});
after(async () => {
  server?.stop();
  await tidy();
});

const view = (target) => target.evaluate(() => ({ ...window.saltusViewer.state }));
const picture = async (target) => decodePng(await target.evaluate(() => window.saltusViewer.picture()));
const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b} within ${tolerance}`);

test("shows the snake, which moves to the right when played", async () => {
  await seek(page, 0);
  const start = find(await picture(page), isSnake);
  assert.ok(start.count > 2000, `${start.count} pixels of snake`);
  await page.keyboard.press("Space");
  await until(page, () => window.saltusViewer.state.time > 0.3, "the time to move");
  await page.keyboard.press("Space");
  const paused = await view(page);
  assert.equal(paused.playing, false);
  await seek(page, 3);
  const end = find(await picture(page), isSnake);
  assert.ok(end.x > start.x + 40, `the snake went from ${start.x} to ${end.x}`);
  assert.deepEqual(page.faults, []);
});

test("scrubs with the strip and steps with the keys", async () => {
  const box = await page.locator(".timeline").boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  near((await view(page)).time, 1.5, 0.01);
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4, box.y + 30);
  await page.mouse.up();
  near((await view(page)).time, 0.75, 0.01);
  await seek(page, 1);
  await page.keyboard.press(".");
  near((await view(page)).time, 1.01, 1e-9);
  await page.keyboard.press(",");
  await page.keyboard.press(",");
  near((await view(page)).time, 0.99, 1e-9);
  await page.keyboard.press("Home");
  assert.equal((await view(page)).time, 0);
  await page.keyboard.press("End");
  near((await view(page)).time, 3, 1e-9);
});

test("toggles forces: contacts and supports apart", async () => {
  await seek(page, 2);
  await page.evaluate(() => window.saltusViewer.set({ contacts: true, supports: false, trails: [] }));
  assert.ok(find(await picture(page), isClosed).count > 30, "arrows of contacts");
  await page.getByRole("button", { name: "forces of contacts (f)" }).click();
  assert.equal(find(await picture(page), isClosed).count, 0);
  await page.getByRole("button", { name: "friction forces of the ground (g)" }).click();
  await page.evaluate(() => window.saltusViewer.set({ forceScale: 6 }));
  assert.ok(find(await picture(page), isSlip).count > 30, "arrows of supports");
  await page.evaluate(() => window.saltusViewer.set({ contacts: true, supports: false, forceScale: 1, trails: ["com"] }));
});

test("draws a height field and tints a friction map", async () => {
  const names = ["ground-rough.h5", "ground-map.h5"].map(file);
  saltus("run", "-q", "scenes/ground/rough.yaml", "--set", "time.end=0.1", "-o", names[0]);
  saltus("run", "-q", "scenes/ground/friction-map.yaml", "--set", "metrics=[]", "-o", names[1]);
  for (const [i, name] of names.entries()) {
    const own = await serve("view", name);
    const other = await open(own.address);
    // The obstacles' colour is warm; the least factor of the map makes it cold.
    const colours = await picture(other);
    const warm = find(colours, (r, _g, b) => r > b + 12 && r > 60).count;
    const cold = find(colours, (r, _g, b) => b > r + 6 && b < 200).count;
    assert.ok(warm > 5000, `${name}: ${warm} pixels of ground`);
    if (i === 1) assert.ok(cold > 5000, `${name}: ${cold} pixels of ice`);
    assert.deepEqual(other.faults, []);
    await other.close();
    own.stop();
  }
});

// A red visual inside a contact ball that is larger; a second body has only its contact shape.
const SEEN = `saltus: 1
title: Seen
bodies:
  - {name: seen, mass: 1, inertia: [0.1, 0.1, 0.1], joint: {type: floating}, shapes: [{type: sphere, radius: 0.5}]}
  - {name: felt, mass: 1, inertia: [0.1, 0.1, 0.1], joint: {type: floating}, shapes: [{type: sphere, radius: 0.2}]}
visuals:
  - {body: seen, type: box, size: [0.5, 0.5, 0.5], colour: [0.9, 0.05, 0.05, 1]}
  - {body: world, type: box, size: [0.3, 0.3, 0.3], at: {position: [0, 1.5, 0]}, colour: [0.9, 0.05, 0.9, 1]}
initial: {felt: {q: [1.2, 0, 0, 1, 0, 0, 0]}}
gravity: [0, 0, 0]
time: {step: 0.01, end: 0.1}
`;
const isRed = (r, g, b) => r > g + 60 && r > b + 60;
const isPurple = (r, g, b) => r > g + 60 && b > g + 60;

test("draws visuals, and contact shapes beside them on demand", async () => {
  writeFileSync(file("seen.yaml"), SEEN);
  saltus("run", "-q", file("seen.yaml"), "-o", file("seen.h5"));
  saltus("report", file("seen.h5"), "-o", file("seen.html"));
  const own = await serve("view", file("seen.h5"));
  for (const address of [own.address, `file://${file("seen.html")}`]) {
    const other = await open(address);
    const shown = await picture(other);
    const red = find(shown, isRed).count;
    const green = find(shown, isSnake).count;
    assert.ok(red > 2000 && green > 500, `${red} pixels of the visual, ${green} of the body without`);
    assert.ok(find(shown, isPurple).count > 300, "the visual of the world");
    await other.getByRole("button", { name: "shapes that touch (s)" }).click();
    const both = await picture(other);
    // Round the box, which is seen through it, the ball is more than 3 times the other one's area.
    const shell = find(both, (r, g) => g > r + 15).count;
    assert.ok(shell > 2.5 * green, `${shell} pixels of contact shapes`);
    assert.ok(find(both, isRed).count < red, "it lies before the visual");
    assert.equal((await view(other)).shapes, true);
    await other.keyboard.press("s");
    assert.equal(find(await picture(other), isRed).count, red);
    assert.deepEqual(other.faults, []);
    await other.context().close();
  }
  own.stop();
});

test("tells the links of a robot apart", async () => {
  // Without colours and visuals: trunk and legs differ all the same.
  const bare = readFileSync(join(ROOT, "scenes/robots/quadruped.urdf"), "utf8").replace(/<visual>.*?<\/visual>/gs, "");
  writeFileSync(file("quadruped.urdf"), bare);
  writeFileSync(file("bare.yaml"), readFileSync(join(ROOT, "scenes/robots/quadruped.yaml"), "utf8"));
  saltus("run", "-q", file("bare.yaml"), "--set", "time.end=0.02", "--set", "metrics=[]", "-o", file("bare.h5"));
  const own = await serve("view", file("bare.h5"));
  const other = await open(own.address);
  await other.evaluate(() => window.saltusViewer.set({ contacts: false, trails: [] }));
  const shown = await picture(other);
  assert.ok(find(shown, isSnake).count > 3000, "the trunk in the run's colour");
  assert.ok(find(shown, (r, g, b) => g < 110 && g - r < 45 && b > r).count > 300, "dark links");
  assert.equal(await other.getByRole("button", { name: "shapes that touch (s)" }).count(), 0);
  await other.context().close();
  own.stop();
});

// As in docs/sensors.md.
const SENSED = `saltus: 1
title: Sensed
bodies:
  - {name: rod, mass: 1, com: [0, 0, -0.5], inertia: [0.01, 0.01, 0.01], joint: {type: revolute, axis: [0, 1, 0]}}
initial: {rod: 1}
sensors:
  - {name: angle, type: encoder, joints: rod, rate: 200, delay: 5 ms}
  - {name: imu, type: imu, body: rod, rate: 500}
time: {step: 1 ms, end: 1}
`;

test("shows water: forces of fluids, flow and vortices", async () => {
  saltus("run", "-q", "scenes/water/vortex-fish.yaml", "--set", "time.end=0.3", "--set", "metrics=[]", "-o", file("fish.h5"));
  const fish = await serve("view", file("fish.h5"));
  const target = await open(fish.address);
  await seek(target, 0.3);
  const water = () => target.evaluate(() => window.saltusViewer.water());
  const { forces, flow, vortices } = await water();
  const rows = csv(file("fish.h5"), "frames", "t,fluid_force,flow");
  const last = (name, k, c) => rows[`${name}[${3 * k + c}]`].at(-1);
  forces.forEach(({ force }, k) => force.forEach((x, c) => near(x, last("fluid_force", k, c), 1e-12)));
  flow.forEach(({ force }, k) => force.forEach((x, c) => near(x, last("flow", k, c), 1e-12)));
  assert.equal(forces.length, 7); // six links and the wake
  assert.ok(vortices.length >= 2 && vortices.every(([, y]) => Math.abs(y) === 0.1405));
  assert.deepEqual((await view(target)).trails, ["com", "link6"]);
  const pixels = async () => {
    const { width, height, at } = await picture(target);
    let sum = 0;
    for (let y = 0; y < height; y += 2) for (let x = 0; x < width; x += 2) sum = (sum * 31 + at(x, y).reduce((a, b) => a + b)) % 1000003;
    return sum;
  };
  const full = await pixels();
  await target.keyboard.press("v");
  const still = await pixels();
  assert.notEqual(still, full);
  await target.keyboard.press("w");
  assert.notEqual(await pixels(), still);
  assert.deepEqual(target.faults, []);
  fish.stop();
});

test("plots sensors, also in a report", async () => {
  writeFileSync(file("sensed.yaml"), SENSED);
  saltus("run", "-q", file("sensed.yaml"), "-o", file("sensed.h5"));
  saltus("report", file("sensed.h5"), "-o", file("sensed.html"));
  const own = await serve("view", file("sensed.h5"));
  const rows = csv(file("sensed.h5"), "sensor_angle", "t,position");
  for (const address of [own.address, `file://${file("sensed.html")}`]) {
    const other = await open(address);
    const loaded = () => window.saltusViewer.curves().flat().filter((c) => c.t.length > 0).length >= 11;
    await until(other, loaded, "the curves");
    const curves = (await other.evaluate(() => window.saltusViewer.curves())).flat();
    const angle = curves.find((c) => c.name === "angle position rod");
    assert.ok(angle, `curves: ${curves.map((c) => c.name)}`);
    assert.deepEqual(angle.t, rows.t);
    angle.y.forEach((y, i) => near(y, rows.position[i], 1e-7)); // a report has single precision
    assert.ok(curves.some((c) => c.name === "imu specific force x"));
    await other.context().close();
  }
  own.stop();
});

test("forces point away from the pegs", async () => {
  const header = JSON.parse(saltusHeader(pegs));
  const centre = Object.fromEntries(header.shapes.filter((s) => s.type === "peg").map((s) => [s.name, s.pose]));
  let seen = 0;
  for (const time of [0.5, 1, 1.5, 2, 2.5, 3]) {
    await seek(page, time);
    for (const { kind, a, point, force } of await page.evaluate(() => window.saltusViewer.forces())) {
      if (kind !== "contact") continue;
      const peg = centre[header.shapes[a].name];
      assert.ok((point[0] - peg[0]) * force[0] + (point[1] - peg[1]) * force[1] > 0);
      ++seen;
    }
  }
  assert.ok(seen > 3, `${seen} contacts`);
});

function saltusHeader(path) {
  return python("-c", "import h5py,sys; sys.stdout.write(bytes(h5py.File(sys.argv[1])['header'][:]).decode())", path);
}

test("shows the numbers of the file", async () => {
  const frames = csv(pegs, "frames", "t,pose,com");
  for (const index of [0, 1, 77, 150, 299, 300]) {
    await seek(page, frames.t[index]);
    assert.equal(await page.evaluate(() => window.saltusViewer.frameIndex()), index);
    const pose = await page.evaluate(() => window.saltusViewer.pose());
    assert.deepEqual(pose, pose.map((_, i) => frames[`pose[${i}]`][index]));
    const com = await page.evaluate(() => window.saltusViewer.com());
    assert.deepEqual(com, com.map((_, i) => frames[`com[${i}]`][index]));
  }
});

test("plots a series that the user picks, equal to the file", async () => {
  await page.keyboard.press("a");
  await page.locator("#pick-table").selectOption("frames");
  await page.locator("#pick-column").selectOption("motor");
  await page.locator("#pick-component").selectOption({ label: "joint3" });
  await page.locator("#pick-add").click();
  await until(page, () => window.saltusViewer.curves().at(-1)?.[0]?.t.length > 0, "the curve");
  const curve = (await page.evaluate(() => window.saltusViewer.curves())).at(-1)[0];
  const frames = csv(pegs, "frames", "t,motor");
  assert.equal(curve.name, "motor joint3");
  assert.equal(curve.unit, "N m");
  assert.deepEqual(curve.t, frames.t);
  assert.deepEqual(curve.y, frames["motor[5]"]); // root.x, root.y, root.theta, joint1, ...
  await seek(page, 1);
  const shown = await page.locator(".plot").last().locator(".plot-legend b").textContent();
  near(Number.parseFloat(shown), frames["motor[5]"][100], 1e-3 * Math.abs(frames["motor[5]"][100]));
});

test("plots a contact's force and thins long series by extremes", async () => {
  const contacts = csv(pegs, "contacts", "kind,a,b,feature,impulse");
  assert.equal(contacts.kind.at(-1), 1); // a frame ends with the supports
  const pick = { b: contacts.b.at(-1), feature: contacts.feature.at(-1) };
  await page.evaluate((which) => {
    const query = { table: "contacts", column: "force", component: 1, ...which };
    window.saltusViewer.set({ plots: [[query], [{ table: "steps", column: "iterations", component: 0 }]] });
  }, pick);
  await until(page, () => window.saltusViewer.curves()[0]?.[0]?.t.length > 0 && window.saltusViewer.curves()[1]?.[0]?.t.length > 0, "curves");
  const [force, steps] = (await page.evaluate(() => window.saltusViewer.curves())).map((plot) => plot[0]);
  near(force.y.at(-1), contacts["impulse[1]"].at(-1) / 1e-3, 1e-9);
  const iterations = csv(pegs, "steps", "iterations").iterations;
  assert.equal(Math.max(...steps.y), Math.max(...iterations));
});

test("offers the contacts that occur and plots the picked one", async () => {
  await page.keyboard.press("a");
  await page.locator("#pick-table").selectOption("contacts");
  await until(page, () => document.querySelector("#pick-contact").options.length > 11, "the contacts");
  const names = await page.locator("#pick-contact option").allTextContents();
  const columns = csv(pegs, "contacts", "kind,a,b,feature,normal_impulse");
  const header = JSON.parse(saltusHeader(pegs));
  const name = (i) => columns.kind[i] === 1
    ? `ground – ${header.bodies[columns.b[i]].name}`
    : `${header.shapes[columns.a[i]].name} – ${header.shapes[columns.b[i]].name}`;
  assert.deepEqual(names.sort(), [...new Set(columns.kind.map((_, i) => name(i)))].sort());
  const row = columns.kind.lastIndexOf(0);
  await page.locator("#pick-contact").selectOption({ label: name(row) });
  await page.locator("#pick-column").selectOption("normal_impulse");
  await page.locator("#pick-add").click();
  await until(page, () => window.saltusViewer.curves().at(-1)?.[0]?.t.length > 0, "the curve");
  const curve = (await page.evaluate(() => window.saltusViewer.curves())).at(-1)[0];
  assert.equal(curve.name, `${name(row)} normal impulse`);
  assert.equal(curve.y.findLast((y) => !Number.isNaN(y)), columns.normal_impulse[row]);
});

test("restores time, camera and plots from a link", async () => {
  await page.evaluate(() => window.saltusViewer.set({ camera: "orbit", follow: "link6", time: 1.23 }));
  await page.waitForTimeout(1300);
  const link = page.url();
  assert.match(link, /t=1\.23/);
  const other = await open(link);
  const { time, camera, follow, plots } = await view(other);
  assert.deepEqual({ time, camera, follow, plots }, { time: 1.23, camera: "orbit", follow: "link6", plots: (await view(page)).plots });
  await other.context().close();
  await page.evaluate(() => window.saltusViewer.set({ camera: "top", follow: "" }));
});

test("exports a picture and a film", async () => {
  const png = page.waitForEvent("download");
  await page.getByRole("button", { name: "Picture", exact: true }).click();
  const path = await (await png).path();
  assert.ok(find(decodePng(readFileSync(path)), isSnake).count > 2000);
  await seek(page, 2.6);
  const webm = page.waitForEvent("download");
  await page.getByRole("button", { name: "record a film (WebM) from here to the end" }).click();
  const film = readFileSync(await (await webm).path());
  assert.equal(film.readUInt32BE(0), 0x1a45dfa3, "a Matroska header");
  assert.ok(film.length > 3000, `${film.length} bytes of film`);
});

test("is dark or light, and has a help for the keyboard", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.keyboard.press("d");
  assert.notEqual(await background(), light);
  await page.keyboard.press("d");
  await page.keyboard.press("?");
  assert.ok(await page.locator("dialog").isVisible());
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" }); // it leaves with its close event
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input, [role=slider]")].filter((e) => !(e.getAttribute("aria-label") || e.title || e.textContent.trim())).length);
  assert.equal(nameless, 0);
  assert.deepEqual(page.faults, []);
});

test("lays a second run over the first", async () => {
  const other = makeRun("moved.h5", "peg3-removed");
  const both = await serve("view", pegs, other);
  const two = await open(both.address);
  await seek(two, 3);
  const seen = await picture(two);
  assert.ok(find(seen, isSnake).count > 1500, "the first run");
  assert.ok(find(seen, isOverlay).count > 500, "the second run");
  const frames = csv(other, "frames", "pose");
  assert.deepEqual((await two.evaluate(() => window.saltusViewer.pose(1)))[0], frames["pose[0]"].at(-1));
  await until(two, () => window.saltusViewer.curves()[0]?.length === 4, "curves of both runs");
  assert.deepEqual(two.faults, []);
  await two.context().close();
  both.stop();
});

test("a report opens from disk without a network", async () => {
  saltus("report", pegs, "-o", file("page.html"));
  const report = await open(`file://${file("page.html")}`, { offline: true });
  await seek(report, 0);
  const start = find(await picture(report), isSnake);
  await seek(report, 3);
  const end = find(await picture(report), isSnake);
  assert.ok(start.count > 2000 && end.x > start.x + 40);
  const pose = await report.evaluate(() => window.saltusViewer.pose());
  const frames = csv(pegs, "frames", "pose");
  pose.forEach((x, i) => near(x, frames[`pose[${i}]`].at(-1), 1e-6)); // single precision
  const text = await report.locator(".details").innerText();
  for (const word of ["Summary", "Scene", "Versions", "snake:", "completed"]) assert.ok(text.includes(word), word);
  assert.deepEqual(report.faults, []);
  await report.context().close();
});

test("a run whose steps gained energy says so at the top", async () => {
  const scene = file("spin.yaml");
  writeFileSync(
    scene, // a free chain that spins far too fast for its step
    `saltus: 1
gravity: [0, 0, 0]
bodies:
  - {name: a, mass: 1, solid: {shape: box, size: [0.3, 0.1, 0.05]}, joint: {type: floating}}
  - {name: b, mass: 1, solid: {shape: box, size: [0.3, 0.06, 0.05]},
     joint: {type: spherical, parent: a, at: {position: [0.2, 0, 0]}, in_body: {position: [-0.2, 0, 0]}}}
initial: {a: {q: [0, 0, 0, 1, 0, 0, 0], v: [0, 0, 0, 200, 450, 150]}}
time: {step: 0.025, end: 0.4}
`,
  );
  assert.throws(() => saltus("run", "-q", scene, "-o", file("spin.h5")), (error) => error.status === 3);
  const spin = await serve("view", file("spin.h5"));
  const shown = await open(spin.address);
  const text = await shown.locator(".verdict").innerText();
  assert.match(text, /^gained: the steps of an episode gained .* J/);
  const warned = await shown.locator(".verdict .warned").allInnerTexts(); // below it what was told of the start
  assert.match(warned[0], /^warning: body '[ab]' turns by .* rad a step/);
  assert.equal(await page.locator(".verdict").isVisible(), false); // a good run has none
  spin.stop();
  await shown.context().close();
});

test("modes stand below the strip and lead to their times", async () => {
  const worm = file("worm.h5");
  saltus("run", "-q", "scenes/p3/fig-4-1.yaml", "--set", "integrator.type=event-driven", "--set", "time.step=0.01", "-o", worm);
  saltus("report", worm, "-o", file("worm.html"));
  assert.equal(await page.locator(".mode-strip").isVisible(), false); // the snake's run has none
  const served = await serve("view", worm);
  for (const address of [served.address, `file://${file("worm.html")}`]) {
    const target = await open(address);
    await until(target, () => window.saltusViewer.modes() !== null, "the modes");
    const { modes, mode, from, to } = await target.evaluate(() => window.saltusViewer.modes());
    assert.deepEqual(mode.map((m) => modes[m].name), ["{1}", "{}", "{2}", "{}", "{2}", "{}"]);
    near(from[1], Math.PI / 2, 1e-10);
    assert.equal(to.at(-1), 24);
    const strip = target.locator(".mode-strip");
    const box = await strip.boundingBox();
    await target.mouse.move(box.x + (4.3 / 24) * box.width, box.y + 10); // {2} holds
    const tip = await target.locator(".mode-tip").innerText();
    for (const words of ["{2}", "4.0274046 to 4.682574 s", "holds: 2", "slips: 1", "slip 2"]) assert.ok(tip.includes(words), `${words}: ${tip}`);
    await target.mouse.down();
    await target.mouse.up();
    near((await view(target)).time, 4.3, 24 / box.width);
    // Two masses, small beside the way they go, and the colour of {1} at the strip's start.
    assert.ok(find(await picture(target), isSnake).count > 30);
    assert.deepEqual(target.faults, []);
    await target.context().close();
  }
  served.stop();
});

test("impacts have energy bars that lead to their times", async () => {
  // The rod of docs/audit.md, whose impact gains energy under Newton's law, and the bouncing ball.
  const [rod, ball] = [file("rod.h5"), file("ball.h5")];
  saltus("run", "-q", "scenes/slanting-rod.yaml", "-o", rod);
  saltus("run", "-q", "scenes/bouncing-ball.yaml", "--set", "time.step=1e-3", "-o", ball); // no table of modes
  saltus("report", rod, "-o", file("rod.html"));
  const count = csv(ball, "impacts", "t").t.length;
  const served = [await serve("view", ball), await serve("view", rod)];
  for (const [address, gains] of [[served[0].address, false], [served[1].address, true], [`file://${file("rod.html")}`, true]]) {
    const target = await open(address);
    await until(target, () => (window.saltusViewer.impacts()?.t.length ?? 0) > 0, "the impacts");
    const { t, before, after, gained } = await target.evaluate(() => window.saltusViewer.impacts());
    assert.equal(t.length, gains ? 1 : count);
    if (!gains) near(after[0] / before[0], 0.25, 1e-9);
    assert.equal(gained[0] > 0, gains);
    const box = await target.locator(".impact-strip").boundingBox();
    const { start, end } = await target.evaluate(() => window.saltusViewer.runs()[0]);
    await target.mouse.move(box.x + ((t[0] - start) / (end - start)) * box.width + 3, box.y + 30);
    const tip = await target.locator(".impact-tip").innerText();
    for (const words of gains ? ["gain", "newton's law", "contact floor - tip"] : ["T−", "T+", "loss", "contact floor - ball"]) assert.ok(tip.includes(words), `${words}: ${tip}`);
    await target.mouse.down();
    await target.mouse.up();
    near((await view(target)).time, t[0], 1e-12); // the bar's time, not the pointer's
    const red = decodePng([...(await target.locator(".impact-strip canvas").screenshot())]);
    const isRed = (r, g, b) => r > 150 && g < 70 && b < 70;
    assert.equal(find(red, isRed).count > 5, gains);
    if (process.env.SALTUS_PICTURES) await target.screenshot({ path: `${process.env.SALTUS_PICTURES}/impacts-${gains}.png` });
    assert.deepEqual(target.faults, []);
    await target.context().close();
  }
  for (const server of served) server.stop();
});

test("a live run grows, pauses and steps", async () => {
  const live = await serve("run", "scenes/p0/pegs.yaml", "--set", "time.end=5000", "--set", "metrics=[]", "-q", "--view");
  const watch = await open(live.address);
  const rows = () => watch.evaluate(() => window.saltusViewer.runs()[0].rows);
  await until(watch, () => window.saltusViewer.runs()[0].rows > 100, "frames");
  assert.equal((await view(watch)).followEnd, true);
  await watch.getByRole("button", { name: "pause or resume the simulation" }).click();
  await until(watch, () => document.querySelector(".live .word").textContent === "paused", "the pause");
  const before = await rows();
  await watch.waitForTimeout(500);
  assert.equal(await rows(), before);
  await watch.getByRole("button", { name: "Step the run" }).click();
  await until(watch, (n) => window.saltusViewer.runs()[0].rows === n + 1, "one more frame", before);
  await watch.getByRole("button", { name: "pause or resume the simulation" }).click();
  await until(watch, (n) => window.saltusViewer.runs()[0].rows > n + 20, "the run to go on", before);
  assert.deepEqual(await complaints(watch), []);
  await watch.context().close();
  const ended = new Promise((done) => live.process.on("exit", done));
  live.stop();
  await ended;
});
