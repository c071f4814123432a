// The dialog that chooses a series: table, column, component, and for contacts which contact.
import type { Run } from "../data/run";
import type { ContactList, ContactPick } from "../data/source";
import type { Column, Table } from "../data/types";
import type { PlotSpec, Store } from "../state/store";
import { h, option } from "./dom";
import { energies } from "./plots";
import { componentName, contactName, FORCE } from "./series_names";

const MOST_COMPONENTS = 2000; // in a list
const KEYS = new Set(["kind", "a", "b", "feature"]); // they say which contact a row is of

/** Every pair that touches, and where it does so in several points also each of these. */
function picks({ contacts }: ContactList): ContactPick[] {
  const pairs = new Map<string, ContactPick[]>();
  for (const [a, b, feature] of contacts) {
    const pair = a < 0 ? { b } : { a, b };
    const key = `${a} ${b}`;
    if (!pairs.has(key)) pairs.set(key, [pair]);
    pairs.get(key)!.push({ ...pair, feature });
  }
  return [...pairs.values()].flatMap((list) => (list.length === 2 ? list.slice(0, 1) : list)).slice(0, MOST_COMPONENTS);
}

/** Rows of the others belong to rows of these. */
const overTime = ({ name, columns }: Table): boolean => name === "contacts" || columns.some((c) => c.name === "t");

export function openPicker(store: Store, run: Run): void {
  const { info } = run;
  const table = h("select", { id: "pick-table" }, ...info.tables.filter(overTime).map((t) => option(t.name)));
  const contact = h("select", { id: "pick-contact" });
  const column = h("select", { id: "pick-column" });
  const component = h("select", { id: "pick-component" });
  const target = h("select", { id: "pick-target" }, option("new", "a new plot"), ...store.state.plots.map((_, i) => option(String(i), `plot ${i + 1}`)));
  const about = h("p", { class: "muted" });
  const contactRow = row("Contact", contact);
  let known: ContactPick[] = [];
  const listContacts = async (): Promise<void> => {
    contact.replaceChildren(option("", "looking for contacts…"));
    for (let more = true; more && dialog.isConnected; ) {
      const list = await run.source.contacts(run.index);
      more = !list.complete && !list.full;
      known = picks(list);
      const names = known.map((pick) => contactName(info, pick));
      const before = names.indexOf(contact.selectedOptions[0]?.textContent ?? "");
      contact.replaceChildren(...names.map((name, i) => option(String(i), name)));
      if (known.length === 0) contact.append(option("", more ? "looking for contacts…" : "none occurs"));
      else contact.value = String(Math.max(0, before));
      addButton.disabled = table.value === "contacts" && known.length === 0;
    }
  };

  const columns = (): Column[] => {
    const recorded = info.tables.find((t) => t.name === table.value)?.columns ?? [];
    return table.value === "contacts" ? [FORCE, ...recorded.filter((c) => !KEYS.has(c.name))] : recorded;
  };
  const chosen = (): Column => columns().find((c) => c.name === column.value) ?? columns()[0]!;
  const showComponents = (): void => {
    const { name, width, unit, about: text } = chosen();
    const names = Array.from({ length: Math.min(width, MOST_COMPONENTS) }, (_, i) => option(String(i), componentName(info, table.value, name, i, width) || name));
    component.replaceChildren(...names);
    component.disabled = width === 1;
    about.textContent = [text, unit && `[${unit}]`].filter(Boolean).join(" ") || "\u00a0";
  };
  const showColumns = (): void => {
    column.replaceChildren(...columns().map((c) => option(c.name, c.name.replaceAll("_", " "))));
    contactRow.hidden = table.value !== "contacts";
    addButton.disabled = table.value === "contacts" && known.length === 0;
    if (table.value === "contacts" && known.length === 0)
      listContacts().catch((error: unknown) => contact.replaceChildren(option("", String(error))));
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
      ...(table.value === "contacts" ? known[Number(contact.value)] : {}),
    },
  ];
  const preset = (text: string, plot: () => PlotSpec): HTMLButtonElement =>
    h("button", { type: "button", onclick: () => add(plot()) }, text);
  const one = (t: string, c: string, i = 0): PlotSpec[number] => ({ table: t, column: c, component: i });

  const addButton = h("button", { type: "button", class: "main", id: "pick-add", onclick: () => add(picked(), target.value) }, "Add");
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
    contactRow,
    row("Column", column),
    row("Component", component),
    about,
    row("Draw in", target),
    h(
      "div",
      { class: "row end" },
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      addButton,
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  showColumns();
  dialog.showModal();
}

const row = (text: string, control: HTMLElement): HTMLLabelElement => h("label", { class: "field" }, h("span", {}, text), control);
