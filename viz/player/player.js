/** The player: `mount` puts it into an element. It decodes recordings, or says in one line why it cannot. */

import { Unreadable, decode } from "./decode.js";
import { el, fill } from "./dom.js";
import { Recording } from "./recording.js";
import { SCENE_STYLE } from "./scene.js";
import { Screen } from "./screen.js";
import { STYLE } from "./style.js";

/**
 * @typedef {{recordings: Uint8Array[], page?: boolean, height?: string, theme?: "dark" | "light", hash?: string,
 *   onDetail?: (from: number, to: number) => void,
 *   acting?: import("./acts.js").Acting, scene?: import("./scene.js").Guide | null}} Options
 *   `page`: the player is the whole page, so that a wheel zooms, keys work everywhere and the address holds what is seen;
 *   `hash`: an address to begin with; `onDetail`: called for what tasks do at each moment of a window [ms]; the answer
 *   comes as `open` of the same runs with that detail, or as `failed`; `acting`: who can change the script;
 *   `scene`: guides through what is shown
 */

/** Where the focus stays when other recordings are shown. */
const PARTS = [".body", ".guide", ".list", ".search", ".stage", ".timeline", ".overview", ".play"];

/**
 * @param {HTMLElement} host
 * @param {Options} options
 */
export function mount(host, options) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(options.scene ? STYLE + SCENE_STYLE : STYLE);
  root.adoptedStyleSheets = [sheet];
  return new Player(root, options);
}

export class Player {
  /**
   * @param {ShadowRoot} root
   * @param {Options} options
   */
  constructor(root, options) {
    this.options = options;
    this.element = el(
      "div",
      { class: options.page ? "player page" : "player", tabindex: options.page ? null : "0" },
      el("p", { class: "wrong", role: "status", text: "Reading the recording …" }),
    );
    if (options.height) this.element.style.setProperty("--height", options.height);
    root.replaceChildren(this.element);
    /** @type {Screen | null} */
    this.screen = null;
    /** How many times other recordings came: the latest are shown, whichever are read first. */
    this.turn = 0;
    /** Settles when the recordings are shown, or cannot be. */
    this.ready = this.open(options.recordings);
  }

  /**
   * Show other recordings; what is seen stays: time, window, speed and, where it exists, the selection.
   * @param {Uint8Array[]} recordings
   */
  async open(recordings) {
    const turn = ++this.turn;
    try {
      const decoded = await Promise.all(recordings.map(decode));
      if (turn !== this.turn) return;
      if (!decoded.length) throw new Unreadable("There is no recording here.");
      const read = decoded.map((one) => new Recording(one));
      if (read.some((one) => one.nodes !== read[0].nodes))
        throw new Unreadable("The recordings have different numbers of nodes.");
      const shown = this.screen?.recordings ?? [];
      if (this.screen && shown.length === read.length && shown.every((one, run) => one.isOfTheSameRun(read[run]))) {
        this.screen.detailed(read);
        return;
      }
      const hash = this.screen ? this.screen.address : (this.options.hash ?? (this.options.page ? location.hash : ""));
      const theme = this.screen ? (this.screen.palette.dark ? "dark" : "light") : this.options.theme;
      const [part, focused] = [this.#focusedPart(), this.#focused()];
      const before = this.screen;
      before?.destroy();
      this.screen = new Screen(this.element, read, { ...this.options, hash, theme });
      if (before) this.screen.goOn(before);
      if (part) this.#focus(part, focused);
    } catch (error) {
      if (turn !== this.turn) return;
      this.screen?.destroy();
      this.screen = null;
      const words = error instanceof Unreadable ? error.message : `The recording cannot be shown: ${error}`;
      fill(this.element, el("p", { class: "wrong", role: "alert", text: words }));
    }
  }

  #focused() {
    const one = /** @type {ShadowRoot} */ (this.element.getRootNode()).activeElement;
    return one && this.element.contains(one) ? one : null;
  }

  /** The part of the player that has the focus, as a selector; "": none has. */
  #focusedPart() {
    const one = this.#focused();
    if (!one) return "";
    const pin = /** @type {HTMLElement | null} */ (one.closest(".pin"));
    if (pin) return `.pin[data-run="${pin.dataset.run}"][data-entry="${pin.dataset.entry}"]`;
    return PARTS.find((part) => one.closest(part)) ?? ".body";
  }

  /**
   * Other recordings are shown by other elements: whoever works by keys stays where they were.
   * @param {string} part
   * @param {Element | null} focused what had the focus: a scene's buttons are the same as before
   */
  #focus(part, focused) {
    const same = focused && this.element.contains(focused) ? focused : this.element.querySelector(part);
    const found = same ?? this.element.querySelector(".body");
    /** @type {HTMLElement | null} */ (found)?.focus({ preventScroll: true });
  }

  get view() {
    return this.screen?.view ?? null;
  }

  /** There is no detail of the window that was asked for. @param {string} words why, in a line; "": it is not wanted any more */
  failed(words) {
    this.screen?.asking.end(words);
  }

  /** @param {number} ms */
  seek(ms) {
    this.view?.seek(ms);
  }

  /**
   * `film`: what a film shows: no buttons, no panels beside.
   * @param {{time?: number, speed?: number, playing?: boolean, dark?: boolean, hash?: string, film?: boolean}} what
   */
  set({ time, speed, playing, dark, hash, film }) {
    const { view, screen } = this;
    if (!view || !screen) return;
    if (hash !== undefined) screen.go(hash);
    if (speed !== undefined) view.setSpeed(speed);
    if (time !== undefined) view.seek(time);
    if (dark !== undefined) screen.paint(dark);
    if (playing !== undefined) view.play(playing);
    if (film !== undefined) screen.film(film);
  }

  destroy() {
    this.turn++;
    this.screen?.destroy();
    this.screen = null;
    this.element.remove();
  }
}
