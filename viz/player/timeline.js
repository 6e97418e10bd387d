/** The timeline of one run: rows are nodes, bars are visits, lines are moves. What is painted is a strip, shown by copying. */

import { AXIS, GUTTER, drawAxis } from "./axis.js";
import { chosenNodes, drawSelected } from "./chosen.js";
import { el, fitted } from "./dom.js";
import { Gestures } from "./gestures.js";
import { ended } from "./lanes.js";
import { FONT } from "./machines.js";
import { drawNames } from "./names.js";
import { Rows } from "./rows.js";
import { firstAbove, firstFrom } from "./search.js";
import { Strips } from "./strips.js";
import { moment } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./view.js").View} View */

export class Timeline {
  /**
   * @param {View} view
   * @param {number} run
   * @param {Lanes} lanes
   * @param {number} most tasks that the scale of loads shows
   * @param {boolean} wheel whether a wheel zooms without a key
   */
  constructor(view, run, lanes, most, wheel) {
    this.view = view;
    this.run = run;
    this.lanes = lanes;
    this.rows = new Rows(lanes.recording.nodes);
    this.scroll = 0;
    this.plot = 1;
    this.canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { class: "layer", "aria-hidden": "true" }));
    this.cursor = el("div", { class: "cursor" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.element = el(
      "div",
      {
        class: "timeline",
        tabindex: "0",
        role: "application",
        "data-run": run,
        "aria-label": `Timeline of ${view.names[run]}: up and down choose a node, left and right a visit, with Shift they pan`,
        onpointermove: (/** @type {PointerEvent} */ event) => this.#hover(event),
        onpointerleave: () => {
          this.tip.hidden = true;
        },
      },
      this.canvas,
      this.cursor,
      this.tip,
    );
    new Gestures(this.element, view, {
      left: GUTTER,
      wheel,
      click: (x, y, twice) => this.#click(x, y, twice),
      scroll: (pixels) => this.#scrolled(this.scroll + pixels),
    });
    this.strips = new Strips(view, lanes, this.rows, most);
  }

  get recording() {
    return this.lanes.recording;
  }

  /** @param {number} top */
  #scrolled(top) {
    const most = Math.max(this.rows.whole - (this.canvas.clientHeight - AXIS), 0);
    this.scroll = Math.min(Math.max(top, 0), most);
    this.view.tell("rows");
  }

  /** Show the rows of the nodes that are selected. */
  reveal() {
    const chosen = [...chosenNodes(this.view, this.run)].sort((a, b) => a - b);
    if (!chosen.length || !this.rows.whole) return;
    const room = this.canvas.clientHeight - AXIS;
    this.rows.place(this.lanes, room, new Set(chosen));
    const top = this.rows.top[chosen[0]];
    const bottom = this.rows.top[chosen[chosen.length - 1] + 1];
    if (top < this.scroll || bottom > this.scroll + room)
      this.#scrolled(bottom - top > room ? top : (top + bottom - room) / 2);
  }

  /** @param {Palette} palette */
  draw(palette) {
    const { view } = this;
    const { width, height, ratio, context } = fitted(this.canvas);
    const plot = width - GUTTER;
    const room = height - AXIS;
    if (plot < 20 || room < 10) return;
    this.plot = plot;
    if (this.rows.place(this.lanes, room, chosenNodes(this.view, this.run))) {
      this.scroll = Math.min(this.scroll, Math.max(this.rows.whole - room, 0));
    }
    const { from, scale, strip } = this.strips.of(plot, room, ratio, this.scroll, palette);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, width, height);
    const offset = Math.round((view.from - from) * scale * ratio);
    context.drawImage(strip, offset, 0, Math.round(plot * ratio), Math.round(room * ratio), GUTTER, AXIS, plot, room);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, GUTTER, height);
    drawAxis(context, {
      from: view.from,
      to: view.to,
      left: GUTTER,
      width: plot,
      y: AXIS / 2,
      font: `10px ${FONT}`,
      palette,
      grid: 0,
    });
    drawNames(context, this, room, palette);
    drawSelected(context, this, plot, room, palette);
    this.moveCursor();
  }

  /** The cursor is an element of its own: time passes without painting. */
  moveCursor() {
    const { view } = this;
    const { plot } = this;
    const x = ((view.time - view.from) / (view.to - view.from)) * plot;
    this.cursor.hidden = x < 0 || x > plot;
    this.cursor.style.transform = `translateX(${GUTTER + x}px)`;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {boolean} twice
   */
  #click(x, y, twice) {
    const { view, rows } = this;
    const node = rows.at(y - AXIS + this.scroll);
    if (x < GUTTER) {
      if (node >= 0) {
        rows.toggle(node);
        view.select({ run: this.run, kind: "node", id: node });
      }
      return;
    }
    const time = this.timeAt(x);
    const found = node >= 0 ? this.#visitAt(node, time) : -1;
    if (twice && found >= 0) {
      const { segments } = this.recording;
      const length = Math.max(ended(this.recording, found) - segments.from[found], 10);
      view.window(segments.from[found] - length * 0.2, segments.from[found] + length * 1.2);
    }
    view.select(found >= 0 ? { run: this.run, kind: "task", id: this.recording.segments.task[found] } : null, time);
  }

  /** @param {number} x */
  timeAt(x) {
    const { view } = this;
    return view.from + ((x - GUTTER) / (this.canvas.clientWidth - GUTTER)) * (view.to - view.from);
  }

  /**
   * The visit that began last and is on a node at a time; -1: none.
   * @param {number} node
   * @param {number} time
   */
  #visitAt(node, time) {
    const { visits, segments } = this.recording;
    const { reach } = this.lanes;
    const first = firstFrom(reach, time, visits.start[node], visits.start[node + 1]);
    let found = -1;
    for (let at = first; at < visits.start[node + 1] && segments.from[visits.rows[at]] <= time; at++) {
      if (ended(this.recording, visits.rows[at]) >= time) found = visits.rows[at];
    }
    return found;
  }

  /** @param {PointerEvent} event */
  #hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const node = this.rows.at(y - AXIS + this.scroll);
    this.tip.hidden = node < 0 || event.buttons !== 0;
    if (this.tip.hidden) return;
    const name = this.recording.nodeName(node);
    if (x < GUTTER) {
      this.tip.textContent = `${name}: click folds or unfolds its row`;
    } else {
      const time = this.timeAt(x);
      const at = firstAbove(this.lanes.time, time, this.lanes.start[node], this.lanes.start[node + 1]);
      const tasks = at > this.lanes.start[node] ? this.lanes.count[at - 1] : 0;
      this.tip.textContent = `${name} at ${moment(time)}: ${tasks} ${tasks === 1 ? "task" : "tasks"}`;
    }
    const left = Math.min(x + 12, this.canvas.clientWidth - this.tip.offsetWidth - 4);
    this.tip.style.transform = `translate(${left}px, ${y > 40 ? y - 30 : y + 16}px)`;
  }
}
