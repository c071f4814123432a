// Puts the page together and draws it.
import { Run } from "./data/run";
import type { DataSource } from "./data/source";
import { findTable, type Header } from "./data/types";
import { installHook } from "./hook";
import { Live } from "./live";
import { findBounds } from "./scene/bounds";
import { newtonsPerDecimetre } from "./scene/force_scale";
import { RUN_COLOURS } from "./scene/palette";
import { View } from "./scene/view";
import { keepHash, readHash } from "./state/hash";
import { Player } from "./state/player";
import { Store } from "./state/store";
import { details } from "./ui/details";
import { h, toggle } from "./ui/dom";
import { Exporter } from "./ui/exporter";
import { openHelp } from "./ui/help";
import { listenToKeys } from "./ui/keys";
import { openPicker } from "./ui/picker";
import { ImpactStrip } from "./ui/impact_strip";
import { ModeStrip } from "./ui/mode_strip";
import { defaultPlots, Plots } from "./ui/plots";
import { keepTheme, startTheme, toggleTheme } from "./ui/theme";
import { Timeline } from "./ui/timeline";
import { Toolbar } from "./ui/toolbar";
import { Transport } from "./ui/transport";
import { Verdict } from "./ui/verdict";

async function openRuns(source: DataSource): Promise<Run[]> {
  const infos = await source.runs();
  const runs = infos.map((info, i) => new Run(source, i, info));
  for (const run of runs) await run.extend(findTable(run.info, "frames")?.rows ?? 0);
  return runs;
}

export async function startApp(root: HTMLElement, source: DataSource, complain: (error: unknown) => void): Promise<void> {
  const runs = await openRuns(source);
  const lead = runs[0]!;
  const { info } = lead;
  document.title = `${info.header.title || info.name} · Saltus`;
  const growing = !source.embedded && runs.some((run) => !run.ended);
  const asked = readHash(location.hash);
  const store = new Store({
    time: lead.start,
    playing: false,
    speed: 1,
    loop: false,
    camera: info.header.planar ? "top" : "orbit",
    follow: growing ? "com" : "",
    contacts: true,
    supports: false,
    fluids: (info.header.fluids ?? []).length <= 200,
    flow: true,
    forceScale: 1,
    shapes: false,
    rods: "",
    trails: ["com", ...wakes(info.header)],
    plots: defaultPlots(info),
    theme: startTheme(),
    followEnd: growing,
    ...asked.patch,
  });
  keepTheme(store);

  const [bounds, newtons] = await Promise.all([
    findBounds(runs),
    findBounds([lead]).then(({ size }) => newtonsPerDecimetre(lead, size)),
  ]);
  let noteCamera = (): void => {};
  const view = new View(store, runs, bounds, newtons, () => noteCamera());
  const player = new Player(store, runs, complain);
  const plots = new Plots(store, runs, player);
  const timeline = new Timeline(store, lead, player);
  const modes = new ModeStrip(store, lead, player);
  const impacts = new ImpactStrip(store, lead, player);
  const transport = new Transport(store, lead, player);
  const stage = h("div", { class: "stage" }, view.canvas);
  const fit = (): void => {
    view.cameras.fit(stage.clientWidth / Math.max(1, stage.clientHeight));
    view.invalidate();
  };
  const toolbar = new Toolbar(store, info, view, fit);
  const exporter = new Exporter(store, runs, view, player, () => toolbar.scaleText());
  exporter.watch();

  const grown = (): void => {
    transport.showTime();
    view.invalidate();
    slow();
  };
  const slow = throttle(1000, () => {
    void timeline.load().catch(complain);
    void modes.load().catch(complain);
    void impacts.load().catch(complain);
    plots.reload();
    view.showTrails();
    side.showDetails();
    verdict.show();
  });
  const verdict = new Verdict(runs);
  const live = new Live(source, runs, store, player, grown);
  const picture = (): void => void exporter.savePicture().catch(complain);
  const side = sidePanel(source, runs, plots);
  const film = toggle("Film", "record a film (WebM) from here to the end", () => {
    try {
      exporter.toggleFilm(() => film.show(exporter.recording));
    } catch (error) {
      complain(error);
    }
  });
  const header = h(
    "header",
    { class: "top" },
    h("h1", {}, info.header.title || info.name),
    ...names(runs),
    h("span", { class: "gap" }),
    live.element,
    h("button", { type: "button", title: "save a picture, PNG (p)", onclick: picture }, "Picture"),
    film.button,
    h("button", { type: "button", title: "copy a link that restores time, camera and plots", onclick: () => void copyLink().catch(complain) }, "Link"),
    h("button", { type: "button", title: "dark or light (d)", onclick: () => toggleTheme(store) }, "Theme"),
    h("button", { type: "button", title: "keys (?)", "aria-label": "keys (?)", onclick: openHelp }, "?"),
  );
  root.replaceChildren(
    h(
      "main",
      {},
      h("div", {}, header, verdict.element),
      h("div", { class: "middle" }, h("div", { class: "left" }, toolbar.element, stage), side.element),
      h("footer", {}, transport.element, timeline.element, modes.element, impacts.element),
    ),
    ...(source.embedded ? [details(info)] : []),
  );
  document.body.classList.toggle("report", source.embedded);

  let fitted = false;
  new ResizeObserver(() => {
    view.resize(stage.clientWidth, stage.clientHeight);
    if (!fitted) {
      fitted = true;
      fit();
      if (asked.eye) view.cameras.eye = asked.eye;
      noteCamera = keepHash(store, () => view.cameras.eye);
    }
  }).observe(stage);

  listenToKeys(store, player, { header: () => runs[0]!.info.header, fit, picture, addPlot: () => openPicker(store, runs[0]!) });
  void timeline.load().catch(complain);
  void modes.load().catch(complain);
  void impacts.load().catch(complain);
  if (store.state.followEnd) store.set({ time: player.end });
  void live.watch();

  let firstFrame = 0;
  installHook(store, runs, view, player, plots, exporter, modes, impacts, () => firstFrame);
  const loop = (now: number): void => {
    requestAnimationFrame(loop);
    player.tick(now);
    if (fitted && view.draw() && firstFrame === 0 && lead.get(lead.frameAt(store.state.time))) firstFrame = performance.now();
  };
  requestAnimationFrame(loop);
}

/** Bodies that leave a wake: of these a path is shown. */
function wakes(header: Header): string[] {
  const bodies = (header.fluids ?? []).filter((f) => f.wake).map((f) => header.bodies[f.body]!.name);
  return [...new Set(bodies)].slice(0, 4);
}

function names(runs: Run[]): HTMLElement[] {
  if (runs.length < 2) return [];
  return runs.map((run, i) => {
    const dot = h("i", { class: "dot" });
    dot.style.background = RUN_COLOURS[i]!;
    return h("span", { class: "run-name" }, dot, `${"AB"[i]}: ${run.info.name}`);
  });
}

/** Plots and, beside a server, what the run is, as two tabs. */
function sidePanel(source: DataSource, runs: Run[], plots: Plots): { element: HTMLElement; showDetails(): void } {
  if (source.embedded) return { element: h("aside", { "aria-label": "Plots" }, plots.element), showDetails: () => {} };
  const about = h("div", { class: "about", hidden: true });
  const showDetails = (): void => about.replaceChildren(...runs.map((run) => details(run.info)));
  const show = (what: "plots" | "about"): void => {
    plots.element.hidden = what !== "plots";
    about.hidden = what !== "about";
    first.show(what === "plots");
    second.show(what === "about");
  };
  const first = toggle("Plots", "plots", () => show("plots"));
  const second = toggle("Run", "summary, scene and versions", () => show("about"));
  show("plots");
  showDetails();
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": "Side panel" }, first.button, second.button);
  return { element: h("aside", {}, tabs, plots.element, about), showDetails };
}

async function copyLink(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 250)); // the address follows with a delay
  await navigator.clipboard.writeText(location.href);
}

function throttle(interval: number, action: () => void): () => void {
  let timer = 0;
  return () => {
    if (timer) return;
    timer = window.setTimeout(() => {
      timer = 0;
      action();
    }, interval);
  };
}
