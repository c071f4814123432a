// The keyboard.
import type { Header } from "../data/types";
import { rodColours, type RodColour } from "../scene/rod_values";
import type { Player } from "../state/player";
import type { Store } from "../state/store";
import { openHelp } from "./help";
import { toggleTheme } from "./theme";
import { SPEEDS } from "./transport";

export interface Actions {
  header(): Header;
  fit(): void;
  picture(): void;
  addPlot(): void;
}

function faster(store: Store, by: 1 | -1): void {
  const { speed } = store.state;
  const next = by > 0 ? SPEEDS.find((s) => s > speed) : [...SPEEDS].reverse().find((s) => s < speed);
  if (next) store.set({ speed: next });
}

function nextColour(header: Header, now: RodColour): RodColour {
  const all = rodColours(header).map(([value]) => value);
  return all[(all.indexOf(now) + 1) % all.length]!;
}

export function listenToKeys(store: Store, player: Player, actions: Actions): void {
  const flip = (key: "loop" | "contacts" | "supports" | "fluids" | "flow" | "shapes"): void => store.set({ [key]: !store.state[key] });
  const hundredth = (): number => (player.end - player.start) / 100;
  const keys: Record<string, () => void> = {
    " ": () => player.toggle(),
    ".": () => player.step(1),
    ",": () => player.step(-1),
    ArrowRight: () => player.seek(store.state.time + hundredth()),
    ArrowLeft: () => player.seek(store.state.time - hundredth()),
    Home: () => player.seek(player.start),
    End: () => player.seek(player.end),
    "+": () => faster(store, 1),
    "-": () => faster(store, -1),
    l: () => flip("loop"),
    f: () => flip("contacts"),
    g: () => flip("supports"),
    w: () => flip("fluids"),
    v: () => flip("flow"),
    o: () => store.set({ rods: nextColour(actions.header(), store.state.rods) }),
    s: () => flip("shapes"),
    c: () => store.set({ camera: store.state.camera === "top" ? "orbit" : "top" }),
    t: () => {
      const { trails } = store.state;
      store.set({ trails: trails.includes("com") ? trails.filter((x) => x !== "com") : ["com", ...trails] });
    },
    0: actions.fit,
    a: actions.addPlot,
    p: actions.picture,
    d: () => toggleTheme(store),
    "?": openHelp,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    if (target.matches("input, select, textarea")) return;
    if (event.key === " " && target.matches("button, summary, a")) return;
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
