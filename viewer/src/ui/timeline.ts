// The strip along the time: solver iterations as bars, the residual as a line on a logarithmic
// scale, and the present time. It is the slider of the player.
import type { Run } from "../data/run";
import type { Series } from "../data/source";
import { findColumn } from "../data/types";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h, short } from "./dom";
import { colour } from "./theme";
import { TimeStrip } from "./time_strip";

const POINTS = 4000;
const TOP = 14; // of the graph, below the labels [px]
const BOTTOM = 15; // for the times [px]

interface Scale {
  low: number; // decades of the residual
  high: number;
  most: number; // iterations
}

export class Timeline extends TimeStrip {
  private readonly label = h("span", { class: "strip-label" });
  private iterations: Series | null = null;
  private residual: Series | null = null;

  constructor(store: Store, run: Run, player: Player) {
    super(h("div", { class: "timeline", role: "slider", tabindex: 0, "aria-label": "time" }), store, run, player);
    this.element.append(this.label);
    this.seekByDrag();
  }

  async load(): Promise<void> {
    const read = (column: string): Promise<Series | null> =>
      findColumn(this.run.info, "steps", column)
        ? this.run.source.series(this.run.index, { table: "steps", column, component: 0 }, POINTS)
        : Promise.resolve(null);
    [this.iterations, this.residual] = await Promise.all([read("iterations"), read("residual")]);
    this.paint();
  }

  protected override showTime(): void {
    super.showTime();
    const { time } = this.store.state;
    this.element.setAttribute("aria-valuemin", String(this.player.start));
    this.element.setAttribute("aria-valuemax", String(this.player.end));
    this.element.setAttribute("aria-valuenow", String(time));
    this.element.setAttribute("aria-valuetext", `${time.toFixed(3)} seconds`);
  }

  protected drawOn(draw: CanvasRenderingContext2D, width: number, height: number): void {
    this.paintTicks(draw, width, height);
    const scale = this.scale();
    if (this.iterations) this.paintIterations(draw, this.iterations, scale, height);
    if (this.residual) this.paintResidual(draw, this.residual, scale, height);
    this.label.replaceChildren(
      h("span", { class: "iterations" }, `▮ iterations, most ${scale.most}`),
      h("span", { class: "residual" }, scale.high > scale.low ? `― residual, 1e${scale.low} to 1e${scale.high} m/s` : "― residual 0"),
    );
  }

  private scale(): Scale {
    let low = Infinity;
    let high = -Infinity;
    for (const y of this.residual?.y ?? []) {
      if (!(y > 0)) continue;
      low = Math.min(low, y);
      high = Math.max(high, y);
    }
    let most = 0;
    for (const n of this.iterations?.y ?? []) most = Math.max(most, n);
    if (!(high > 0)) return { low: 0, high: 0, most };
    const top = Math.ceil(Math.log10(high));
    return { low: Math.min(top - 1, Math.max(Math.floor(Math.log10(low)), top - 8)), high: top, most };
  }

  private paintTicks(draw: CanvasRenderingContext2D, width: number, height: number): void {
    const raw = (this.span / width) * 90;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw) ?? raw;
    draw.font = "11px system-ui, sans-serif";
    draw.fillStyle = colour("muted");
    draw.strokeStyle = colour("hair");
    for (let t = Math.ceil(this.player.start / step) * step; t <= this.player.end + 1e-9; t += step) {
      const x = Math.round(this.toX(t)) + 0.5;
      draw.beginPath();
      draw.moveTo(x, TOP);
      draw.lineTo(x, height - BOTTOM);
      draw.stroke();
      const text = `${short(Number(t.toPrecision(10)))} s`;
      const half = draw.measureText(text).width / 2;
      draw.fillText(text, Math.min(width - 2 * half - 1, Math.max(1, x - half)), height - 4);
    }
  }

  private paintIterations(draw: CanvasRenderingContext2D, { t, y }: Series, { most }: Scale, height: number): void {
    const tall = height - TOP - BOTTOM;
    draw.fillStyle = colour("bars");
    const columns = new Float64Array(Math.ceil(this.element.clientWidth));
    for (let i = 0; i < t.length; ++i) {
      const x = Math.min(columns.length - 1, Math.max(0, Math.floor(this.toX(t[i]!))));
      columns[x] = Math.max(columns[x]!, y[i]!);
    }
    columns.forEach((n, x) => {
      const bar = (tall * n) / Math.max(1, most);
      draw.fillRect(x, height - BOTTOM - bar, 1, bar);
    });
  }

  private paintResidual(draw: CanvasRenderingContext2D, { t, y }: Series, { low, high }: Scale, height: number): void {
    const tall = height - TOP - BOTTOM;
    draw.strokeStyle = colour("line-1");
    draw.lineWidth = 1;
    draw.beginPath();
    for (let i = 0; i < t.length; ++i) {
      const part = y[i]! > 0 && high > low ? Math.min(1, Math.max(0, (Math.log10(y[i]!) - low) / (high - low))) : 0;
      draw.lineTo(this.toX(t[i]!), height - BOTTOM - tall * part);
    }
    draw.stroke();
  }
}
