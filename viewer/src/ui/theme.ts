// Light or dark: as the system says until the user says otherwise.
import type { Store, Theme } from "../state/store";

const KEY = "saltus-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // a page from disk may have no storage
  }
}

export const startTheme = (): Theme => remembered() ?? (system.matches ? "dark" : "light");

export function keepTheme(store: Store): void {
  const apply = (): void => {
    document.documentElement.dataset.theme = store.state.theme;
  };
  apply();
  store.watch(["theme"], apply);
  system.addEventListener("change", () => {
    if (!remembered()) store.set({ theme: system.matches ? "dark" : "light" });
  });
}

export function toggleTheme(store: Store): void {
  const theme: Theme = store.state.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // not remembered, then
  }
  store.set({ theme });
}

/** A colour of the style sheet. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
