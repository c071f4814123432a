// What the run is: its summary, metrics, scene and versions.
import type { Json, RunInfo } from "../data/types";
import { h, short } from "./dom";

function table(rows: [string, string][]): HTMLTableElement {
  return h("table", {}, h("tbody", {}, ...rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)))));
}

const text = (value: Json | undefined, unit = ""): string => {
  if (typeof value === "number") return `${short(value, 7)} ${unit}`.trim();
  if (value === null || value === undefined) return "not reached";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const LINES: [string, string, string][] = [
  ["status", "status", ""],
  ["message", "message", ""],
  ["t", "simulated time", "s"],
  ["steps", "steps", ""],
  ["dt", "step", "s"],
  ["wall_s", "wall time", "s"],
  ["steps_per_s", "steps per second", ""],
  ["solver", "solver", ""],
  ["mean_iterations", "mean iterations", ""],
  ["unconverged_steps", "unconverged steps", ""],
  ["worst_residual", "worst residual", "m/s"],
  ["worst_residual_at", "worst residual at", ""],
  ["max_penetration", "largest penetration", "m"],
  ["max_joint_gap", "largest joint gap", "m"],
];

function entries(value: Json | undefined): [string, Json][] {
  return value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
}

export function details(info: RunInfo): HTMLElement {
  const { summary, header } = info;
  const parts: HTMLElement[] = [h("h2", {}, header.title || info.name)];
  if (header.description) parts.push(h("p", {}, header.description));
  if (info.decimated) parts.push(h("p", { class: "muted" }, info.decimated));
  if (!summary) parts.push(h("p", { class: "muted" }, "The run has not ended: it is still being computed, or was cut off."));
  else {
    const lines = LINES.filter(([key]) => summary[key] !== undefined && summary[key] !== "");
    parts.push(h("h3", {}, "Summary"), table(lines.map(([key, name, unit]) => [name, text(summary[key], unit)])));
    const energy = entries(summary["energy"]).filter(([, value]) => value !== 0);
    if (energy.length > 0) parts.push(h("h3", {}, "Energy and work"), table(energy.map(([name, value]) => [name, text(value, "J")])));
    const metrics = entries(summary["metrics"]);
    if (metrics.length > 0) parts.push(h("h3", {}, "Metrics (SI units)"), table(metrics.map(([name, value]) => [name, text(value)])));
  }
  parts.push(h("h3", {}, "Scene"), h("pre", { tabindex: 0, "aria-label": "the scene file" }, info.scene));
  parts.push(
    h("h3", {}, "Versions"),
    table([
      ["file", info.name],
      ["run written by", `saltus ${info.version}`],
      ...(info.reporter ? [["page made by", info.reporter] as [string, string]] : []),
    ]),
  );
  return h("article", { class: "details" }, ...parts);
}
