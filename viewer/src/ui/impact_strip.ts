// Energy bars along the time: at each impact the kinetic energy before as an outline and after as
// its filling; what was gained beyond the outline in red. A press jumps to the nearest impact.
import type { Run } from "../data/run";
import { findTable, type Impacts } from "../data/types";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h, short } from "./dom";
import { colour } from "./theme";

const BAR = 9; // width of a bar [px]
const TOP = 12; // above the highest bar [px]
const REACH = 8; // how far from a bar the pointer finds it [px]

export class ImpactStrip {
  readonly element = h("div", { class: "impact-strip", role: "img", hidden: true });
  data: Impacts | null = null;
  private readonly canvas = h("canvas");
  private readonly head = h("div", { class: "playhead" });
  private readonly label = h("span", { class: "strip-label" });
  private readonly tip = h("div", { class: "impact-tip", role: "tooltip", hidden: true });

  constructor(
    private readonly store: Store,
    private readonly run: Run,
    private readonly player: Player,
  ) {
    this.element.append(this.canvas, this.head, this.label, this.tip);
    new ResizeObserver(() => this.paint()).observe(this.element);
    store.watch(["theme"], () => this.paint());
    store.watch(["time"], () => this.showTime());
    this.connect();
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

  private get span(): number {
    return Math.max(1e-12, this.player.end - this.player.start);
  }
  private toX(time: number): number {
    return ((time - this.player.start) / this.span) * this.element.clientWidth;
  }

  private showTime(): void {
    this.head.style.transform = `translateX(${this.toX(this.store.state.time)}px)`;
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
    this.showTime();
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

  private about(i: number): string {
    const { t, before, after, about } = this.data!;
    const [a, b] = [before[i]!, after[i]!];
    const change = a > 0 ? ` (${(100 * (b / a - 1)).toPrecision(4)} %)` : "";
    const what = b > a ? "gain" : "loss";
    return [`impact at ${short(t[i]!, 8)} s`, `T− ${short(a, 6)} J, T+ ${short(b, 6)} J, ${what} ${short(Math.abs(a - b), 6)} J${change}`, about[i]!].join("\n");
  }

  private connect(): void {
    const { element, tip } = this;
    const place = (event: PointerEvent): number => event.clientX - element.getBoundingClientRect().left;
    element.addEventListener("pointerdown", (event) => {
      const i = this.near(place(event));
      this.player.seek(i >= 0 ? this.data!.t[i]! : this.player.start + (place(event) / element.clientWidth) * this.span);
    });
    element.addEventListener("pointermove", (event) => {
      const x = place(event);
      const i = this.near(x);
      tip.hidden = i < 0;
      if (i < 0) return;
      tip.textContent = this.about(i);
      tip.style.left = `${Math.max(0, Math.min(element.clientWidth - tip.offsetWidth, x - tip.offsetWidth / 2))}px`;
    });
    element.addEventListener("pointerleave", () => (tip.hidden = true));
  }
}
