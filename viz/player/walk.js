/** By keys: on the stage from node to node, on the timeline from row to row and visit to visit, from move to move. */

import { ended } from "./lanes.js";

/** @typedef {import("./places.js").Box} Box */
/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {import("./view.js").Selection} Selection */
/** @typedef {import("./view.js").View} View */

/** @type {Record<string, [number, number]>} */
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** To the next node by its number. @type {Record<string, number>} */
const PAGES = { PageDown: 1, PageUp: -1 };
/** Around a move or a visit this much is seen, too: a share of its length, and at least this [ms]. */
const AROUND = 0.2;
const LEAST_AROUND = 10;

export class Walk {
  /**
   * @param {View} view
   * @param {Stage[]} stages
   * @param {Timeline[]} timelines
   */
  constructor(view, stages, timelines) {
    this.view = view;
    this.stages = stages;
    /** The visit on which the walk along each timeline stands, as a row of segments. @type {number[]} */
    this.visits = timelines.map(() => -1);
    for (const stage of stages) onKeys(stage.element, (key) => this.#onStage(stage, key));
    for (const line of timelines) onKeys(line.element, (key) => this.#onTimeline(line, key));
  }

  /** @param {Stage} stage @param {string} key */
  #onStage(stage, key) {
    const boxes = stage.places?.boxes;
    if (!boxes || !(WAYS[key] || PAGES[key])) return false;
    const { node } = this.#here(stage.run);
    let next = 0;
    if (node >= 0) next = WAYS[key] ? neighbour(boxes, node, WAYS[key]) : clamped(node + PAGES[key], boxes.length);
    this.view.select({ run: stage.run, kind: "node", id: next });
    return true;
  }

  /** @param {Timeline} line @param {string} key */
  #onTimeline(line, key) {
    const { run, recording, rows } = line;
    const { node, visit } = this.#here(run);
    const down = PAGES[key] ?? WAYS[key]?.[1];
    if (down) {
      this.view.select({ run, kind: "node", id: node < 0 ? 0 : clamped(node + down, recording.nodes) });
      return true;
    }
    if (key === "Enter" && node >= 0) {
      rows.toggle(node);
      this.view.select({ run, kind: "node", id: node });
      this.view.tell("rows");
      return true;
    }
    const on = WAYS[key]?.[0];
    if (!on) return false;
    const found = this.#visit(run, Math.max(node, 0), visit, on);
    if (found >= 0) {
      this.visits[run] = found;
      this.view.select({ run, kind: "task", id: recording.segments.task[found] }, recording.segments.from[found]);
    }
    return true;
  }

  /**
   * Where the selection is in a run: a node, and a visit; -1: nowhere.
   * @param {number} run
   */
  #here(run) {
    const { selection, recordings, time } = this.view;
    const recording = recordings[run];
    if (selection?.kind === "node") return { node: selection.id, visit: -1 };
    if (selection?.run !== run) return { node: -1, visit: -1 };
    if (selection.kind === "decision") return { node: recording.decisions.source[selection.id], visit: -1 };
    if (selection.kind !== "task") return { node: -1, visit: -1 };
    const { segments } = recording;
    const walked = this.visits[run];
    const row =
      walked >= 0 && segments.task[walked] === selection.id ? walked : recording.segmentAt(selection.id, time);
    return row < 0 ? { node: -1, visit: -1 } : { node: segments.node[row], visit: row };
  }

  /**
   * The next visit of a node, or the one before: from a visit, else from the clock; -1: none.
   * @param {number} run
   * @param {number} node
   * @param {number} visit
   * @param {number} on 1 or -1
   */
  #visit(run, node, visit, on) {
    const { visits, segments } = this.view.recordings[run];
    const rows = visits.rows.subarray(visits.start[node], visits.start[node + 1]);
    let at = rows.indexOf(visit);
    if (at < 0) {
      const { time } = this.view;
      const after = rows.findIndex((row) => segments.from[row] > time);
      at = (after < 0 ? rows.length : after) - (on > 0 ? 1 : 0);
    }
    return rows[at + on] ?? -1;
  }

  /** Select the next one of the moves that the stages show now, and leave the clock where it is: whether there is one. */
  nextMove() {
    const { view } = this;
    /** @type {Selection[]} */
    const shown = [];
    this.stages.forEach(({ dots, recording, run }) => {
      const { decision, segment } = recording.moves;
      // The latest one is found first.
      for (const row of dots.found.subarray(0, dots.count).slice().reverse()) {
        if (decision[row] >= 0) shown.push({ run, kind: "decision", id: decision[row] });
        else if (segment[row] >= 0) shown.push({ run, kind: "task", id: recording.segments.task[segment[row]] });
      }
    });
    if (!shown.length) return false;
    const { selection } = view;
    const at = shown.findIndex(
      (one) => one.run === selection?.run && one.kind === selection.kind && one.id === selection.id,
    );
    view.select(shown[(at + 1) % shown.length]);
    return true;
  }

  /** Zoom to the move or the visit that is selected. */
  zoom() {
    const { selection, recordings, time } = this.view;
    if (!selection) return;
    const recording = recordings[selection.run];
    if (selection.kind === "decision") {
      const { time: begin, enters } = recording.decisions;
      const from = begin[selection.id];
      this.#zoomTo(from, Number.isFinite(enters[selection.id]) ? enters[selection.id] : from);
    } else if (selection.kind === "task") {
      const row = recording.segmentAt(selection.id, time);
      if (row >= 0) this.#zoomTo(recording.segments.from[row], ended(recording, row));
    }
  }

  /** @param {number} from @param {number} to [ms] */
  #zoomTo(from, to) {
    const around = Math.max((to - from) * AROUND, LEAST_AROUND);
    this.view.window(from - around, to + around);
  }
}

/**
 * Keys of an element that was reached by a key: one that was clicked leaves the arrows to the clock.
 * @param {HTMLElement} element
 * @param {(key: string) => boolean} act whether it was one of its keys
 */
function onKeys(element, act) {
  let byKeys = false;
  element.addEventListener("focus", () => {
    byKeys = element.matches(":focus-visible");
  });
  element.addEventListener("pointerdown", () => {
    byKeys = false;
  });
  element.addEventListener("keydown", (event) => {
    const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
    if (!byKeys || ctrlKey || metaKey || altKey || shiftKey || !act(key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** @param {number} value @param {number} count */
const clamped = (value, count) => Math.min(Math.max(value, 0), count - 1);

/**
 * The nearest box that lies in a direction; itself if there is none.
 * @param {Box[]} boxes
 * @param {number} from
 * @param {[number, number]} way
 */
function neighbour(boxes, from, [right, down]) {
  const middle = (/** @type {Box} */ box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x0, y0] = middle(boxes[from]);
  let [best, nearest] = [from, Infinity];
  boxes.forEach((box, node) => {
    const [x, y] = middle(box);
    const along = (x - x0) * right + (y - y0) * down;
    const across = Math.abs((x - x0) * down) + Math.abs((y - y0) * right);
    if (along < 1 || along < across / 2) return;
    const distance = along + 2 * across;
    if (distance < nearest) [best, nearest] = [node, distance];
  });
  return best;
}
