// What is drawn, and from where: cameras, forces with their scale, trails.
import { findColumn, type RunInfo } from "../data/types";
import { hiddenShapes } from "../scene/pieces";
import { MODE_COLOURS, MODE_NAMES } from "../scene/palette";
import { rodColours, type RodColour } from "../scene/rod_values";
import type { View } from "../scene/view";
import type { CameraMode, Store } from "../state/store";
import { h, option, short, toggle } from "./dom";

export class Toolbar {
  readonly element = h("div", { class: "toolbar", role: "toolbar", "aria-label": "Picture" });

  constructor(
    private readonly store: Store,
    info: RunInfo,
    private readonly view: View,
    fit: () => void,
  ) {
    this.element.append(this.cameras(info, fit), this.forces(info), ...this.shapes(info), ...this.rods(info), this.trails(info));
  }

  private cameras(info: RunInfo, fit: () => void): HTMLElement {
    const { store } = this;
    const modes: [CameraMode, string, string][] = [
      ["orbit", "Orbit", "camera that orbits (c)"],
      ["top", "Top", "view from the top (c)"],
    ];
    const buttons = modes.map(([mode, text, label]) => ({ mode, ...toggle(text, label, () => store.set({ camera: mode })) }));
    const follow = h("select", { "aria-label": "follow", title: "what the camera follows" }, option("", "stay"), option("com", "follow centre of mass"));
    follow.append(...info.header.bodies.map((b) => option(b.name, `follow ${b.name}`)));
    follow.addEventListener("change", () => store.set({ follow: follow.value }));
    const show = (): void => {
      for (const { mode, show: press } of buttons) press(store.state.camera === mode);
      follow.value = store.state.follow;
    };
    store.watch(["camera", "follow"], show);
    show();
    const reset = h("button", { type: "button", title: "show everything (0)", onclick: fit }, "Fit");
    return group("Camera", ...buttons.map((b) => b.button), follow, reset);
  }

  private forces(info: RunInfo): HTMLElement {
    const { store } = this;
    const contacts = toggle("Contacts", "forces of contacts (f)", () => store.set({ contacts: !store.state.contacts }));
    const supports = toggle("Supports", "friction forces of the ground (g)", () => store.set({ supports: !store.state.supports }));
    const fluids = toggle("Fluids", "forces of fluids (w)", () => store.set({ fluids: !store.state.fluids }));
    const flow = toggle("Flow", "how fluids flow, and their vortices (v)", () => store.set({ flow: !store.state.flow }));
    const slider = h("input", { type: "range", min: -2, max: 2, step: 0.05, "aria-label": "length of the force arrows", title: "length of the force arrows" });
    slider.addEventListener("input", () => store.set({ forceScale: 10 ** Number(slider.value) }));
    slider.addEventListener("dblclick", () => store.set({ forceScale: 1 }));
    const scale = h("span", { class: "scale" });
    const show = (): void => {
      contacts.show(store.state.contacts);
      supports.show(store.state.supports);
      fluids.show(store.state.fluids);
      flow.show(store.state.flow);
      slider.value = String(Math.log10(store.state.forceScale));
      scale.textContent = this.scaleText();
    };
    store.watch(["contacts", "supports", "fluids", "flow", "forceScale"], show);
    show();
    const legend = [1, 2, 3].map((mode) => {
      const dot = h("i", { class: "dot" });
      dot.style.background = MODE_COLOURS[mode]!;
      return h("span", { class: "mode", title: ["", "sticks", "slips", "carries load without friction"][mode]! }, dot, MODE_NAMES[mode]!);
    });
    const water = [fluids.button, ...(findColumn(info, "frames", "flow") ? [flow.button] : [])];
    const more = [...(info.header.supports > 0 ? [supports.button] : []), ...(info.header.fluids?.length ? water : [])];
    return group("Forces", contacts.button, ...more, slider, scale, ...legend);
  }

  /** "10 cm = 20 N" at the present scale. */
  scaleText(): string {
    return `10 cm = ${short(0.1 / this.view.metresPerNewton, 2)} N`;
  }

  /** Only where there is something to choose: bodies that have visuals, and shapes to touch with. */
  private shapes(info: RunInfo): HTMLElement[] {
    const { store } = this;
    if (hiddenShapes(info.header).length === 0) return [];
    const shapes = toggle("Contact shapes", "shapes that touch (s)", () => store.set({ shapes: !store.state.shapes }));
    const show = (): void => shapes.show(store.state.shapes);
    store.watch(["shapes"], show);
    show();
    return [group("Bodies", shapes.button)];
  }

  private rods(info: RunInfo): HTMLElement[] {
    const { store } = this;
    if (!info.header.rods?.length) return [];
    const colour = h("select", { "aria-label": "colour of rods", title: "what colours rods (o)" });
    colour.append(...rodColours(info.header).map(([value, text, unit]) => option(value, unit ? `${text} [${unit}]` : text)));
    colour.addEventListener("change", () => store.set({ rods: colour.value as RodColour }));
    const show = (): void => {
      colour.value = store.state.rods;
    };
    store.watch(["rods"], show);
    show();
    return [group("Rods", colour)];
  }

  private trails(info: RunInfo): HTMLElement {
    const { store } = this;
    const has = (name: string): boolean => store.state.trails.includes(name);
    const flip = (name: string): void =>
      store.set({ trails: has(name) ? store.state.trails.filter((t) => t !== name) : [...store.state.trails, name] });
    const com = toggle("Centre of mass", "path of the centre of mass (t)", () => flip("com"));
    const more = h("select", { "aria-label": "path of a body", title: "path of a body: choose to show or hide" });
    more.addEventListener("change", () => {
      if (more.value) flip(more.value);
    });
    const show = (): void => {
      com.show(has("com"));
      const shown = store.state.trails.filter((t) => t !== "com");
      more.replaceChildren(
        option("", shown.length > 0 ? shown.join(", ") : "bodies…"),
        ...info.header.bodies.map((b) => option(b.name, `${has(b.name) ? "✓ " : ""}${b.name}`)),
      );
    };
    store.watch(["trails"], show);
    show();
    return group("Trails", com.button, more);
  }
}

const group = (name: string, ...children: HTMLElement[]): HTMLElement =>
  h("div", { class: "group", role: "group", "aria-label": name }, h("span", { class: "name" }, name), ...children);
