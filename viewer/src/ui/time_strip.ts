// A strip along the time: a canvas as wide as the run is long, with the present time in it.
import type { Run } from "../data/run";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { h } from "./dom";

export abstract class TimeStrip {
  private readonly canvas = h("canvas");
  private readonly head = h("div", { class: "playhead" });

  constructor(
    readonly element: HTMLElement,
    protected readonly store: Store,
    protected readonly run: Run,
    protected readonly player: Player,
  ) {
    element.append(this.canvas, this.head);
    new ResizeObserver(() => this.paint()).observe(element);
    store.watch(["theme"], () => this.paint());
    store.watch(["time"], () => this.showTime());
  }

  /** Draws on an empty canvas, in pixels of the page. */
  protected abstract drawOn(draw: CanvasRenderingContext2D, width: number, height: number): void;

  protected paint(): void {
    const ratio = Math.min(2, window.devicePixelRatio);
    const { clientWidth: width, clientHeight: height } = this.element;
    const draw = this.canvas.getContext("2d");
    if (!draw || width === 0) return;
    this.canvas.width = Math.round(width * ratio); // empties it
    this.canvas.height = Math.round(height * ratio);
    draw.scale(ratio, ratio);
    this.drawOn(draw, width, height);
    this.showTime();
  }

  protected showTime(): void {
    this.head.style.transform = `translateX(${this.toX(this.store.state.time)}px)`;
  }

  protected get span(): number {
    return Math.max(1e-12, this.player.end - this.player.start);
  }
  protected toX(time: number): number {
    return ((time - this.player.start) / this.span) * this.element.clientWidth;
  }
  protected toTime(x: number): number {
    return this.player.start + (x / this.element.clientWidth) * this.span;
  }
  /** Where the pointer is, from the strip's left end [px]. */
  protected place(event: PointerEvent): number {
    return event.clientX - this.element.getBoundingClientRect().left;
  }

  /** A press sets the time, and so does a drag. */
  protected seekByDrag(): void {
    const { element } = this;
    const go = (event: PointerEvent): void => this.player.seek(this.toTime(this.place(event)));
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      go(event);
    });
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) go(event);
    });
  }

  /** Words about what is under the pointer; null: nothing is. */
  protected tell(tip: HTMLElement, about: (x: number) => string | null): void {
    const { element } = this;
    element.append(tip);
    element.addEventListener("pointermove", (event) => {
      const x = this.place(event);
      const text = about(x);
      tip.hidden = text === null;
      if (text === null) return;
      tip.textContent = text;
      tip.style.left = `${Math.max(0, Math.min(element.clientWidth - tip.offsetWidth, x - tip.offsetWidth / 2))}px`;
    });
    element.addEventListener("pointerleave", () => (tip.hidden = true));
  }
}
