/** What colours and marks mean. */

import { DASHES, drawMark } from "./dots.js";
import { el } from "./dom.js";
import { hatched } from "./hatch.js";
import { MOVE } from "./recording.js";
import { moment } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./recording.js").Recording} Recording */

const STATES = ["runs on a CPU", "waits for a CPU", "disk serves it", "waits for the disk", "pages"];
/** @type {[number, string, string][]} */
const MOVES = [
  [MOVE.start, "remote start", "dashed"],
  [MOVE.migration, "migration", "solid"],
  [MOVE.refused, "refused", "comes back"],
  [MOVE.data, "fetches data", "a square"],
  [MOVE.back, "transfer failed", "comes back"],
  [MOVE.restart, "starts again", "a plus"],
  [MOVE.message, "message", "small"],
];

/**
 * @param {Recording[]} recordings
 * @param {Palette} palette
 * @param {number} most tasks that the scale shows
 */
export function legendOf(recordings, palette, most) {
  const tiles = recordings.some((one) => one.nodes > 100);
  const list = el("ul", { class: "legend", "aria-label": "Legend" });
  STATES.forEach((words, state) => {
    if (state === 4 && !recordings.some((one) => one.tables.tasks.columns.faults.some((faults) => faults > 0))) return;
    list.append(el("li", {}, el("i", { class: "square", css: hatched(state, palette) }), words));
  });
  const used = new Set(recordings.flatMap((one) => [...new Set(one.moves.kind)]));
  for (const [kind, words, how] of MOVES) {
    if (!used.has(kind)) continue;
    list.append(el("li", { title: how }, mark(kind, palette), words));
  }
  const scale = el("span", {
    class: "ramp",
    css: { background: `linear-gradient(to right, ${palette.ramp.join(", ")})` },
  });
  list.append(
    el("li", { title: `Tasks on a node${tiles ? "" : ", folded rows of the timeline"}` }, "1", scale, `${most} tasks`),
  );
  const detail = recordings.find((one) => one.detail.from >= 0)?.detail;
  const exact = detail ? `, exact from ${moment(detail.from)} to ${moment(detail.to)}` : "";
  if (!tiles) {
    const title =
      "How many tasks are on a node is exact. When a task is at the CPU and when at the disk is known in a detailed window only.";
    list.append(el("li", { title }, el("em", { text: `CPU and disk: on average over each visit${exact}` })));
  }
  if (!tiles) list.append(el("li", { text: "upper row: CPU, lower row: disk; first what is served, then what waits" }));
  if (!tiles)
    list.append(el("li", {}, el("i", { class: "memory", css: { background: palette.memory } }), "memory in use"));
  return list;
}

/**
 * The mark of a move on its line.
 * @param {number} kind
 * @param {Palette} palette
 * @param {string} words what it is, where no words stand beside it
 */
export function mark(kind, palette, words = "") {
  const canvas = /** @type {HTMLCanvasElement} */ (
    el("canvas", {
      width: 52,
      height: 28,
      class: "mark",
      ...(words ? { role: "img", "aria-label": words } : { "aria-hidden": "true" }),
    })
  );
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  context.scale(2, 2);
  context.strokeStyle = palette.moves[kind];
  context.lineWidth = 1.5;
  context.setLineDash(DASHES[kind] ?? []);
  context.beginPath();
  context.moveTo(0, 7);
  context.lineTo(26, 7);
  context.stroke();
  drawMark(context, kind, 13, 7, palette.moves[kind], palette.paper);
  return canvas;
}
