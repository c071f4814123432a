// The column of plots beside the picture.
import type { Run } from "../data/run";
import { findColumn, type RunInfo } from "../data/types";
import { plotsText } from "../state/hash";
import type { Player } from "../state/player";
import type { PlotSpec, Store } from "../state/store";
import { h } from "./dom";
import { openPicker } from "./picker";
import { Plot } from "./plot";

const MOST_GROUPS = 4; // plotted before anything is chosen
const MOST_CURVES = 6;

const frames = (column: string, component = 0): PlotSpec[number] => ({ table: "frames", column, component });

/** What a run shows before anything is chosen. */
export function defaultPlots(info: RunInfo): PlotSpec[] {
  const plane = info.header.planar ? [0, 1] : [0, 1, 2];
  return [plane.map((i) => frames("com", i)), energies(info), ...readings(info)].filter((plot) => plot.length > 0);
}

/** The groups of values of the first sensors, a plot each. */
function readings(info: RunInfo): PlotSpec[] {
  const groups = (info.header.sensors ?? []).flatMap(({ name, values }) => values.map((column) => ({ table: `sensor_${name}`, column })));
  return groups.slice(0, MOST_GROUPS).map(({ table, column }) => {
    const width = Math.min(MOST_CURVES, findColumn(info, table, column)?.width ?? 0);
    return Array.from({ length: width }, (_, component) => ({ table, column, component }));
  });
}

/** Energies and works that the run records. */
export function energies(info: RunInfo): PlotSpec {
  const columns = info.tables.find((t) => t.name === "frames")?.columns ?? [];
  const all = columns.filter((c) => c.unit === "J").map((c) => c.name);
  const main = ["kinetic", "potential", "work_motors", "work_friction", "work_contacts"].filter((n) => all.includes(n));
  const last = info.summary?.["energy"];
  const used = (name: string): boolean =>
    !(last && typeof last === "object" && !Array.isArray(last) && last[name.replace("work_", "")] === 0);
  return main.filter(used).map((name) => frames(name));
}

/** Leaves out what this run does not record. */
const known = (info: RunInfo, plots: PlotSpec[]): PlotSpec[] =>
  plots
    .map((plot) => plot.filter((s) => s.column === "force" || s.component < (findColumn(info, s.table, s.column)?.width ?? 0)))
    .filter((plot) => plot.length > 0);

export class Plots {
  readonly element = h("div", { class: "plots" });
  readonly plots: Plot[] = [];

  constructor(
    private readonly store: Store,
    private readonly runs: Run[],
    private readonly player: Player,
  ) {
    const add = h("button", { type: "button", class: "wide", onclick: () => openPicker(store, runs[0]!) }, "Add a plot…");
    this.element.append(add);
    new ResizeObserver(() => this.plots.forEach((plot) => plot.resize())).observe(this.element);
    store.watch(["plots"], () => this.arrange());
    store.watch(["time"], () => this.setTime());
    store.watch(["theme"], () => this.plots.forEach((plot) => plot.build()));
    this.arrange();
  }

  /** Reads all series again: the run has grown. */
  reload(): void {
    for (const plot of this.plots) void plot.load();
  }

  setTime(): void {
    for (const plot of this.plots) plot.setTime(this.store.state.time);
  }

  private arrange(): void {
    const wanted = known(this.runs[0]!.info, this.store.state.plots);
    const kept = new Map(this.plots.map((plot) => [plotsText([plot.spec]), plot]));
    this.plots.splice(0);
    for (const plot of kept.values()) plot.element.remove();
    for (const spec of wanted) this.plots.push(kept.get(plotsText([spec])) ?? this.make(spec));
    this.element.prepend(...this.plots.map((plot) => plot.element));
    for (const plot of this.plots) if (plot.curves.length === 0) void plot.load();
    this.setTime();
  }

  private make(spec: PlotSpec): Plot {
    return new Plot(
      spec,
      this.runs,
      (time) => this.player.seek(time),
      () => this.store.set({ plots: this.store.state.plots.filter((p) => plotsText([p]) !== plotsText([spec])) }),
    );
  }
}
