import { startApp } from "./app";
import { EmbeddedSource } from "./data/embedded_source";
import { HttpSource } from "./data/http_source";
import "./style.css";
import { h } from "./ui/dom";

const root = document.getElementById("app")!;

/** Errors stand in a bar at the top; the same one only once. */
const shown = new Set<string>();
function complain(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (shown.has(message)) return;
  shown.add(message);
  const bar: HTMLElement = h(
    "div",
    { class: "complaint", role: "alert" },
    message,
    h("button", { type: "button", class: "quiet", "aria-label": "dismiss", onclick: () => (bar.remove(), shown.delete(message)) }, "✕"),
  );
  document.body.append(bar);
}

/** A run that is about to begin is waited for. */
async function start(): Promise<void> {
  const source = EmbeddedSource.find() ?? new HttpSource();
  for (;;) {
    try {
      return await startApp(root, source, complain);
    } catch (error) {
      if ((error as { status?: number }).status !== 503) throw error;
      root.textContent = "The run has not begun yet …";
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}

root.textContent = "Opening the run …";
start().catch((error: unknown) => {
  root.textContent = "";
  complain(error);
});
