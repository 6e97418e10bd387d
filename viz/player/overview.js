/** The whole run in a thin line: how many moves when, what the timeline shows of it, failures, where two runs part. */

import { GUTTER } from "./axis.js";
import { el, fitted } from "./dom.js";
import { MOVE } from "./recording.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./view.js").View} View */

export class Overview {
  /**
   * @param {View} view
   * @param {number | null} parting when two runs part [ms]
   */
  constructor(view, parting) {
    this.view = view;
    this.parting = parting;
    this.canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { class: "layer", "aria-hidden": "true" }));
    this.window = el("div", { class: "window" });
    this.cursor = el("div", { class: "cursor" });
    this.element = el(
      "div",
      {
        class: "overview",
        role: "slider",
        tabindex: "0",
        "aria-label": "Time in the whole run",
        "aria-valuemin": 0,
        "aria-valuemax": Math.round(view.end / 1000),
        title: "Moves over the whole run, from below: remote starts, migrations, refusals; drag to move the clock",
        onpointerdown: (/** @type {PointerEvent} */ event) => {
          this.element.setPointerCapture(event.pointerId);
          this.#seek(event);
        },
        onpointermove: (/** @type {PointerEvent} */ event) => event.buttons && this.#seek(event),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      },
      this.canvas,
      this.window,
      this.cursor,
    );
    this.key = "";
    this.plot = 1;
  }

  /** @param {PointerEvent} event */
  #seek(event) {
    const box = this.canvas.getBoundingClientRect();
    const { view } = this;
    view.seek(((event.clientX - box.left - GUTTER) / (box.width - GUTTER)) * view.end);
    const span = view.to - view.from;
    if (view.time < view.from || view.time > view.to) view.window(view.time - span / 2, view.time + span / 2);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (!by) return;
    this.view.seek(this.view.time + (by * this.view.end) / 100);
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {boolean} words */
  tick(words) {
    const { view } = this;
    const plot = this.plot;
    this.cursor.style.transform = `translateX(${GUTTER + (view.time / view.end) * plot}px)`;
    this.window.style.transform = `translateX(${GUTTER + (view.from / view.end) * plot}px)`;
    this.window.style.width = `${Math.max(((view.to - view.from) / view.end) * plot, 3)}px`;
    if (!words) return;
    this.element.setAttribute("aria-valuenow", String(Math.round(view.time / 1000)));
    this.element.setAttribute("aria-valuetext", `${(view.time / 1000).toFixed(2)} s`);
  }

  /** @param {Palette} palette */
  draw(palette) {
    const { width, height, ratio, context } = fitted(this.canvas);
    this.plot = Math.max(Math.floor(width - GUTTER), 1);
    this.tick(true);
    const key = `${width} ${height} ${ratio} ${palette.dark}`;
    if (key === this.key || width <= GUTTER) return;
    this.key = key;
    const plot = Math.floor(width - GUTTER);
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    const kinds = [MOVE.start, MOVE.migration, MOVE.refused];
    const counts = kinds.map(() => new Uint32Array(plot));
    for (const { moves } of this.view.recordings) {
      for (let row = 0; row < moves.rows; row++) {
        const place = kinds.indexOf(moves.kind[row]);
        if (place >= 0) counts[place][Math.min(Math.floor((moves.from[row] / this.view.end) * plot), plot - 1)]++;
      }
    }
    let most = 1;
    for (let x = 0; x < plot; x++) most = Math.max(most, counts[0][x] + counts[1][x] + counts[2][x]);
    for (let x = 0; x < plot; x++) {
      let y = height;
      kinds.forEach((kind, place) => {
        const high = (counts[place][x] / most) * (height - 2);
        context.fillStyle = palette.moves[kind];
        context.fillRect(GUTTER + x, y - high, 1, high);
        y -= high;
      });
    }
    context.fillStyle = palette.down;
    for (const { failures } of this.view.recordings) {
      for (const at of failures.at) context.fillRect(GUTTER + (at / this.view.end) * plot, 0, 1.5, 4);
    }
    if (this.parting !== null) {
      context.fillStyle = palette.ink;
      const x = GUTTER + (this.parting / this.view.end) * plot;
      context.beginPath();
      context.moveTo(x - 4, 0);
      context.lineTo(x + 4, 0);
      context.lineTo(x, 7);
      context.fill();
    }
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = palette.faint;
    context.fillText("moves", GUTTER - 6, height / 2);
  }
}
