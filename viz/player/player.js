/** The player: panels over one clock. `mount` puts it into an element. */

import { Bar } from "./bar.js";
import { paletteOf } from "./colours.js";
import { Unreadable, decode } from "./decode.js";
import { el, fill } from "./dom.js";
import { Lanes, scaleOf } from "./lanes.js";
import { legendOf } from "./legend.js";
import { Recording } from "./recording.js";
import { Stage } from "./stage.js";
import { NodeState } from "./state.js";
import { STYLE } from "./style.js";
import { Timeline } from "./timeline.js";
import { Totals } from "./totals.js";
import { View } from "./view.js";

/** @typedef {import("./view.js").Change} Change */
/**
 * @typedef {{recordings: Uint8Array[], page?: boolean, height?: string, time?: number}} Options
 */

/**
 * @param {HTMLElement} host
 * @param {Options} options `page`: the player is the whole page, so a wheel zooms and the address holds what is seen
 */
export function mount(host, options) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  const player = new Player(root, options);
  player.ready = player.open(options.recordings);
  return player;
}

export class Player {
  /**
   * @param {ShadowRoot} root
   * @param {Options} options
   */
  constructor(root, options) {
    this.root = root;
    this.options = options;
    this.element = el("div", { class: "player" });
    if (options.height) this.element.style.setProperty("--height", options.height);
    fill(/** @type {any} */ (root), this.element);
    /** @type {Promise<void>} */
    this.ready = Promise.resolve();
    /** @type {View | null} */
    this.view = null;
    this.frames = 0;
  }

  /** @param {Uint8Array[]} recordings */
  async open(recordings) {
    try {
      const decoded = await Promise.all(recordings.map(decode));
      if (!decoded.length) throw new Unreadable("There is no recording here.");
      this.show(decoded.map((one) => new Recording(one)));
    } catch (error) {
      this.#tell(error);
    }
  }

  /** @param {unknown} error */
  #tell(error) {
    const words = error instanceof Unreadable ? error.message : `The recording cannot be shown: ${error}`;
    fill(this.element, el("p", { class: "wrong", role: "alert", text: words }));
  }

  /** @param {Recording[]} recordings one, or two on one clock */
  show(recordings) {
    const view = (this.view = new View(recordings));
    view.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const lanes = recordings.map((one) => new Lanes(one));
    const most = scaleOf(lanes);
    this.stages = recordings.map((one, run) => new Stage(view, run, new NodeState(one), most));
    this.timelines = lanes.map((one, run) => new Timeline(view, run, one, most, Boolean(this.options.page)));
    this.totals = recordings.map((one) => new Totals(one));
    this.bar = new Bar(view, { step: () => {}, slice: (by) => view.seek(view.time + by * recordings[0].slice) });
    this.palette = paletteOf(recordings[0], view.dark);
    const legend = el("div", {}, legendOf(recordings, this.palette, most));
    fill(this.element,
      el("header", { class: "head" }, el("h1", { text: String(recordings[0].header.scenario) }),
        el("span", { class: "caption", text: String(recordings[0].header.caption ?? "") })),
      el("main", { class: "main" },
        el("div", { class: "stages" }, ...this.stages.map((stage, run) => el("section", { class: "run" },
          el("div", { class: "title" }, el("b", { text: recordings[run].policy })), stage.element))),
        legend, el("div", { class: "timelines" }, ...this.timelines.map((one) => one.element)), el("div")),
      el("aside", { class: "side" }),
      this.bar.element);
    for (const [name, value] of Object.entries(this.palette)) if (typeof value === "string") this.element.style.setProperty(`--${name}`, value);
    view.on(() => this.draw());
    this.draw();
  }

  draw() {
    requestAnimationFrame(() => {
      for (const one of this.stages ?? []) one.draw(/** @type {any} */ (this.palette));
      for (const one of this.timelines ?? []) one.draw(/** @type {any} */ (this.palette));
      this.bar?.tick();
    });
  }
}
