// Starts servers and browsers for the tests, and puts both away.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const SALTUS = process.env.SALTUS_BIN ?? join(ROOT, "build/release/bin/saltus");
export const PYTHON = process.env.SALTUS_PYTHON ?? join(ROOT, ".venv/bin/python");
export const SOAK = process.env.SALTUS_SOAK === "1";
export const folder = mkdtempSync(join(tmpdir(), "saltus-browser-"));

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-background-networking",
  "--no-first-run",
  "--disable-component-update",
  "--disable-sync",
];

export const file = (name) => join(folder, name);

/** Runs the command line; its standard output. */
export const saltus = (...args) => execFileSync(SALTUS, args, { encoding: "utf8", cwd: ROOT });
export const python = (...args) => execFileSync(PYTHON, args, { encoding: "utf8", cwd: ROOT });

/** A scene of P0, shortened. */
export function makeRun(name, scene = "pegs", end = 3) {
  saltus("run", "-q", `scenes/p0/${scene}.yaml`, "--set", `time.end=${end}`, "--set", "metrics=[]", "-o", file(name));
  return file(name);
}

/** Columns of a table, as the command line exports them: {name: number[]}. */
export function csv(path, table, columns) {
  const [head, ...lines] = saltus("csv", path, "-t", table, "-c", columns).trim().split("\n");
  const names = head.split(",").map((name) => name.replace(/ \(.*\)$/, ""));
  const rows = lines.map((line) => line.split(",").map(Number));
  return Object.fromEntries(names.map((name, i) => [name, rows.map((row) => row[i])]));
}

// A test that fails never reaches its stop(), and a server left alive keeps node from ending.
const servers = [];

/** A server on a free port; resolves to {address, stop, process}. */
export async function serve(...args) {
  const child = spawn(SALTUS, [...args, "--no-browser"], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  servers.push(child);
  const address = await new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (data) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec((text += data));
      if (found) done(found[0]);
    });
    child.on("exit", (code) => fail(new Error(`the server ended with ${code}: ${text}`)));
  });
  return { address, process: child, stop: () => child.kill("SIGTERM") };
}

let browser;
export async function openBrowser() {
  browser ??= await chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: FLAGS });
  return browser;
}

/** A page on an address, ready when its first frame is drawn. Errors on the page fail the test. */
export async function open(address, options = {}) {
  const context = await (await openBrowser()).newContext({
    viewport: { width: 1280, height: 720 },
    colorScheme: "light",
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("requestfailed", (request) => page.faults.push(`request failed: ${request.url()}`));
  await page.goto(address);
  await until(page, () => window.saltusViewer?.firstFrameMs > 0, "the first frame");
  return page;
}

/** What the page says in its red bars. */
export const complaints = (page) => page.locator(".complaint").allInnerTexts();

/** Waits for a condition in the page. (waitForFunction needs eval, which the page forbids.) */
export async function until(page, condition, what, argument = undefined, seconds = 30) {
  const end = Date.now() + 1000 * seconds;
  while (!(await page.evaluate(condition, argument))) {
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain for ${what}; faults: ${page.faults}; complaints: ${await complaints(page)}`);
    await page.waitForTimeout(50);
  }
}

export async function seek(page, time) {
  await page.evaluate(async (t) => {
    window.saltusViewer.seek(t);
    await window.saltusViewer.pose();
    // Long enough for a picture; none comes when nothing has changed.
    const drawn = window.saltusViewer.pictures;
    for (let k = 0; k < 20 && window.saltusViewer.pictures === drawn; ++k) await new Promise((r) => setTimeout(r, 10));
  }, time);
}

export async function tidy() {
  for (const server of servers) server.kill("SIGTERM");
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
