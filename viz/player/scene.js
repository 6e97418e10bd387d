/** A guided scene: steps with a text and a question, each of which takes the player to a moment and a selection. */

import { partsOf, readAddress } from "./address.js";
import { el, fill } from "./dom.js";

/** @typedef {import("./view.js").View} View */
/**
 * @typedef {{address: string, at_s: number, plays_to_s: number | null, text: string, question: string | null, answer: string | null}} Step
 * @typedef {{title: string, summary: string, steps: Step[], changed?: boolean}} Scene `changed`: the runs are not its own
 */

export const SCENE_STYLE = `
.player:has(> .guide) { grid-template: auto auto minmax(0, 1fr) auto / minmax(0, 1fr) clamp(340px, 31cqi, 640px);
  grid-template-areas: "head head" "main scene" "main side" "bar bar"; }
.guide { grid-area: scene; background: var(--paper); border-left: 1px solid var(--line); border-bottom: 2px solid var(--accent); padding: 8px 14px 10px; min-width: 0;
  max-height: 58cqh; overflow: auto; }
.guide header { display: flex; gap: 10px; align-items: baseline; }
.guide h2 { font-size: 15px; font-weight: 650; margin: 0; flex: 1; min-width: 0; }
.guide .said { font-size: 16px; line-height: 1.42; }
.guide p { margin: 6px 0; white-space: pre-line; }
.guide .question { font-weight: 650; }
.guide .answer { border-left: 3px solid var(--accent); padding-left: 10px; }
.guide .ways { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-top: 8px; }
.guide .ways .plain { font-size: 14px; padding: 3px 12px; }
.guide .next { background: var(--accent); color: var(--paper); border-color: var(--accent); font-weight: 650; }
.guide .next:hover { background: var(--accent); filter: brightness(1.1); }
.guide [aria-disabled="true"] { opacity: .45; cursor: default; }
.player:has(> .guide:not(.folded)) .side { grid-template-rows: minmax(0, 1fr); }
.player:has(> .guide:not(.folded)) .side > :not(.why) { display: none; }
@container (max-width: 1000px) {
  .player:has(> .guide) { grid-template: auto auto auto auto auto / minmax(0, 1fr); grid-template-areas: "head" "scene" "main" "side" "bar"; }
  .player:has(> .guide:not(.folded)) .side { grid-template: auto / minmax(0, 1fr); }
  .guide { border-left: 0; position: sticky; top: 0; z-index: 6; max-height: 60vh; }
}
`;

const OTHER_RUNS =
  "The settings are not those of the scene any more: the numbers of its text are those of its own run.";

export class Guide {
  /** @param {Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.place = 0;
    /** @type {View | null} */
    this.view = null;
    /** Until when it plays [ms]. @type {number | null} */
    this.until = null;
    this.count = el("span", { class: "count" });
    this.said = el("div", { class: "said", "aria-live": "polite" });
    this.note = el("p", {
      class: "note",
      role: "status",
      hidden: true,
    });
    this.back = el("button", {
      type: "button",
      class: "plain",
      title: "Previous step (Page Up)",
      text: "Back",
      onclick: () => this.go(this.place - 1),
    });
    this.next = el("button", {
      type: "button",
      class: "plain next",
      title: "Next step (Page Down)",
      text: "Next",
      onclick: () => this.go(this.place + 1),
    });
    this.again = el("button", {
      type: "button",
      class: "plain",
      title: "Show the step again: its time, window and selection",
      "aria-label": "Show the step again",
      text: "Again",
      onclick: () => this.go(this.place),
    });
    this.plays = el("button", { type: "button", class: "plain", onclick: () => this.#play() });
    this.answers = el("button", {
      type: "button",
      class: "plain",
      "aria-expanded": "false",
      text: "Show the answer",
      onclick: () => this.#answer(Boolean(this.answer.hidden)),
    });
    this.answer = el("p", { class: "answer" });
    this.folds = el("button", {
      type: "button",
      class: "link",
      "aria-expanded": "true",
      text: "Hide",
      onclick: () => this.#fold(!this.element.classList.contains("folded")),
    });
    this.body = el(
      "div",
      {},
      this.said,
      this.note,
      el("div", { class: "ways" }, this.back, this.next, this.plays, this.answers, this.again),
    );
    this.element = el(
      "section",
      { class: "guide", "aria-label": "Guided scene" },
      el("header", {}, el("h2", { text: scene.title }), this.count, this.folds),
      this.body,
    );
  }

  /** Keys of the whole player: a presenter has these two. @type {Record<string, () => void>} */
  get actions() {
    return {
      PageUp: () => this.go(this.place - 1),
      // With one key alone the answers are to be had, too.
      PageDown: () => (this.answers.hidden || !this.answer.hidden ? this.go(this.place + 1) : this.#answer(true)),
    };
  }

  /**
   * The player shows these runs now. What is seen stays, but for the first time.
   * @param {View} view
   * @param {string} address with which the player begins, and which it has read
   */
  attach(view, address) {
    const isFirst = this.view === null;
    this.view = view;
    this.until = null;
    view.step = this.place + 1;
    view.on((change) => this.#look(change));
    if (isFirst && !this.#read(address)) this.go(0);
  }

  /**
   * The step that an address says; one that says no time leaves what is seen to the step.
   * @param {string} address which the player has read
   */
  read(address) {
    if (Number(partsOf(address).get("step")) !== this.place + 1) this.#read(address);
  }

  /**
   * @param {string} address
   * @returns {boolean} whether it says a step
   */
  #read(address) {
    const parts = partsOf(address);
    const place = Number(parts.get("step")) - 1;
    if (!this.scene.steps[place]) return false;
    if (parts.has("t")) this.#show(place);
    else this.go(place);
    return true;
  }

  /**
   * Whether the runs are not the scene's own any more.
   * @param {boolean} changed
   * @param {string} [back] what brings them back, as a sentence
   */
  changed(changed, back = "") {
    this.note.textContent = `${OTHER_RUNS} ${back}`.trim();
    this.note.hidden = !changed;
  }

  /** @param {number} place of a step, from 0 */
  go(place) {
    const step = this.scene.steps[place];
    if (!step || !this.view) return;
    this.view.play(false);
    this.view.select(null);
    this.#show(place);
    readAddress(this.view, step.address);
  }

  /** The texts and buttons of a step. @param {number} place */
  #show(place) {
    const { steps } = this.scene;
    const step = steps[place];
    this.place = place;
    this.until = null;
    if (this.view) this.view.step = place + 1;
    this.count.textContent = `Step ${place + 1} of ${steps.length}`;
    // Not `disabled`: that would take the focus.
    this.back.setAttribute("aria-disabled", String(place === 0));
    this.next.setAttribute("aria-disabled", String(place === steps.length - 1));
    this.plays.hidden = step.plays_to_s === null;
    this.plays.textContent = `Play to ${step.plays_to_s} s`;
    this.answers.hidden = step.question === null;
    this.answer.textContent = step.answer ?? "";
    this.#answer(false);
    fill(
      this.said,
      el("p", { text: step.text }),
      step.question === null ? null : el("p", { class: "question", text: step.question }),
      this.answer,
    );
  }

  #play() {
    const { view } = this;
    const step = this.scene.steps[this.place];
    if (!view || step.plays_to_s === null) return;
    view.select(null);
    readAddress(view, step.address);
    view.play(true);
    this.until = step.plays_to_s * 1000;
  }

  /** @param {import("./view.js").Change} change */
  #look(change) {
    const { view } = this;
    if (!view || this.until === null) return;
    if (!view.playing) this.until = null;
    else if (change === "time" && view.time >= this.until) {
      const { until } = this;
      this.until = null;
      view.play(false);
      view.seek(until);
    }
  }

  /** @param {boolean} shown */
  #answer(shown) {
    this.answer.hidden = !shown;
    this.answers.textContent = shown ? "Hide the answer" : "Show the answer";
    this.answers.setAttribute("aria-expanded", String(shown));
  }

  /** @param {boolean} folded */
  #fold(folded) {
    this.element.classList.toggle("folded", folded);
    this.body.hidden = folded;
    this.folds.textContent = folded ? "Show" : "Hide";
    this.folds.setAttribute("aria-expanded", String(!folded));
  }
}

/**
 * The guide of a scene as it lies in a file or comes from a page; null if it is none.
 * @param {any} scene
 */
export function guideOf(scene) {
  if (!Array.isArray(scene?.steps) || !scene.steps.length) return null;
  const guide = new Guide(scene);
  guide.changed(scene.changed === true);
  return guide;
}
