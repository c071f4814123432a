// Elements in one expression. Text is always text: nothing from a file becomes markup.

type Properties = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;
type Child = Node | string;

/** h("button", {class: "x", "aria-label": "…", onclick: f}, "text") */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

export const option = (value: string, text = value): HTMLOptionElement => h("option", { value }, text);

/** A button that is on or off. */
export function toggle(text: string, label: string, click: () => void): { button: HTMLButtonElement; show(on: boolean): void } {
  const button = h("button", { type: "button", title: label, "aria-label": label, "aria-pressed": "false", onclick: click }, text);
  return { button, show: (on) => button.setAttribute("aria-pressed", String(on)) };
}

/** A number for reading: a few digits, no trailing zeros. */
export function short(x: number, digits = 4): string {
  if (Number.isNaN(x)) return "–";
  if (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5)) return x.toExponential(digits - 2).replace("e+", "e");
  return String(Number(x.toPrecision(digits)));
}

export function download(blob: Blob, name: string): void {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
