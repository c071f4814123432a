// One plot: series of all runs over time, a cursor at the present time, the values there.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { lastNotAfter, type Run } from "../data/run";
import { readSeries } from "../data/series";
import type { Series } from "../data/source";
import type { PlotSpec } from "../state/store";
import { h, short } from "./dom";
import { seriesName, seriesUnit } from "./series_names";
import { colour } from "./theme";

const POINTS = 4000;
export const LINES = 8; // colours --line-0 ... of the style sheet

interface Curve {
  name: string;
  unit: string;
  run: number;
  line: number; // colour
  data: Series;
}

export class Plot {
  readonly element = h("section", { class: "plot" });
  curves: Curve[] = [];
  private readonly box = h("div", { class: "plot-box" });
  private readonly legend = h("div", { class: "plot-legend" });
  private readonly title = h("h3");
  private readonly cursor = h("div", { class: "plot-cursor" });
  private values: HTMLElement[] = [];
  private chart: uPlot | null = null;
  private time = 0;
  private stamp = 0;

  constructor(
    readonly spec: PlotSpec,
    private readonly runs: Run[],
    private readonly seek: (time: number) => void,
    remove: () => void,
  ) {
    const label = `remove the plot of ${spec.map((s) => seriesName(runs[0]!.info, s)).join(", ")}`;
    const close = h("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick: remove }, "✕");
    this.element.append(h("header", {}, this.title, close), this.box, this.legend);
  }

  async load(): Promise<void> {
    const stamp = ++this.stamp;
    const jobs = this.spec.flatMap((query, line) =>
      this.runs.map(async (run): Promise<Curve> => {
        const data = await readSeries(run, query, POINTS).catch((): Series => ({ t: new Float64Array(), y: new Float64Array(), reduction: "exact" }));
        const suffix = this.runs.length > 1 ? ` (${"AB"[run.index]})` : "";
        return { name: seriesName(run.info, query) + suffix, unit: seriesUnit(run.info, query), run: run.index, line: line % LINES, data };
      }),
    );
    const curves = await Promise.all(jobs);
    if (stamp !== this.stamp) return; // a later call overtook
    this.curves = curves;
    this.build();
  }

  setTime(time: number): void {
    this.time = time;
    this.curves.forEach(({ data, unit }, i) => {
      const y = data.t.length > 0 && time >= data.t[0]! ? data.y[lastNotAfter(data.t, time + 1e-9)]! : NaN;
      const text = `${short(y)} ${unit}`;
      const cell = this.values[i];
      if (cell && cell.textContent !== text) cell.textContent = text;
    });
    if (!this.chart) return;
    const x = this.chart.valToPos(time, "x");
    const inside = x >= 0 && x <= this.chart.over.clientWidth;
    this.cursor.style.display = inside ? "block" : "none";
    this.cursor.style.transform = `translateX(${x}px)`;
  }

  resize(): void {
    const width = this.box.clientWidth;
    if (this.chart && width > 0) this.chart.setSize({ width, height: this.height });
    this.setTime(this.time);
  }

  build(): void {
    this.chart?.destroy();
    this.title.textContent = this.heading();
    const tables = this.curves.map(({ data }) => [data.t, data.y] as uPlot.AlignedData);
    const data = tables.length === 1 ? tables[0]! : uPlot.join(tables, tables.map((t) => t.slice(1).map(() => 2)));
    this.chart = new uPlot(this.options(), data.length > 0 ? data : [[]], this.box);
    this.chart.over.append(this.cursor);
    this.connect(this.chart.over);
    this.buildLegend();
    this.setTime(this.time);
  }

  private get height(): number {
    return 168;
  }

  private heading(): string {
    const units = new Set(this.curves.map((c) => c.unit));
    const unit = units.size === 1 && [...units][0] ? ` [${[...units][0]}]` : "";
    const names = [...new Set(this.spec.map((s) => (s.column === "pose" ? "position" : s.column)))];
    const known: Record<string, string> = { com: "centre of mass", force: "contact force", residual: "solver residual", iterations: "solver iterations" };
    const energies = names.every((n) => n === "kinetic" || n === "potential" || n.startsWith("work_"));
    const sensors = [...new Set(this.spec.map((s) => s.table).filter((t) => t.startsWith("sensor_")))].map((t) => `${t.slice(7)}: `);
    return sensors.join("") + (energies && names.length > 1 ? "energies" : names.slice(0, 3).map((n) => known[n] ?? n.replaceAll("_", " ")).join(", ")) + unit;
  }

  private options(): uPlot.Options {
    const axis = { stroke: colour("muted"), grid: { stroke: colour("hair"), width: 1 }, ticks: { stroke: colour("hair"), width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    const wide = (values: string[] | null): number => 16 + 6.5 * Math.max(2, ...(values ?? []).map((v) => v.length));
    return {
      width: Math.max(120, this.box.clientWidth),
      height: this.height,
      pxAlign: 0,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [
        { ...axis, size: 26, gap: 3, values: (_, ticks) => ticks.map((t) => short(t)) },
        { ...axis, size: (_, values) => wide(values), gap: 3, values: (_, ticks) => ticks.map((t) => (t === null ? "" : short(t, 3))) },
      ],
      series: [
        {},
        ...this.curves.map((curve) => ({
          stroke: colour(`line-${curve.line}`),
          width: 1.5,
          points: { show: false },
          ...(curve.run === 1 ? { dash: [5, 4] } : {}),
        })),
      ],
    };
  }

  private buildLegend(): void {
    this.values = [];
    this.legend.replaceChildren(
      ...this.curves.map((curve) => {
        const value = h("b");
        this.values.push(value);
        const swatch = h("i", { class: curve.run === 1 ? "dashed" : "" });
        swatch.style.borderTopColor = colour(`line-${curve.line}`);
        return h("span", { title: curve.data.reduction === "exact" ? "every row" : `${curve.data.reduction} rows` }, swatch, curve.name, " ", value);
      }),
    );
  }

  /** A press or a drag on the plot sets the time. */
  private connect(over: HTMLElement): void {
    const go = (event: PointerEvent): void => {
      if (this.chart) this.seek(this.chart.posToVal(event.offsetX, "x"));
    };
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      go(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (over.hasPointerCapture(event.pointerId)) go(event);
    });
  }
}
