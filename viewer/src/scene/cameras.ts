// Two cameras: one that orbits a target, one that looks down from the top (planar creatures). Both
// may follow a point.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { CameraMode } from "../state/store";
import type { Bounds } from "./bounds";

const MARGIN = 1.25; // round the scene, for arrows and what is near

export class Cameras {
  readonly orbit = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly top = new THREE.OrthographicCamera(-1, 1, 1, -1, -1000, 1000);
  private readonly controls: Record<CameraMode, OrbitControls>;
  private readonly followed = new THREE.Vector3(NaN);

  constructor(
    canvas: HTMLElement,
    private mode: CameraMode,
    private readonly bounds: Bounds,
    changed: () => void,
  ) {
    this.orbit.up.set(0, 0, 1);
    this.top.up.set(0, 1, 0);
    this.controls = {
      orbit: new OrbitControls(this.orbit, canvas),
      top: new OrbitControls(this.top, canvas),
    };
    this.controls.top.enableRotate = false;
    this.controls.top.screenSpacePanning = true;
    this.controls.top.mouseButtons.LEFT = THREE.MOUSE.PAN;
    for (const controls of Object.values(this.controls)) {
      controls.addEventListener("change", changed);
      controls.zoomToCursor = true;
    }
    this.choose(mode);
  }

  get current(): THREE.Camera {
    return this.mode === "top" ? this.top : this.orbit;
  }

  choose(mode: CameraMode): void {
    this.mode = mode;
    for (const [name, controls] of Object.entries(this.controls)) controls.enabled = name === mode;
  }

  resize(width: number, height: number): void {
    const aspect = width / height;
    this.orbit.aspect = aspect;
    this.orbit.updateProjectionMatrix();
    const half = (this.top.top - this.top.bottom) / 2;
    this.top.left = -half * aspect;
    this.top.right = half * aspect;
    this.top.updateProjectionMatrix();
  }

  /** Shows the whole scene. */
  fit(aspect: number): void {
    const { box, centre, size } = this.bounds;
    const extent = box.getSize(new THREE.Vector3());
    const half = 0.54 * Math.max(extent.y, extent.x / aspect, 0.05 * size);
    this.top.zoom = 1;
    this.top.top = half;
    this.top.bottom = -half;
    this.top.position.set(centre.x, centre.y, 10);
    this.controls.top.target.set(centre.x, centre.y, 0);
    const across = 2 * Math.tan((this.orbit.fov * Math.PI) / 360);
    const flat = extent.z < 0.2 * size;
    const from = (flat ? new THREE.Vector3(0, -0.75, 0.8) : new THREE.Vector3(0.75, -1, 0.5)).normalize();
    this.orbit.position.copy(centre).addScaledVector(from, this.distance(from, 0.5 * across, aspect));
    this.orbit.near = 0.001 * size;
    this.orbit.far = 50 * size;
    this.controls.orbit.target.copy(centre);
    this.followed.set(NaN, NaN, NaN);
    this.resize(aspect, 1);
    for (const controls of Object.values(this.controls)) controls.update();
  }

  /** How far away along `from` all corners of the box are in the picture, with a margin [m]. */
  private distance(from: THREE.Vector3, slope: number, aspect: number): number {
    const { box, centre } = this.bounds;
    const right = new THREE.Vector3().crossVectors(this.orbit.up, from).normalize();
    const up = new THREE.Vector3().crossVectors(from, right);
    let far = 0;
    for (let k = 0; k < 8; ++k) {
      const corner = new THREE.Vector3(box[k & 1 ? "max" : "min"].x, box[k & 2 ? "max" : "min"].y, box[k & 4 ? "max" : "min"].z).sub(centre);
      const aside = Math.max(Math.abs(corner.dot(right)) / aspect, Math.abs(corner.dot(up)));
      far = Math.max(far, (MARGIN * aside) / slope + corner.dot(from));
    }
    return far;
  }

  /** Moves both cameras with a point; null: they stay. */
  follow(point: THREE.Vector3 | null): void {
    if (!point) {
      this.followed.set(NaN, NaN, NaN);
      return;
    }
    const first = Number.isNaN(this.followed.x);
    for (const controls of Object.values(this.controls)) {
      const shift = point.clone().sub(first ? controls.target : this.followed);
      if (controls === this.controls.top) shift.z = 0;
      controls.target.add(shift);
      controls.object.position.add(shift);
      controls.update();
    }
    this.followed.copy(point);
  }

  /** The present camera as text for a link, and back. */
  get eye(): string {
    const { target, object } = this.controls[this.mode];
    const zoom = this.mode === "top" ? this.top.zoom / this.top.top : 0;
    return [...object.position.toArray(), ...target.toArray(), zoom].map((x) => x.toPrecision(5)).join("_");
  }
  set eye(text: string) {
    const [px, py, pz, tx, ty, tz, zoom, ...rest] = text.split("_").map(Number);
    if (rest.length > 0 || ![px, py, pz, tx, ty, tz, zoom].every(Number.isFinite)) return;
    const controls = this.controls[this.mode];
    controls.object.position.set(px!, py!, pz!);
    controls.target.set(tx!, ty!, tz!);
    if (this.mode === "top" && zoom! > 0) this.top.zoom = zoom! * this.top.top;
    this.top.updateProjectionMatrix();
    controls.update();
  }
}
