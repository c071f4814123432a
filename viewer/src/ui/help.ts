// The keys, in a dialog.
import { h } from "./dom";

const KEYS: [string, string][] = [
  ["space", "play or pause"],
  [". and ,", "one frame on, one frame back"],
  ["← and →", "a hundredth of the run back, on"],
  ["Home, End", "to the start, to the end"],
  ["+ and -", "faster, slower"],
  ["l", "loop"],
  ["c", "orbit camera or top view"],
  ["0", "show everything"],
  ["f, g", "forces of contacts, of supports"],
  ["w, v", "forces of fluids; how they flow, and their vortices"],
  ["o", "what colours rods"],
  ["s", "contact shapes of bodies that are drawn otherwise"],
  ["t", "path of the centre of mass"],
  ["a", "add a plot"],
  ["p", "save a picture (PNG)"],
  ["d", "dark or light"],
  ["?", "this help"],
];

export function openHelp(): void {
  const close = h("button", { type: "button", class: "main", onclick: () => dialog.close() }, "Close");
  const dialog = h(
    "dialog",
    { "aria-label": "Keys" },
    h("h2", {}, "Keys"),
    h("table", {}, h("tbody", {}, ...KEYS.map(([key, what]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, what))))),
    h("p", { class: "muted" }, "Drag in the picture to turn it, with the right button to move it, scroll to zoom. Press or drag on a plot or the strip to set the time. The address of the page always holds the time, the camera and the plots: copy it to come back."),
    h("div", { class: "row end" }, close),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
