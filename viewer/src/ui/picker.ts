// The dialog that chooses a series: table, column, component, and for contacts which contact.
import type { Column, RunInfo } from "../data/types";
import type { PlotSpec, Store } from "../state/store";
import { h, option } from "./dom";
import { energies } from "./plots";
import { componentName, FORCE, slotName } from "./series_names";

const MOST_COMPONENTS = 2000; // in a list

export function openPicker(store: Store, info: RunInfo): void {
  const table = h("select", { id: "pick-table" }, ...info.tables.map((t) => option(t.name)));
  const slot = h("select", { id: "pick-slot" });
  const column = h("select", { id: "pick-column" });
  const component = h("select", { id: "pick-component" });
  const target = h("select", { id: "pick-target" }, option("new", "a new plot"), ...store.state.plots.map((_, i) => option(String(i), `plot ${i + 1}`)));
  const about = h("p", { class: "muted" });
  const slotRow = row("Contact", slot);
  slot.append(...Object.keys(info.header.contact_slots).map((key) => option(key, slotName(info, Number(key)))));

  const columns = (): Column[] => {
    const recorded = info.tables.find((t) => t.name === table.value)?.columns ?? [];
    return table.value === "contacts" ? [FORCE, ...recorded.filter((c) => c.name !== "slot")] : recorded;
  };
  const chosen = (): Column => columns().find((c) => c.name === column.value) ?? columns()[0]!;
  const showComponents = (): void => {
    const { name, width, unit, about: text } = chosen();
    const names = Array.from({ length: Math.min(width, MOST_COMPONENTS) }, (_, i) => option(String(i), componentName(info, name, i, width) || name));
    component.replaceChildren(...names);
    component.disabled = width === 1;
    about.textContent = [text, unit && `[${unit}]`].filter(Boolean).join(" ") || "\u00a0";
  };
  const showColumns = (): void => {
    column.replaceChildren(...columns().map((c) => option(c.name, c.name.replaceAll("_", " "))));
    slotRow.hidden = table.value !== "contacts";
    showComponents();
  };
  table.value = info.tables.some((t) => t.name === "frames") ? "frames" : table.value;
  table.addEventListener("change", showColumns);
  column.addEventListener("change", showComponents);

  const add = (plot: PlotSpec, to = "new"): void => {
    const plots = store.state.plots;
    const index = Number(to);
    store.set({ plots: to === "new" ? [...plots, plot] : plots.map((p, i) => (i === index ? [...p, ...plot] : p)) });
    dialog.close();
  };
  const picked = (): PlotSpec => [
    {
      table: table.value,
      column: chosen().name,
      component: Number(component.value || 0),
      ...(table.value === "contacts" ? { slot: Number(slot.value) } : {}),
    },
  ];
  const preset = (text: string, plot: () => PlotSpec): HTMLButtonElement =>
    h("button", { type: "button", onclick: () => add(plot()) }, text);
  const one = (t: string, c: string, i = 0): PlotSpec[number] => ({ table: t, column: c, component: i });

  const dialog = h(
    "dialog",
    { "aria-label": "Add a plot" },
    h("h2", {}, "Add a plot"),
    h(
      "div",
      { class: "row" },
      preset("Centre of mass", () => [0, 1, 2].map((i) => one("frames", "com", i))),
      preset("Energies", () => energies(info)),
      preset("Solver iterations", () => [one("steps", "iterations")]),
      preset("Residual", () => [one("steps", "residual")]),
    ),
    row("Table", table),
    slotRow,
    row("Column", column),
    row("Component", component),
    about,
    row("Draw in", target),
    h(
      "div",
      { class: "row end" },
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      h("button", { type: "button", class: "main", id: "pick-add", onclick: () => add(picked(), target.value) }, "Add"),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  showColumns();
  dialog.showModal();
}

const row = (text: string, control: HTMLElement): HTMLLabelElement => h("label", { class: "field" }, h("span", {}, text), control);
