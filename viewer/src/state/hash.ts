// The address holds what is shown: time, camera, plots, toggles. A copied link restores it.
import type { PlotSpec, Store, ViewState } from "./store";

// "contacts.force.1@3-7", and of one of the points "@3-7-0"; of a support "@-7".
const seriesText = (s: PlotSpec[number]): string =>
  [s.table, s.column, s.component].join(".") +
  (s.b === undefined ? "" : `@${s.a ?? ""}-${s.b}${s.feature === undefined ? "" : `-${s.feature}`}`);

function readSeries(text: string): PlotSpec[number] | null {
  const match = /^([^.@]+)\.(\w+)\.(\d+)(?:@(\d*)-(\d+)(?:-(\d+))?)?$/.exec(text);
  if (!match) return null;
  const [, table, column, component, a, b, feature] = match;
  const series = { table: table!, column: column!, component: Number(component) };
  if (b === undefined) return series;
  return { ...series, ...(a ? { a: Number(a) } : {}), b: Number(b), ...(feature ? { feature: Number(feature) } : {}) };
}

export const plotsText = (plots: PlotSpec[]): string =>
  plots.map((plot) => plot.map(seriesText).join("+")).join(";");

export const readPlots = (text: string): PlotSpec[] =>
  text
    .split(";")
    .map((plot) => plot.split("+").map(readSeries).filter((s) => s !== null))
    .filter((plot) => plot.length > 0);

export function writeHash(state: ViewState, eye: string): string {
  const hash = new URLSearchParams();
  hash.set("t", String(Number(state.time.toFixed(6))));
  hash.set("camera", state.camera);
  if (eye) hash.set("eye", eye);
  if (state.follow) hash.set("follow", state.follow);
  hash.set("forces", [state.contacts && "contacts", state.supports && "supports", state.fluids && "fluids", state.flow && "flow"].filter(Boolean).join(" "));
  if (state.forceScale !== 1) hash.set("scale", String(Number(state.forceScale.toPrecision(4))));
  if (state.shapes) hash.set("shapes", "1");
  if (state.rods) hash.set("rods", state.rods);
  hash.set("trails", state.trails.join(" "));
  if (state.speed !== 1) hash.set("speed", String(state.speed));
  if (state.loop) hash.set("loop", "1");
  hash.set("plots", plotsText(state.plots));
  return `#${hash.toString()}`;
}

/** What the address asks for; anything it does not say, or says wrongly, stays as it is. */
export function readHash(text: string): { patch: Partial<ViewState>; eye: string } {
  const hash = new URLSearchParams(text.replace(/^#/, ""));
  const patch: Partial<ViewState> = {};
  const number = (key: string): number | undefined => {
    const value = hash.get(key);
    return value !== null && value !== "" && Number.isFinite(Number(value)) ? Number(value) : undefined;
  };
  const words = (key: string): string[] | undefined => hash.get(key)?.split(" ").filter(Boolean);
  const time = number("t");
  if (time !== undefined) patch.time = time;
  const camera = hash.get("camera");
  if (camera === "orbit" || camera === "top") patch.camera = camera;
  if (hash.has("follow")) patch.follow = hash.get("follow")!;
  const forces = words("forces");
  if (forces) {
    patch.contacts = forces.includes("contacts");
    patch.supports = forces.includes("supports");
    patch.fluids = forces.includes("fluids");
    patch.flow = forces.includes("flow");
  }
  const scale = number("scale");
  if (scale !== undefined && scale > 0) patch.forceScale = Math.min(100, Math.max(0.01, scale));
  if (hash.get("shapes") === "1") patch.shapes = true;
  const rods = hash.get("rods");
  if (rods === "bending" || rods === "moment" || rods === "pressure" || rods === "fluid") patch.rods = rods;
  const trails = words("trails");
  if (trails) patch.trails = trails;
  const speed = number("speed");
  if (speed !== undefined && speed > 0) patch.speed = Math.min(100, speed);
  if (hash.get("loop") === "1") patch.loop = true;
  if (hash.has("plots")) patch.plots = readPlots(hash.get("plots")!);
  return { patch, eye: hash.get("eye") ?? "" };
}

/** Keeps the address up to date, but not at every frame. */
export function keepHash(store: Store, eye: () => string): () => void {
  let timer = 0;
  const write = (): void => {
    timer = 0;
    history.replaceState(null, "", writeHash(store.state, eye()));
  };
  const later = (): void => {
    if (!timer) timer = window.setTimeout(write, store.state.playing ? 1000 : 200);
  };
  store.on(later);
  return later;
}
