// Colours of the picture in both themes; modes of contacts keep theirs.
import type { Theme } from "../state/store";

export const RUN_COLOURS = ["#35a896", "#f0932b"]; // of the first run and the one laid over it
export const TRAIL_COLOURS = ["#7a4fd6", "#c2417a"];
// Open, stick, slip, closed; then the force of a fluid, and how it flows.
export const MODE_COLOURS = ["#8a8f98", "#2f6fe0", "#e0422f", "#d9a400", "#12a5b8", "#7f8fd6"];
export const FLUID_MODE = 4;
export const FLOW_MODE = 5;
export const MODE_NAMES = ["open", "stick", "slip", "closed"];

export interface Palette {
  background: string;
  ground: string;
  grid: string;
  obstacle: string;
}

const PALETTES: Record<Theme, Palette> = {
  light: { background: "#f4f6f8", ground: "#e6eaee", grid: "#c3cad2", obstacle: "#bdb3a0" },
  dark: { background: "#14181d", ground: "#1b2027", grid: "#343d48", obstacle: "#8a8170" },
};

export const palette = (theme: Theme): Palette => PALETTES[theme];
