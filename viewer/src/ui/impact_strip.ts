// Energy bars along the time: at each impact the kinetic energy before as an outline and after as
// its filling; what was gained beyond the outline in red. A press jumps to the nearest impact.
import type { Run } from "../data/run";
import { findTable, type Impacts } from "../data/types";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h, short } from "./dom";
import { colour } from "./theme";
import { TimeStrip } from "./time_strip";

const BAR = 9; // width of a bar [px]
const TOP = 12; // above the highest bar [px]
const REACH = 8; // how far from a bar the pointer finds it [px]

export class ImpactStrip extends TimeStrip {
  data: Impacts | null = null;
  private readonly label = h("span", { class: "strip-label" });

  constructor(store: Store, run: Run, player: Player) {
    super(h("div", { class: "impact-strip", role: "img", hidden: true }), store, run, player);
    this.element.append(this.label);
    this.element.addEventListener("pointerdown", (event) => {
      const x = this.place(event);
      const i = this.near(x);
      player.seek(i >= 0 ? this.data!.t[i]! : this.toTime(x));
    });
    this.tell(h("div", { class: "impact-tip", role: "tooltip", hidden: true }), (x) => this.about(this.near(x)));
  }

  async load(): Promise<void> {
    if (!this.run.source.embedded && !findTable(this.run.info, "impacts")) return;
    this.data = await this.run.source.impacts(this.run.index);
    const count = this.data?.t.length ?? 0;
    this.element.hidden = count === 0;
    if (!this.data || count === 0) return;
    const gains = this.data.gained.filter((gain) => gain > 0).length;
    const text = `${count + this.data.left_out} impacts (${this.data.law})${gains > 0 ? `, ${gains} gained energy` : ""}`;
    this.element.setAttribute("aria-label", `kinetic energy before and after ${text}`);
    this.label.textContent = `▯ T before  ▮ T after, ${text}`;
    this.paint();
  }

  protected drawOn(draw: CanvasRenderingContext2D, width: number, height: number): void {
    if (!this.data) return;
    const { t, before, after, gained } = this.data;
    const most = t.reduce((m, _, i) => Math.max(m, before[i]!, after[i]!), 0) || 1;
    const tall = (energy: number): number => Math.max(1, ((height - TOP) * energy) / most);
    const [line, filling, gain] = [colour("muted"), colour("line-0"), colour("gain")];
    t.forEach((time, i) => {
      const x = Math.min(width - BAR - 1, Math.max(1, Math.round(this.toX(time) - BAR / 2)));
      const [high, now] = [tall(before[i]!), tall(after[i]!)];
      draw.fillStyle = filling;
      draw.fillRect(x, height - Math.min(high, now), BAR, Math.min(high, now));
      if (gained[i]! > 0) {
        draw.fillStyle = gain;
        draw.fillRect(x, height - now, BAR, Math.max(2, now - high));
      }
      draw.strokeStyle = line;
      draw.strokeRect(x + 0.5, height - high + 0.5, BAR - 1, high - 0.5);
    });
  }

  /** The impact at a place of the strip, or -1. */
  private near(x: number): number {
    let [best, distance] = [-1, REACH];
    this.data?.t.forEach((time, i) => {
      const away = Math.abs(this.toX(time) - x);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }

  private about(i: number): string | null {
    if (i < 0) return null;
    const { t, before, after, about } = this.data!;
    const [a, b] = [before[i]!, after[i]!];
    const change = a > 0 ? ` (${(100 * (b / a - 1)).toPrecision(4)} %)` : "";
    const what = b > a ? "gain" : "loss";
    return [`impact at ${short(t[i]!, 8)} s`, `T− ${short(a, 6)} J, T+ ${short(b, 6)} J, ${what} ${short(Math.abs(a - b), 6)} J${change}`, about[i]!].join("\n");
  }
}
