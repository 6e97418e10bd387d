/** What the canvases show, as text beside them: for screen readers, and to be read by all (key w). Bounded, never spoken. */

import { dialogHead, el, fill, openDialog } from "./dom.js";
import { downWords, movesInWords, nodesInWords, partsInWords, peaksInWords } from "./mirror_words.js";
import { QUANTITIES } from "./series.js";
import { valueAt } from "./lines.js";
import { counted, moment, plain } from "./words.js";

/** @typedef {import("./lines.js").Lines} Lines */
/** @typedef {import("./series.js").Series} Series */
/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {import("./totals.js").Totals} Totals */
/** @typedef {import("./view.js").View} View */

/** A text follows what is seen when it has not changed for that long [ms]. */
const LATER_MS = 300;
/** The table of nodes has no more rows than this. */
const MOST_ROWS = 128;

export class Mirror {
  /**
   * @param {View} view
   * @param {{stages: Stage[], timelines: Timeline[], lines: Lines, totals: Totals[]}} shown
   */
  constructor(view, { stages, timelines, lines, totals }) {
    this.view = view;
    this.stages = stages;
    this.timelines = timelines;
    this.lines = lines;
    this.totals = totals;
    const text = () => el("p", { class: "quiet mirror" });
    /** To be put beside the canvases. */
    this.ofStages = stages.map(text);
    this.ofTimelines = timelines.map(text);
    this.ofLines = text();
    this.dialog = /** @type {HTMLDialogElement} */ (el("dialog", { class: "help mirrored", "aria-label": "In words" }));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waits = undefined;
    for (const { element } of [...stages, ...timelines, lines])
      element.addEventListener("focusin", () => this.refresh());
  }

  /** What is seen has changed: soon the texts follow. While the clock runs they wait. */
  later() {
    clearTimeout(this.waits);
    this.waits = this.view.playing ? undefined : setTimeout(() => this.refresh(), LATER_MS);
  }

  refresh() {
    this.stages.forEach((one, run) => say(this.ofStages[run], this.#stage(one)));
    this.timelines.forEach((one, run) => say(this.ofTimelines[run], this.#timeline(one)));
    say(this.ofLines, this.#lines());
  }

  /** Show the texts, as they are now. */
  toggle() {
    const { dialog, view } = this;
    if (dialog.open) return dialog.close();
    view.play(false);
    this.refresh();
    const { header } = view.recordings[0];
    fill(
      dialog,
      dialogHead(`In words, at ${moment(view.time)}`, () => dialog.close()),
      ...[...this.ofStages, ...this.ofTimelines, this.ofLines].map((one) => el("p", { text: one.textContent })),
      this.#table(),
      el("p", { class: "note", text: `Numbers are rounded: ${header.rounded}` }),
    );
    openDialog(dialog);
  }

  /**
   * A node at the clock, under each policy.
   * @param {number} node
   */
  nodeWords(node) {
    const { view, stages } = this;
    const words = stages.map(({ state, run }) => {
      state.at(view.time);
      const now = state.isDown(node)
        ? "down"
        : `${counted(state.tasks[node], "task")}${partsInWords(state, node)}, memory ${Math.round(100 * state.memoryShare(node))} %`;
      return stages.length > 1 ? `${view.names[run]}: ${now}` : now;
    });
    return `${view.recordings[0].nodeName(node)} at ${moment(view.time)}: ${words.join("; ")}.`;
  }

  /** @param {Stage} stage */
  #stage({ state, recording, run }) {
    const { view } = this;
    state.at(view.time);
    return [
      `At ${moment(view.time)} under ${view.names[run]}: ${counted(this.totals[run].at(view.time).inside, "task")} in the system.`,
      nodesInWords(state),
      movesInWords(recording, view.time, view.shown),
    ].join(" ");
  }

  /** @param {Timeline} timeline */
  #timeline({ lanes, recording, run }) {
    const { from, to } = this.view;
    const ends = (/** @type {number} */ time) => time >= from && time <= to;
    const { at } = recording.failures;
    return [
      `Timeline of ${this.view.names[run]} from ${moment(from)} to ${moment(to)}: a row for each of ${counted(recording.nodes, "node")}.`,
      peaksInWords(lanes, from, to),
      at.length ? downWords(recording, from, to) : "",
      `The clock is ${ends(this.view.time) ? `at ${moment(this.view.time)}` : "outside"}.`,
    ]
      .filter(Boolean)
      .join(" ");
  }

  #lines() {
    const { view, lines } = this;
    const [name, unit] = QUANTITIES[lines.quantity];
    const of = unit ? ` ${unit}` : "";
    const words = (lines.known.get(lines.quantity) ?? []).map((series, run) => {
      const now = valueAt(series, view.time);
      const [least, most] = extremes(series, view.from, view.to);
      const range = most
        ? `, least ${plain(least.value)}${of} at ${moment(least.time)}, most ${plain(most.value)}${of} at ${moment(most.time)}`
        : ", nothing measured in this window";
      return `${view.names[run]}: ${Number.isFinite(now) ? `${plain(now)}${of}` : "unknown"} at ${moment(view.time)}${range}.`;
    });
    return [`${name}, from ${moment(view.from)} to ${moment(view.to)}.`, ...words].join(" ");
  }

  /** Tasks and memory of each node. */
  #table() {
    const { stages, view } = this;
    const [first] = view.recordings;
    const heads = stages.flatMap(({ run }) => [`${view.names[run]}: tasks`, "memory"]);
    const count = Math.min(first.nodes, MOST_ROWS);
    return el(
      "table",
      { class: "loads" },
      el("caption", { text: count < first.nodes ? `The first ${count} of ${first.nodes} nodes` : "Nodes" }),
      el("thead", {}, el("tr", {}, el("td"), ...heads.map((text) => el("th", { scope: "col", text })))),
      el(
        "tbody",
        {},
        ...Array.from({ length: count }, (_, node) =>
          el(
            "tr",
            {},
            el("th", { scope: "row", text: first.nodeName(node) }),
            ...stages.flatMap(({ state }) => [
              el("td", { text: state.isDown(node) ? "down" : state.tasks[node] }),
              el("td", { text: `${Math.round(100 * state.memoryShare(node))} %` }),
            ]),
          ),
        ),
      ),
    );
  }
}

/** @param {HTMLElement} place @param {string} words */
function say(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/**
 * The first point with the least value in a window, and the first with the most; null: there is no point.
 * @param {Series} series
 * @param {number} from
 * @param {number} to
 */
function extremes({ time, value }, from, to) {
  /** @type {any[]} */
  const found = [null, null];
  for (let at = 0; at < time.length && time[at] <= to; at++) {
    if (time[at] < from || !Number.isFinite(value[at])) continue;
    if (!found[0] || value[at] < found[0].value) found[0] = { time: time[at], value: value[at] };
    if (!found[1] || value[at] > found[1].value) found[1] = { time: time[at], value: value[at] };
  }
  return found;
}
