// The modes along the time: a coloured stretch for each, impacts as ticks. A press sets the time.
import type { Run } from "../data/run";
import { findTable, type Modes } from "../data/types";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h, short } from "./dom";
import { colour } from "./theme";

const COLOURS = 8; // --line-0 ... --line-7
const FREE = "{}"; // nothing holds: no colour of its own
const TICK = 6; // of an impact [px]

export class ModeStrip {
  readonly element = h("div", { class: "mode-strip", role: "img", hidden: true });
  data: Modes | null = null;
  private readonly canvas = h("canvas");
  private readonly head = h("div", { class: "playhead" });
  private readonly tip = h("div", { class: "mode-tip", role: "tooltip", hidden: true });

  constructor(
    private readonly store: Store,
    private readonly run: Run,
    private readonly player: Player,
  ) {
    this.element.append(this.canvas, this.head, this.tip);
    new ResizeObserver(() => this.paint()).observe(this.element);
    store.watch(["theme"], () => this.paint());
    store.watch(["time"], () => this.showTime());
    this.connect();
  }

  async load(): Promise<void> {
    if (!this.run.source.embedded && !findTable(this.run.info, "modes")) return;
    this.data = await this.run.source.modes(this.run.index);
    this.element.hidden = this.data === null;
    if (!this.data) return;
    const { modes, from, impacts } = this.data;
    this.element.setAttribute("aria-label", `modes along the time: ${from.length} stretches in ${modes.length} modes, ${impacts.length} impacts`);
    this.paint();
  }

  private get span(): number {
    return Math.max(1e-12, this.player.end - this.player.start);
  }
  private toX(time: number): number {
    return ((time - this.player.start) / this.span) * this.element.clientWidth;
  }
  private toTime(event: PointerEvent): number {
    const x = event.clientX - this.element.getBoundingClientRect().left;
    return this.player.start + (x / this.element.clientWidth) * this.span;
  }

  private showTime(): void {
    this.head.style.transform = `translateX(${this.toX(this.store.state.time)}px)`;
  }

  /** Colours by the order of appearance, which a longer run keeps. */
  private colours({ modes }: Modes): string[] {
    let used = 0;
    return modes.map(({ name }) => (name === FREE ? colour("edge") : colour(`line-${used++ % COLOURS}`)));
  }

  private paint(): void {
    const ratio = Math.min(2, window.devicePixelRatio);
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    const draw = this.canvas.getContext("2d");
    if (!draw || !this.data || width === 0) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    draw.scale(ratio, ratio);
    const { modes, from, to, mode, impacts } = this.data;
    const colours = this.colours(this.data);
    draw.font = "600 11px system-ui, sans-serif";
    draw.textBaseline = "middle";
    mode.forEach((m, i) => {
      const x = this.toX(from[i]!);
      const wide = Math.max(1, this.toX(to[i]!) - x); // a short one is seen, too
      draw.fillStyle = colours[m]!;
      draw.fillRect(x, 0, wide, height);
      const { name } = modes[m]!;
      const text = draw.measureText(name).width;
      if (text + 8 > wide) return;
      draw.fillStyle = name === FREE ? colour("text") : colour("panel");
      draw.fillText(name, x + (wide - text) / 2, height / 2 + 1);
    });
    draw.fillStyle = colour("text");
    for (const t of impacts) {
      const x = this.toX(t);
      draw.beginPath();
      draw.moveTo(x - TICK / 2, 0);
      draw.lineTo(x + TICK / 2, 0);
      draw.lineTo(x, TICK);
      draw.fill();
    }
    this.showTime();
  }

  /** What is under a time, in words. */
  private about(time: number): string {
    const { modes, from, to, mode, cause, impacts, left_out } = this.data!;
    const pixel = this.span / this.element.clientWidth;
    let i = from.findIndex((t, k) => t <= time && time <= to[k]!);
    if (i < 0) i = from.findIndex((t, k) => t - pixel <= time && time <= to[k]! + pixel);
    const lines: string[] = [];
    if (i >= 0) {
      const { name, holds, slips } = modes[mode[i]!]!;
      lines.push(`${name}  ${short(from[i]!, 8)} to ${short(to[i]!, 8)} s`);
      lines.push(`holds: ${holds || "nothing"}${slips ? `; slips: ${slips}` : ""}`);
      lines.push(`begun by: ${cause[i]!}`);
    } else lines.push(left_out.stretches > 0 ? "too short to be shown" : "no mode recorded");
    const near = impacts.filter((t) => Math.abs(t - time) <= 3 * pixel);
    if (near.length === 1) lines.push(`impact at ${short(near[0]!, 8)} s`);
    if (near.length > 1) lines.push(`${near.length} impacts from ${short(near[0]!, 8)} s`);
    return lines.join("\n");
  }

  private connect(): void {
    const { element, tip } = this;
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.player.seek(this.toTime(event));
    });
    element.addEventListener("pointermove", (event) => {
      if (!this.data) return;
      const time = this.toTime(event);
      if (element.hasPointerCapture(event.pointerId)) this.player.seek(time);
      tip.textContent = this.about(time);
      tip.hidden = false;
      const x = event.clientX - element.getBoundingClientRect().left;
      tip.style.left = `${Math.max(0, Math.min(element.clientWidth - tip.offsetWidth, x - tip.offsetWidth / 2))}px`;
    });
    element.addEventListener("pointerleave", () => (tip.hidden = true));
  }
}
