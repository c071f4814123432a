// What went wrong with a run, at the top: steps that gained energy or missed their tolerance, divergence; below that
// what was told of its start and of steps too long for its speeds.
import type { Run } from "../data/run";
import { h } from "./dom";

export class Verdict {
  readonly element = h("div", { class: "verdict", role: "status", hidden: true });

  constructor(private readonly runs: Run[]) {
    this.show();
  }

  show(): void {
    const lines = this.runs.flatMap(({ info }) => {
      const { status, message, warnings } = info.summary ?? {};
      const of = this.runs.length > 1 ? `${info.name}: ` : "";
      const told = Array.isArray(warnings) ? warnings.map((line) => h("p", { class: "warned" }, `${of}warning: ${String(line)}`)) : [];
      if (typeof status !== "string" || typeof message !== "string") return told;
      return [h("p", {}, `${of}${status}: ${message}`), ...told];
    });
    this.element.hidden = lines.length === 0;
    this.element.replaceChildren(...lines);
  }
}
