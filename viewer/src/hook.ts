// window.saltusViewer: what tests (and curious users) read and steer by.
import type { Run } from "./data/run";
import { forcesOf, type Force } from "./scene/arrows";
import type { View } from "./scene/view";
import { flowArrows, fluidForces, vorticesAt } from "./scene/water";
import type { Player } from "./state/player";
import type { Store, ViewState } from "./state/store";
import type { Exporter } from "./ui/exporter";
import type { ImpactStrip } from "./ui/impact_strip";
import type { ModeStrip } from "./ui/mode_strip";
import type { Plots } from "./ui/plots";

export function installHook(store: Store, runs: Run[], view: View, player: Player, plots: Plots, exporter: Exporter, modes: ModeStrip, impacts: ImpactStrip, firstFrame: () => number): void {
  const frame = async (run: number) => {
    const index = runs[run]!.frameAt(store.state.time);
    await runs[run]!.load(index);
    return runs[run]!.get(index)!;
  };
  const hook = {
    get state() {
      return store.state;
    },
    set: (patch: Partial<ViewState>) => store.set(patch),
    seek: (time: number) => player.seek(time),
    runs: () => runs.map((run) => ({ name: run.info.name, rows: run.rows, start: run.start, end: run.end, ended: run.ended })),
    frameIndex: (run = 0) => runs[run]!.frameAt(store.state.time),
    pose: async (run = 0) => Array.from((await frame(run)).pose),
    com: async (run = 0) => Array.from((await frame(run)).com),
    forces: async (run = 0) =>
      forcesOf(runs[run]!, await frame(run), { contacts: true, supports: true }).map((f) => ({ ...f, point: f.point.toArray(), force: f.force.toArray() })),
    /** Forces of fluids, their velocities and vortices, of the first run. */
    water: async () => {
      const { header } = runs[0]!.info;
      const now = await frame(0);
      const plain = (list: Force[]) => list.map((f) => ({ b: f.b, point: f.point.toArray(), force: f.force.toArray() }));
      const { x } = view.bounds.centre;
      const vortices = vorticesAt(header, store.state.time, x - view.bounds.size, x + view.bounds.size);
      return { forces: plain(fluidForces(header, now)), flow: plain(flowArrows(header, now)), vortices };
    },
    /** What the plots hold. */
    curves: () => plots.plots.map((plot) => plot.curves.map((c) => ({ name: c.name, unit: c.unit, run: c.run, reduction: c.data.reduction, t: Array.from(c.data.t), y: Array.from(c.data.y) }))),
    /** What the strip of modes shows; null: there is none. */
    modes: () => modes.data,
    /** What the strip of energy bars shows; null: there is none. */
    impacts: () => impacts.data,
    picture: async () => Array.from(new Uint8Array(await (await exporter.picture()).arrayBuffer())),
    get pictures() {
      return view.pictures;
    },
    get filmShare() {
      return view.filmShare;
    },
    get firstFrameMs() {
      return firstFrame();
    },
    get heldBytes() {
      return runs.reduce((sum, run) => sum + run.frames.bytes, 0);
    },
  };
  Object.assign(window, { saltusViewer: hook });
}
