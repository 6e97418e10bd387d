/** The timeline of one run: rows are nodes, bars are visits, lines are moves. Painted as strips, shown by copying. */

import { drawAxis } from "./axis.js";
import { el, fitted } from "./dom.js";
import { Gestures } from "./gestures.js";
import { ended } from "./lanes.js";
import { FONT } from "./machines.js";
import { Rows } from "./rows.js";
import { firstAbove, firstFrom } from "./search.js";
import { paintStrip } from "./strip.js";
import { moment } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./view.js").View} View */

export const GUTTER = 62;
const AXIS = 18;

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
    this.most = most;
    this.rows = new Rows(lanes.recording.nodes);
    this.scroll = 0;
    this.plot = 1;
    this.before = 0;
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
    /** @type {OffscreenCanvas | null} */
    this.strip = null;
    this.painted = { key: "", from: 0, to: 0, scale: 0, top: -1 };
    /** @type {Float64Array} */
    this.laneHeights = new Float64Array(0);
    /** How many strips were painted: for measurements. */
    this.strips = 0;
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
    const chosen = [...this.#chosen()].sort((a, b) => a - b);
    if (!chosen.length || !this.rows.whole) return;
    const room = this.canvas.clientHeight - AXIS;
    this.rows.place(this.lanes, room, new Set(chosen));
    const top = this.rows.top[chosen[0]];
    const bottom = this.rows.top[chosen[chosen.length - 1] + 1];
    if (top < this.scroll || bottom > this.scroll + room)
      this.#scrolled(bottom - top > room ? top : (top + bottom - room) / 2);
  }

  #chosen() {
    const { view, recording } = this;
    const selection = view.selection;
    /** @type {Set<number>} */
    const found = new Set();
    if (!selection || this.recording.nodes < 2) return found;
    if (selection.kind === "node") found.add(selection.id);
    if (selection.run !== this.run) return found;
    if (selection.kind === "decision") {
      found.add(recording.decisions.source[selection.id]);
      found.add(recording.decisions.target[selection.id]);
    } else if (selection.kind === "task") {
      const { start, node } = recording.segments;
      for (let row = start[selection.id]; row < Math.min(start[selection.id + 1], start[selection.id] + 6); row++)
        found.add(node[row]);
    }
    return found;
  }

  /** @param {Palette} palette */
  draw(palette) {
    const { view } = this;
    const { width, height, ratio, context } = fitted(this.canvas);
    const plot = width - GUTTER;
    const room = height - AXIS;
    if (plot < 20 || room < 10) return;
    this.plot = plot;
    if (this.rows.place(this.lanes, room, this.#chosen())) {
      this.scroll = Math.min(this.scroll, Math.max(this.rows.whole - room, 0));
    }
    this.#paint(plot, room, ratio, palette);
    const strip = /** @type {OffscreenCanvas} */ (this.strip);
    const { from, scale } = this.painted;
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
    this.#labels(context, room, palette);
    this.#selected(context, plot, room, palette);
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
   * @param {number} plot
   * @param {number} room
   * @param {number} ratio
   * @param {Palette} palette
   */
  #paint(plot, room, ratio, palette) {
    const { view, rows } = this;
    const span = view.to - view.from;
    const scale = plot / span;
    const key = `${plot} ${room} ${ratio} ${rows.key} ${palette.dark}`;
    const old = this.painted;
    const same = old.key === key && Math.abs(old.scale - scale) < 1e-9 * scale && old.top === this.scroll;
    if (same && view.from >= old.from && view.to <= old.to + 1e-6) return;
    const wholeRun = span >= view.end * 0.999;
    // While one zooms a strip lives for one frame: without the parts beside the window.
    const zooms = Math.abs(this.before - scale) > 1e-9 * scale;
    this.before = scale;
    const from = wholeRun || zooms ? view.from : Math.max(view.from - span / 2, 0);
    const to = wholeRun || zooms ? view.to : Math.min(from + 2 * span, view.end);
    const begin = wholeRun || zooms ? from : Math.max(Math.min(from, to - 2 * span), 0);
    const wide = 2 * plot;
    if (!this.strip || this.strip.width !== Math.ceil(wide * ratio) || this.strip.height !== Math.ceil(room * ratio)) {
      this.strip = new OffscreenCanvas(Math.ceil(wide * ratio), Math.ceil(room * ratio));
    }
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (this.strip.getContext("2d", { alpha: false }));
    const width = (to - begin) * scale;
    this.laneHeights = paintStrip(context, {
      lanes: this.lanes,
      rows,
      from: begin,
      to,
      width,
      height: room,
      top: this.scroll,
      ratio,
      most: this.most,
      palette,
    });
    this.painted = { key, from: begin, to, scale, top: this.scroll };
    this.strips++;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} room
   * @param {Palette} palette
   */
  #labels(context, room, palette) {
    const { rows, recording } = this;
    context.save();
    context.beginPath();
    context.rect(0, AXIS, GUTTER, room);
    context.clip();
    context.font = `10px ${FONT}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const every = Math.max(1, Math.ceil(11 / Math.max(rows.folded, 0.1)));
    const chosen = this.#chosen();
    let free = -Infinity;
    for (let node = 0; node < recording.nodes; node++) {
      const open = rows.isOpen(node) || chosen.has(node);
      if (!open && node % every) continue;
      const y =
        AXIS +
        rows.top[node] -
        this.scroll +
        (rows.isOpen(node) ? Math.min(rows.height(node) / 2, 40) : rows.folded / 2);
      // The name of a low first row is whole, too.
      const middle = y >= AXIS ? Math.max(y, AXIS + 6) : y;
      if (y < AXIS - 20 || y > AXIS + room + 20 || (middle < free && !open)) continue;
      free = middle + 10;
      context.fillStyle = open ? palette.ink : palette.faint;
      const name = recording.nodeName(node);
      context.fillText(name.length > 9 ? `${name.slice(0, 8)}…` : name, GUTTER - 6, middle);
    }
    context.restore();
  }

  /**
   * What is selected, above the strip: the visits of the task with a rim, its moves as arrows.
   * @param {CanvasRenderingContext2D} context
   * @param {number} plot
   * @param {number} room
   * @param {Palette} palette
   */
  #selected(context, plot, room, palette) {
    const { view, recording, rows } = this;
    const selection = view.selection;
    if (!selection || selection.run !== this.run || (selection.kind !== "decision" && selection.kind !== "task"))
      return;
    const task = selection.kind === "task" ? selection.id : recording.taskRow(recording.decisions.task[selection.id]);
    if (task >= recording.tasks) return;
    const { start, from, node, origin, what, decision } = recording.segments;
    const scale = plot / (view.to - view.from);
    /** @param {number} time */
    const at = (time) => GUTTER + (time - view.from) * scale;
    /** @param {number} of */
    const middle = (of) => AXIS + rows.top[of] + rows.height(of) / 2 - this.scroll;
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS, plot, room);
    context.clip();
    context.strokeStyle = palette.accent;
    context.fillStyle = palette.accent;
    for (let row = start[task]; row < start[task + 1]; row++) {
      const [x0, x1] = [at(from[row]), at(ended(recording, row))];
      if (what[row] === 4) {
        const place = this.#placeOf(row);
        context.lineWidth = 2;
        context.strokeRect(x0, place.y, Math.max(x1 - x0, 2), place.height);
      } else if (origin[row] !== node[row]) {
        context.lineWidth = selection.kind === "decision" && decision[row] === selection.id ? 3 : 1.5;
        arrow(context, x0, middle(origin[row]), x1, middle(node[row]));
      }
    }
    if (selection.kind === "decision" && !recording.decisions.accepted[selection.id]) {
      const { source, target, time } = recording.decisions;
      context.strokeStyle = context.fillStyle = palette.moves[2];
      context.setLineDash([3, 3]);
      context.lineWidth = 2;
      arrow(
        context,
        at(time[selection.id]),
        middle(source[selection.id]),
        at(time[selection.id]),
        middle(target[selection.id]),
      );
    }
    context.restore();
  }

  /**
   * Where a visit's bar is, or its row where that shows no bars.
   * @param {number} row
   */
  #placeOf(row) {
    const { rows, recording, lanes } = this;
    const { visits, segments } = recording;
    const node = segments.node[row];
    const y = AXIS + rows.top[node] - this.scroll;
    const lane = this.laneHeights[node];
    let at = visits.start[node];
    while (lane && at < visits.start[node + 1] && visits.rows[at] !== row) at++;
    const under = (lanes.lane[at] + 1) * lane;
    if (!lane || under > rows.height(node)) return { y: y + 0.5, height: Math.max(rows.height(node) - 2, 2) };
    return { y: y + under - lane + (rows.isOpen(node) ? 2 : 0), height: Math.max(lane > 3 ? lane - 1 : lane, 2) };
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

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function arrow(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8 * Math.cos(angle - 0.45), y1 - 8 * Math.sin(angle - 0.45));
  context.lineTo(x1 - 8 * Math.cos(angle + 0.45), y1 - 8 * Math.sin(angle + 0.45));
  context.fill();
}
