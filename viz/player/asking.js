/** CPU and disk in detail: offered for a short window, where whoever shows the player can compute it. */

import { el } from "./dom.js";

/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {import("./view.js").View} View */

/** The longest window of which detail is offered [ms]. */
export const LONGEST = 5000;
/** Above this many nodes the stage has tiles, which do not show what tasks do. */
const MOST_MACHINES = 100;

export class Asking {
  /**
   * @param {View} view
   * @param {Timeline[]} timelines
   * @param {((from: number, to: number) => void) | null} ask null: nobody can compute it
   */
  constructor(view, timelines, ask) {
    this.view = view;
    this.timelines = timelines;
    this.ask = ask;
    this.isAsked = false;
    this.said = "";
    this.saidOf = "";
    this.button = el("button", {
      type: "button",
      class: "plain",
      text: "Show CPU and disk in detail",
      title: "When each task is at the CPU and when at the disk: computed again for this window (c)",
      onclick: () => this.press(),
    });
    this.words = el("span", { class: "asked", role: "status", hidden: true });
    this.element = el("div", { class: "asking" }, this.button, this.words);
    this.refresh();
  }

  /** Whether all that is seen is known in detail. */
  get isKnown() {
    const { from, to, recordings } = this.view;
    return recordings.every(({ detail }) => detail.from <= from + 1e-6 && detail.to >= to - 1e-6);
  }

  get isShort() {
    return this.view.to - this.view.from <= LONGEST * (1 + 1e-9);
  }

  /** Whether stage or timeline show what tasks do: as machines, or as bars. */
  get isShown() {
    if (this.view.recordings[0].nodes <= MOST_MACHINES) return true;
    return this.timelines.some((one) => one.strips.laneHeights.some((height) => height > 0));
  }

  #window() {
    return `${this.view.from} ${this.view.to}`;
  }

  /** What is offered or said, of the window that is seen now. */
  refresh() {
    if (this.said && this.saidOf !== this.#window()) this.said = "";
    const asks = this.ask !== null && !this.isAsked && this.isShort && !this.isKnown;
    this.button.hidden = !asks || !this.isShown;
    const words = this.isAsked ? "Computing CPU and disk in detail …" : this.said;
    this.words.hidden = !words;
    this.words.classList.toggle("bad", !this.isAsked && Boolean(this.said));
    if (this.words.textContent !== words) this.words.textContent = words;
  }

  /** Ask for it, half a window before and after what is seen, too; or say why not. */
  press() {
    const { view, ask } = this;
    if (!ask || this.isAsked) return;
    const margin = (view.to - view.from) / 2;
    if (!this.isShort) this.#say(`CPU and disk in detail: zoom in to ${LONGEST / 1000} s or less first (+).`);
    else if (this.isKnown) this.#say("CPU and disk are shown in detail.");
    else {
      this.isAsked = true;
      this.refresh();
      ask(Math.max(Math.floor(view.from - margin), 0), Math.ceil(Math.min(view.to + margin, view.end)));
    }
  }

  /** It is there, or cannot be. @param {string} why not, in a line; "" */
  end(why) {
    this.isAsked = false;
    this.#say(why);
  }

  /** @param {string} words of this window */
  #say(words) {
    this.said = words;
    this.saidOf = this.#window();
    this.refresh();
  }
}
