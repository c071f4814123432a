// The modes along the time: a coloured stretch for each, impacts as ticks. A press sets the time.
import type { Run } from "../data/run";
import { findTable, type Modes } from "../data/types";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h, short } from "./dom";
import { colour } from "./theme";
import { TimeStrip } from "./time_strip";

const COLOURS = 8; // --line-0 ... --line-7
const FREE = "{}"; // nothing holds: no colour of its own
const TICK = 6; // of an impact [px]

export class ModeStrip extends TimeStrip {
  data: Modes | null = null;

  constructor(store: Store, run: Run, player: Player) {
    super(h("div", { class: "mode-strip", role: "img", hidden: true }), store, run, player);
    this.seekByDrag();
    this.tell(h("div", { class: "mode-tip", role: "tooltip", hidden: true }), (x) => this.about(this.toTime(x)));
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

  /** Colours by the order of appearance, which a longer run keeps. */
  private colours({ modes }: Modes): string[] {
    let used = 0;
    return modes.map(({ name }) => (name === FREE ? colour("edge") : colour(`line-${used++ % COLOURS}`)));
  }

  protected drawOn(draw: CanvasRenderingContext2D, _width: number, height: number): void {
    if (!this.data) return;
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
  }

  /** What is under a time, in words. */
  private about(time: number): string | null {
    if (!this.data) return null;
    const { modes, from, to, mode, cause, impacts, left_out } = this.data;
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
}
