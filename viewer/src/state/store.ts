// What the user has chosen; everything on the page follows from it and from the runs.
import type { SeriesQuery } from "../data/source";
import type { RodColour } from "../scene/rod_values";

export type CameraMode = "orbit" | "top";
export type Theme = "light" | "dark";

/** Series of one plot. `force` as the column of contacts means impulse / dt [N]. */
export type PlotSpec = SeriesQuery[];

export interface ViewState {
  time: number; // [s]
  playing: boolean;
  speed: number;
  loop: boolean;
  camera: CameraMode;
  follow: string; // "": nothing, "com", or a body
  contacts: boolean; // force arrows of contacts
  supports: boolean; // and of supports
  fluids: boolean; // and of fluids
  flow: boolean; // how they flow, and their vortices
  forceScale: number; // relative to the automatic one
  rods: RodColour; // what colours rods
  shapes: boolean; // contact shapes of bodies that have visuals
  trails: string[]; // "com" and bodies
  plots: PlotSpec[];
  theme: Theme;
  followEnd: boolean; // of a run that grows
}

export type Key = keyof ViewState;
type Listener = (changed: Set<Key>) => void;

export class Store {
  private readonly listeners: Listener[] = [];

  constructor(public state: Readonly<ViewState>) {}

  set(patch: Partial<ViewState>): void {
    const changed = new Set<Key>();
    for (const key of Object.keys(patch) as Key[]) if (patch[key] !== this.state[key]) changed.add(key);
    if (changed.size === 0) return;
    this.state = { ...this.state, ...patch };
    for (const listener of this.listeners) listener(changed);
  }

  on(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Calls the listener when one of the keys changes. */
  watch(keys: Key[], listener: () => void): void {
    this.on((changed) => {
      if (keys.some((key) => changed.has(key))) listener();
    });
  }
}
