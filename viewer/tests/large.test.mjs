// Large runs: 1000 links, and with SALTUS_SOAK=1 a file of a gigabyte.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { file, open, openBrowser, python, ROOT, seek, serve, SOAK, tidy } from "./browser.mjs";

after(tidy);

/** Memory of the page's process [MB]. */
async function pageMemory() {
  const session = await (await openBrowser()).newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const sizes = processInfo
    .filter((p) => p.type === "renderer")
    .map((p) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${p.id}/status`, "utf8"))[1]) / 1024);
  return Math.max(...sizes);
}

test("1000 links play", async (t) => {
  const frames = SOAK ? 7000 : 400;
  python(join(ROOT, "viewer/tests/make_run.py"), file("thousand.h5"), "--links", "1000", "--frames", String(frames));
  const size = statSync(file("thousand.h5")).size / 1e6;
  const server = await serve("view", file("thousand.h5"));
  const page = await open(server.address);
  const first = await page.evaluate(() => window.saltusViewer.firstFrameMs);
  await page.evaluate(() => window.saltusViewer.set({ loop: true, playing: true }));
  await page.waitForTimeout(2000); // the quality adapts
  const [fps, moved] = await page.evaluate(async () => {
    const viewer = window.saltusViewer;
    const [pictures, began] = [viewer.pictures, performance.now()];
    const x = (await viewer.pose())[0];
    await new Promise((done) => setTimeout(done, 3000));
    return [(1000 * (viewer.pictures - pictures)) / (performance.now() - began), (await viewer.pose())[0] - x];
  });
  await page.evaluate(() => window.saltusViewer.set({ playing: false }));
  const { length } = await page.evaluate(() => window.saltusViewer.pose());
  const share = await page.evaluate(() => window.saltusViewer.filmShare);
  if (SOAK) for (let k = 0; k < 80; ++k) await seek(page, (frames * 0.01 * k) / 80);
  const held = (await page.evaluate(() => window.saltusViewer.heldBytes)) / 1e6;
  const memory = await pageMemory();
  const load = loadavg()[0] / cpus().length;
  t.diagnostic(
    `1000 links, ${size.toFixed(0)} MB: first frame ${first.toFixed(0)} ms, ${fps.toFixed(1)} pictures/s at ` +
      `1280 x 720 (${share} of the pixels along each side), page ${memory.toFixed(0)} MB, ` +
      `blocks ${held.toFixed(0)} MB, machine load ${load.toFixed(1)} a core`,
  );
  assert.equal(length, 7000);
  assert.notEqual(moved, 0);
  assert.ok(held < 60, `${held} MB of blocks`);
  assert.ok(memory < 500, `${memory} MB`);
  // How fast a software renderer draws is the machine's affair: the soak judges it where nothing else runs.
  assert.ok(fps > 2, `${fps} pictures/s`);
  if (SOAK && load < 0.8) {
    assert.ok(fps >= 20, `${fps} pictures/s`);
    assert.ok(first < 2000, `first frame after ${first} ms`);
  }
  assert.deepEqual(page.faults, []);
  server.stop();
});
