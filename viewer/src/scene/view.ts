// The picture: surroundings, and for each run its bodies, forces and trails. It is drawn only when
// something has changed.
import * as THREE from "three";
import type { Frame } from "../data/frames";
import type { Run } from "../data/run";
import type { Store } from "../state/store";
import { Arrows, forcesOf } from "./arrows";
import { Bodies } from "./bodies";
import type { Bounds } from "./bounds";
import { Cameras } from "./cameras";
import { Elements } from "./elements";
import { Rods } from "./rods";
import { Quality } from "./quality";
import { palette, RUN_COLOURS, TRAIL_COLOURS } from "./palette";
import { Surroundings } from "./surroundings";
import { Trails } from "./trails";
import { flowArrows, fluidForces, Vortices } from "./water";

interface Layer {
  run: Run;
  bodies: Bodies;
  elements: Elements;
  rods: Rods;
  arrows: Arrows;
  flow: Arrows;
  fastest: number; // of the flow, so far [m/s]
  vortices: Vortices | null;
  trails: Trails;
  frame: Frame | undefined; // drawn last
}

/** A renderer on the processor is spared the smoothing of edges. */
function rendersInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class View {
  readonly canvas = document.createElement("canvas");
  readonly cameras: Cameras;
  pictures = 0; // drawn so far
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly layers: Layer[];
  private readonly surroundings: Surroundings;
  private readonly quality = new Quality();
  private share = 1; // of the pixels, now
  private size = { width: 1, height: 1 };
  private dirty = true;
  /** All pixels, however slow: for films. */
  full = false;

  constructor(
    private readonly store: Store,
    runs: Run[],
    readonly bounds: Bounds,
    readonly newtonsPerDecimetre: number,
    cameraMoved: () => void,
  ) {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The simulated scene. Drag to move the camera, scroll to zoom.");
    const many = runs.some((run) => run.info.header.bodies.length > 300);
    this.renderer = new THREE.WebGLRenderer({
      canvas: this.canvas,
      antialias: !rendersInSoftware() || !many,
      alpha: false,
      powerPreference: "high-performance",
    });
    this.layers = runs.map((run, i) => this.layer(run, i, runs.length));
    this.surroundings = new Surroundings(runs[0]!.info.header, bounds, !many);
    this.scene.add(this.surroundings.object);
    const sun = new THREE.DirectionalLight("white", 1.7);
    sun.position.set(-0.4, -0.5, 1);
    this.scene.add(sun, new THREE.HemisphereLight("white", "#a8b2bc", 2.1));
    this.cameras = new Cameras(this.canvas, store.state.camera, bounds, () => {
      this.dirty = true;
      cameraMoved();
    });
    this.paint();
    store.on((changed) => {
      if (changed.has("theme")) this.paint();
      if (changed.has("shapes")) this.showShapes();
      if (changed.has("camera")) this.cameras.choose(store.state.camera);
      if (changed.has("trails")) this.showTrails();
      if (changed.has("follow") && !store.state.follow) this.cameras.follow(null);
      this.dirty = true;
    });
    this.showTrails();
    this.showShapes();
  }

  /** The share of pixels along each side that films get on this machine. */
  get filmShare(): number {
    return this.quality.current;
  }

  get metresPerNewton(): number {
    return (0.1 / this.newtonsPerDecimetre) * this.store.state.forceScale;
  }

  resize(width: number, height: number): void {
    this.size = { width, height };
    this.renderer.setPixelRatio(this.share * Math.min(2, window.devicePixelRatio));
    this.renderer.setSize(width, height, false);
    this.cameras.resize(width, height);
    for (const layer of this.layers) {
      layer.trails.resize(width, height);
      layer.elements.resize(width, height);
    }
    this.dirty = true;
  }

  showTrails(): void {
    for (const layer of this.layers) void layer.trails.show(this.store.state.trails);
  }

  private showShapes(): void {
    for (const layer of this.layers) layer.bodies.contacts.visible = this.store.state.shapes;
  }

  invalidate(): void {
    this.dirty = true;
  }

  /** Draws if anything has changed; true when it did. */
  draw(force = false): boolean {
    const playing = this.store.state.playing && !this.full && !force;
    if (!playing && this.share !== 1) this.dirty = true;
    if (!this.dirty && !force) return false;
    const share = this.quality.share(playing, performance.now());
    if (share !== this.share) {
      this.share = share;
      this.resize(this.size.width, this.size.height);
    }
    this.dirty = false;
    this.layers.forEach((layer, i) => this.update(layer, i === 0));
    this.renderer.render(this.scene, this.cameras.current);
    ++this.pictures;
    return true;
  }

  private layer(run: Run, index: number, count: number): Layer {
    const colour = RUN_COLOURS[index]!;
    const opacity = index === 0 ? 1 : 0.5;
    const layer: Layer = {
      run,
      bodies: new Bodies(run.info.header, colour, opacity, this.bounds.size),
      elements: new Elements(run.info.header, colour, opacity, this.bounds.size),
      rods: new Rods(run.info.header, colour, opacity, this.bounds.size),
      arrows: new Arrows(0.006 * this.bounds.size, count === 1 ? 1 : 1 - 0.4 * index),
      flow: new Arrows(0.004 * this.bounds.size, 0.7),
      fastest: 0,
      vortices: this.vortices(run),
      trails: new Trails(run, TRAIL_COLOURS[index]!, 0.9, () => this.invalidate()),
      frame: undefined,
    };
    layer.bodies.object.visible = false;
    this.scene.add(layer.bodies.object, layer.elements.object, layer.rods.object, layer.arrows.object, layer.flow.object, layer.trails.object);
    if (layer.vortices) this.scene.add(layer.vortices.object);
    return layer;
  }

  /** As far as the picture goes. */
  private vortices(run: Run): Vortices | null {
    if (!run.info.header.streets?.length) return null;
    const { centre, size } = this.bounds;
    return new Vortices(run.info.header, centre.x - size, centre.x + size);
  }

  /** The fastest flow so far is a tenth of the picture. */
  private updateFlow(layer: Layer, frame: Frame): void {
    const shown = this.store.state.flow ? flowArrows(layer.run.info.header, frame) : [];
    for (const { force } of shown) layer.fastest = Math.max(layer.fastest, force.length());
    layer.flow.update(shown, layer.fastest > 0 ? (0.1 * this.bounds.size) / layer.fastest : 1);
    if (!layer.vortices) return;
    layer.vortices.object.visible = this.store.state.flow;
    layer.vortices.update(this.store.state.time);
  }

  private update(layer: Layer, leads: boolean): void {
    const { state } = this.store;
    layer.trails.update(state.time);
    const frame = layer.run.get(layer.run.frameAt(state.time));
    if (!frame) {
      this.dirty = true; // not here yet: keep what is drawn and look again
      return;
    }
    layer.frame = frame;
    layer.bodies.object.visible = true;
    layer.bodies.update(frame.pose);
    layer.elements.update(frame.pose);
    layer.rods.update(frame, state.rods);
    const water = state.fluids ? fluidForces(layer.run.info.header, frame) : [];
    layer.arrows.update([...forcesOf(layer.run, frame, state), ...water], this.metresPerNewton);
    this.updateFlow(layer, frame);
    if (leads && state.follow) this.cameras.follow(this.followed(layer.run, frame));
  }

  private followed(run: Run, frame: Frame): THREE.Vector3 {
    const body = run.info.header.bodies.findIndex((b) => b.name === this.store.state.follow);
    return body >= 0 ? new THREE.Vector3().fromArray(frame.pose, 7 * body) : new THREE.Vector3().fromArray(frame.com);
  }

  private paint(): void {
    const colours = palette(this.store.state.theme);
    this.scene.background = new THREE.Color(colours.background);
    this.surroundings.paint(colours);
    this.dirty = true;
  }
}
