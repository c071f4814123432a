// What went wrong with a run, at the top: steps that gained energy or missed their tolerance, divergence.
import type { Run } from "../data/run";
import { h } from "./dom";

export class Verdict {
  readonly element = h("div", { class: "verdict", role: "status", hidden: true });

  constructor(private readonly runs: Run[]) {
    this.show();
  }

  show(): void {
    const lines = this.runs.flatMap(({ info }) => {
      const { status, message } = info.summary ?? {};
      if (typeof status !== "string" || typeof message !== "string") return [];
      return [`${this.runs.length > 1 ? `${info.name}: ` : ""}${status}: ${message}`];
    });
    this.element.hidden = lines.length === 0;
    this.element.replaceChildren(...lines.map((line) => h("p", {}, line)));
  }
}
