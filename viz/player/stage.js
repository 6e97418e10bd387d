/** The stage: what is on each node now, and what is under way. */

import { Dots, arcOf, head, stroke } from "./dots.js";
import { el, fitted } from "./dom.js";
import { FONT, drawMachine, drawTile } from "./machines.js";
import { placesOf } from "./places.js";
import { MOVE } from "./recording.js";
import { counted } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./state.js").NodeState} NodeState */
/** @typedef {import("./view.js").View} View */

/** Above this many nodes tiles are so small that finer pixels show nothing more. */
const MANY = 400;

export class Stage {
  /**
   * @param {View} view
   * @param {number} run
   * @param {NodeState} state
   * @param {number} most tasks that the scale of tiles shows
   */
  constructor(view, run, state, most) {
    this.view = view;
    this.run = run;
    this.state = state;
    this.most = most;
    this.dots = new Dots();
    this.base = /** @type {HTMLCanvasElement} */ (el("canvas", { class: "layer", "aria-hidden": "true" }));
    /** The nodes, painted when they change and copied when something moves. @type {OffscreenCanvas | null} */
    this.nodes = null;
    this.tip = el("div", { class: "tip", hidden: true });
    this.element = el(
      "div",
      {
        class: "stage",
        role: "application",
        tabindex: "0",
        "aria-label": `Stage of ${view.names[run]}: arrow keys choose a node`,
        onclick: (/** @type {MouseEvent} */ event) => this.#click(event),
        onpointermove: (/** @type {PointerEvent} */ event) => this.#hover(event),
        onpointerleave: () => {
          this.tip.hidden = true;
        },
      },
      this.base,
      this.tip,
    );
    /** @type {ReturnType<typeof fitted> | null} */
    this.fit = null;
    /** @type {CanvasRenderingContext2D | null} */
    this.painter = null;
    this.version = -1;
    this.key = "";
    /** @type {import("./places.js").Places | null} */
    this.places = null;
    /** @type {Set<number>} */
    this.marked = new Set();
  }

  /** @returns {Recording} */
  get recording() {
    return this.view.recordings[this.run];
  }

  /** Show another state of the same run. @param {NodeState} state */
  begin(state) {
    this.state = state;
    this.key = "";
  }

  /**
   * @param {Palette} palette
   * @param {boolean} sized whether the size may have changed
   */
  draw(palette, sized) {
    const { view, state, recording } = this;
    if (sized || !this.fit) this.fit = fitted(this.base, recording.nodes > MANY ? 1.5 : 3);
    const { width, height, ratio, context } = this.fit;
    if (!width || !height) return;
    const key = `${width} ${height} ${ratio} ${palette.dark}`;
    const whole = key !== this.key || !this.places || !this.nodes;
    if (whole) {
      this.key = key;
      this.places = placesOf(recording, width, height);
      this.nodes = new OffscreenCanvas(this.base.width, this.base.height);
      this.painter = /** @type {any} */ (this.nodes.getContext("2d", { alpha: false }));
      /** @type {any} */ (this.painter).setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    const places = /** @type {import("./places.js").Places} */ (this.places);
    const painter = /** @type {CanvasRenderingContext2D} */ (this.painter);
    const marked = this.#selectedNodes();
    state.at(view.time);
    if (whole) this.#ground(painter, places, palette, width, height);
    for (let node = 0; node < recording.nodes; node++) {
      const differs = marked.has(node) !== this.marked.has(node) || recording.down[node].length > 0;
      if (!whole && !differs && state.changed[node] <= this.version) continue;
      if (places.tiles) drawTile(painter, places.boxes[node], node, state, palette, marked.has(node), this.most);
      else drawMachine(painter, places.boxes[node], node, state, palette, marked.has(node));
    }
    this.version = state.version;
    this.dots.height = height;
    this.marked = marked;
    context.drawImage(/** @type {OffscreenCanvas} */ (this.nodes), 0, 0, width, height);
    this.#moves(context, places, palette, ratio);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./places.js").Places} places
   * @param {Palette} palette
   * @param {number} width
   * @param {number} height
   */
  #ground(context, places, palette, width, height) {
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    context.font = `600 11px ${FONT}`;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    if (places.links) this.#links(context, places, palette);
    for (const { name, box } of places.groups) {
      context.strokeStyle = palette.line;
      context.beginPath();
      context.roundRect(box.x, box.y, box.width, box.height, 6);
      context.stroke();
      context.fillStyle = palette.faint;
      context.fillText(/^\d+$/.test(name) ? `cluster ${name}` : name, box.x + 6, box.y + 13);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./places.js").Places} places
   * @param {Palette} palette
   * @param {number} ratio
   */
  #moves(context, places, palette, ratio) {
    const { recording, view } = this;
    const selection = view.selection?.run === this.run ? view.selection : null;
    const decision = selection?.kind === "decision" ? selection.id : -1;
    this.dots.draw(context, recording, places.boxes, view.time, view.shown, palette, ratio, decision);
    if (decision < 0) return;
    const { source, target, kind, accepted } = recording.decisions;
    if (source[decision] === target[decision]) return;
    const arc = arcOf(places.boxes[source[decision]], places.boxes[target[decision]], this.dots.height);
    const how = !accepted[decision] ? MOVE.refused : kind[decision] === 2 ? MOVE.migration : MOVE.start;
    // Away from its moment the move is a reminder of what is selected.
    const { time } = recording.decisions;
    const near = view.time >= time[decision] - 1 && view.time <= time[decision] + Math.max(4 * view.shown, 2000);
    stroke(context, arc, palette.moves[how], how, near, 0.4, 2);
    head(context, arc, palette.moves[how]);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {import("./places.js").Places} places
   * @param {Palette} palette
   */
  #links(context, places, palette) {
    const { x1, y1, x2, y2 } = this.recording.tables.links.columns;
    const box = places.boxes[0];
    const width = this.base.clientWidth - box.width - 12;
    const height = this.base.clientHeight - box.height - 12;
    const left = 6 + box.width / 2;
    const top = 6 + box.height / 2;
    context.strokeStyle = palette.line;
    context.lineWidth = 1;
    context.beginPath();
    for (let row = 0; row < x1.length; row++) {
      context.moveTo(left + x1[row] * width, top + y1[row] * height);
      context.lineTo(left + x2[row] * width, top + y2[row] * height);
    }
    context.stroke();
  }

  #selectedNodes() {
    const selection = this.view.selection;
    const { recording } = this;
    /** @type {Set<number>} */
    const found = new Set();
    if (!selection) return found;
    if (selection.kind === "node") found.add(selection.id);
    if (selection.run !== this.run) return found;
    if (selection.kind === "decision") {
      found.add(recording.decisions.source[selection.id]);
      found.add(recording.decisions.target[selection.id]);
    }
    if (selection.kind === "task") {
      const row = recording.segmentAt(selection.id, this.view.time);
      if (row >= 0) found.add(recording.segments.node[row]);
    }
    return found;
  }

  /** @param {MouseEvent} event */
  #at(event) {
    const box = this.base.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {{x: number, y: number}} at */
  #nodeAt({ x, y }) {
    return (
      this.places?.boxes.findIndex(
        (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
      ) ?? -1
    );
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const at = this.#at(event);
    const { moves, segments } = this.recording;
    const move = this.dots.hit(at.x, at.y);
    if (move >= 0 && moves.decision[move] >= 0) {
      this.view.select({ run: this.run, kind: "decision", id: moves.decision[move] });
    } else if (move >= 0 && moves.segment[move] >= 0) {
      this.view.select({ run: this.run, kind: "task", id: segments.task[moves.segment[move]] });
    } else {
      const node = this.#nodeAt(at);
      this.view.select(node >= 0 ? { run: this.run, kind: "node", id: node } : null);
    }
  }

  /** @param {PointerEvent} event */
  #hover(event) {
    const at = this.#at(event);
    const { state, recording } = this;
    const move = this.dots.hit(at.x, at.y);
    const node = move >= 0 ? -1 : this.#nodeAt(at);
    this.element.style.cursor = move >= 0 || node >= 0 ? "pointer" : "default";
    this.tip.hidden = move < 0 && node < 0;
    if (this.tip.hidden) return;
    this.tip.textContent =
      move >= 0
        ? this.#moveWords(move)
        : `${recording.nodeName(node)}: ${counted(state.tasks[node], "task")}, memory ${Math.round(100 * state.memoryShare(node))} %`;
    const left = Math.min(at.x + 12, this.base.clientWidth - this.tip.offsetWidth - 4);
    this.tip.style.transform = `translate(${Math.max(left, 0)}px, ${at.y > 40 ? at.y - 32 : at.y + 18}px)`;
  }

  /** @param {number} move */
  #moveWords(move) {
    const { recording } = this;
    const { moves, decisions, segments, tables } = recording;
    const words = [
      "starts on",
      "migrates to",
      "is refused by",
      "fetches data for",
      "returns to",
      "starts again on",
      "sends a message to",
    ];
    const decision = moves.decision[move];
    const task =
      decision >= 0
        ? decisions.task[decision]
        : moves.segment[move] >= 0
          ? tables.tasks.columns.task[segments.task[moves.segment[move]]]
          : -1;
    const who = task >= 0 ? `task ${task}` : "manager";
    return `${who} of ${recording.nodeName(moves.origin[move])} ${words[moves.kind[move]]} ${recording.nodeName(moves.node[move])}`;
  }
}
