/** The bar below: play, one event or slice on or back, the clock, the speed, the window. */

import { el, fill, icon, iconButton } from "./dom.js";
import { FASTEST, SLOWEST } from "./view.js";
import { moment } from "./words.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {{step: (by: number) => void, slice: (by: number) => void}} Steps */

const DECADES = Math.log10(FASTEST / SLOWEST);
const FINEST = 250;

export class Bar {
  /**
   * @param {View} view
   * @param {Steps} steps
   */
  constructor(view, steps) {
    this.view = view;
    this.play = el(
      "button",
      {
        type: "button",
        class: "tool play",
        "aria-label": "Play",
        title: "Play (space)",
        onclick: () => view.play(!view.playing),
      },
      icon("play"),
    );
    this.time = /** @type {HTMLInputElement} */ (
      el("input", {
        class: "clock",
        "aria-label": "Time [s]",
        inputmode: "decimal",
        onchange: () => this.#typed(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.time.blur(),
      })
    );
    this.slider = /** @type {HTMLInputElement} */ (
      el("input", {
        type: "range",
        min: 0,
        max: DECADES * FINEST,
        step: 1,
        class: "speed",
        "aria-label": "Speed",
        oninput: () => view.setSpeed(rounded(SLOWEST * 10 ** (Number(this.slider.value) / FINEST))),
      })
    );
    this.words = el("output", { class: "times" });
    this.element = el(
      "div",
      { class: "bar", role: "group", "aria-label": "Clock, speed and window" },
      el(
        "div",
        { class: "left" },
        iconButton("begin", "To the beginning", () => view.seek(0), "Home"),
        iconButton("backwards", "One slice back", () => steps.slice(-1), ","),
        iconButton("back", "One event back", () => steps.step(-1), "Left arrow"),
        this.play,
        iconButton("next", "One event on", () => steps.step(1), "Right arrow"),
        iconButton("forth", "One slice on", () => steps.slice(1), "."),
        el("span", { class: "now" }, this.time, el("span", { class: "of", text: `of ${moment(view.end)}` })),
      ),
      el(
        "label",
        { class: "pace", title: "Speed: simulated over real time ([ and ])" },
        el("span", { class: "end", text: "1/100" }),
        this.slider,
        el("span", { class: "end", text: "1000" }),
        this.words,
      ),
      el(
        "div",
        { class: "right" },
        iconButton("minus", "Zoom out", () => view.zoom(1.6), "-"),
        iconButton("plus", "Zoom in", () => view.zoom(1 / 1.6), "+"),
        iconButton("fit", "Whole run", () => view.window(0, view.end), "0"),
      ),
    );
    this.refresh();
    this.tick();
  }

  #typed() {
    const seconds = Number(this.time.value.replace(/[^\d.]/g, ""));
    if (Number.isFinite(seconds)) this.view.seek(seconds * 1000);
    this.tick();
  }

  /** The clock only. */
  tick() {
    const root = /** @type {ShadowRoot | Document} */ (this.time.getRootNode());
    if (root.activeElement === this.time) return;
    const words = moment(this.view.time);
    if (this.time.value !== words) this.time.value = words;
  }

  refresh() {
    const { playing, speed } = this.view;
    fill(this.play, icon(playing ? "pause" : "play"));
    this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    this.play.title = `${playing ? "Pause" : "Play"} (space)`;
    this.slider.value = String(Math.round(Math.log10(speed / SLOWEST) * FINEST));
    this.words.textContent = `× ${speedWords(speed)}`;
    this.slider.setAttribute("aria-valuetext", `${speedWords(speed)} times real time`);
  }
}

/** @param {number} speed */
const speedWords = (speed) => (speed >= 1 ? String(rounded(speed)) : `1/${rounded(1 / speed)}`);

/** Two digits. @param {number} value */
function rounded(value) {
  const size = 10 ** (Math.floor(Math.log10(value)) - 1);
  return +(Math.round(value / size) * size).toPrecision(3);
}
