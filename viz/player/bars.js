/** Visits as bars in the lanes of their rows; in a detailed window what the task does at each moment. */

import { LEAST_HIGH, LEAST_WIDE, hatching } from "./hatch.js";
import { ended } from "./lanes.js";
import { FONT } from "./machines.js";
import { firstAbove, firstFrom } from "./search.js";

/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("./strip.js").Context} Context */
/** @typedef {import("./strip.js").Piece} Piece */

export const MOST_BARS = 9000;
export const LEAST_LANE = 2;
const MOST_PIECES = 40_000;
const STATES = 8;

/** Rectangles by colour: x, y, width, height each; kept from strip to strip. @type {number[][]} */
const batches = Array.from({ length: 2 * STATES }, () => []);

/**
 * Places in `visits.rows` of a node's visits that may lie in a window.
 * @param {Lanes} lanes
 * @param {number} node
 * @param {number} from
 * @param {number} to
 */
export function visitsIn(lanes, node, from, to) {
  const { visits, segments } = lanes.recording;
  const [start, end] = [visits.start[node], visits.start[node + 1]];
  const first = firstFrom(lanes.reach, from, start, end);
  let [low, high] = [first, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (segments.from[visits.rows[middle]] < to) low = middle + 1;
    else high = middle;
  }
  return { first, last: low };
}

/**
 * @param {Context} context
 * @param {Piece} piece
 * @param {Uint8Array} asBars which rows show bars
 * @returns {Float64Array} the height of a lane in each of them
 */
export function paintBars(context, piece, asBars) {
  const { lanes, rows, from, to, width, height, top, palette, ratio } = piece;
  const { recording } = lanes;
  const { segments, visits, tables } = recording;
  const scale = width / (to - from);
  const heights = new Float64Array(recording.nodes);
  for (const batch of batches) batch.length = 0;
  /** @type {{x: number, y: number, text: string}[]} */
  const labels = [];
  let pieces = 0;
  for (let node = 0; node < recording.nodes; node++) {
    const y = rows.top[node] - top;
    if (!asBars[node] || y + rows.height(node) < 0 || y > height) continue;
    const open = rows.isOpen(node);
    const room = rows.height(node) - (open ? 4 : 1);
    context.fillStyle = palette.ground;
    context.fillRect(0, y, width, rows.height(node) - 1);
    const { first, last } = visitsIn(lanes, node, from, to);
    let used = 1;
    for (let at = first; at < last; at++) {
      if (ended(recording, visits.rows[at]) > from && lanes.lane[at] >= used) used = lanes.lane[at] + 1;
    }
    const lane = Math.min(
      Math.max(room / used, LEAST_LANE),
      open ? 14 : rows.folded > 24 ? 9 : rows.folded > 14 ? 8 : 6,
    );
    heights[node] = lane;
    for (let at = first; at < last; at++) {
      const row = visits.rows[at];
      const end = ended(recording, row);
      const under = (lanes.lane[at] + 1) * lane;
      if (end <= from || under > room + 1) continue;
      const x = Math.max((segments.from[row] - from) * scale, -2);
      const right = Math.min((end - from) * scale, width + 2);
      const above = y + under - lane + (open ? 2 : 0);
      const high = lane > 3 ? lane - 1 : lane;
      const gap = right - x > 4 ? 0.75 : 0;
      batches[Math.min(segments.main[row], STATES - 1)].push(x, above, Math.max(right - x - gap, 0.75), high);
      if (pieces < MOST_PIECES) pieces += pushPieces(piece, row, above, high);
      if (open && lane >= 8 && right - x > 54) {
        const job = recording.jobNumber(tables.tasks.columns.job[segments.task[row]]);
        labels.push({ x: Math.max(x, 0) + 3, y: y + under - lane / 2 + 1.5, text: `job ${job}` });
      }
    }
  }
  batches.forEach((batch, place) => {
    context.fillStyle = palette.states[place % STATES];
    for (let at = 0; at < batch.length; at += 4) {
      context.fillRect(batch[at], batch[at + 1], batch[at + 2], batch[at + 3]);
    }
    const lines = batch.length && hatching(context, place % STATES, palette, ratio);
    if (!lines) return;
    context.fillStyle = lines;
    for (let at = 0; at < batch.length; at += 4) {
      if (batch[at + 2] >= LEAST_WIDE && batch[at + 3] >= LEAST_HIGH)
        context.fillRect(batch[at], batch[at + 1], batch[at + 2], batch[at + 3]);
    }
  });
  context.font = `9px ${FONT}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = "#101418";
  for (const { x, y, text } of labels) context.fillText(text, x, y);
  return heights;
}

/**
 * What a task does in a visit, in the part of a detailed window that is seen.
 * @param {Piece} piece
 * @param {number} row of the visit
 * @param {number} y
 * @param {number} high
 * @returns {number} how many pieces
 */
function pushPieces({ lanes, from, to, width }, row, y, high) {
  const { detail, segments } = lanes.recording;
  if (!(detail.from < to && detail.to > from)) return 0;
  const task = segments.task[row];
  const scale = width / (to - from);
  const begin = Math.max(segments.from[row], from);
  const end = Math.min(ended(lanes.recording, row), to);
  let at = Math.max(
    firstAbove(detail.begin, begin, detail.start[task], detail.start[task + 1]) - 1,
    detail.start[task],
  );
  let count = 0;
  for (; at < detail.start[task + 1] && detail.begin[at] < end; at++) {
    const x = (Math.max(detail.begin[at], begin) - from) * scale;
    const right = (Math.min(detail.end[at], end) - from) * scale;
    if (right <= x) continue;
    batches[STATES + Math.min(detail.state[at], STATES - 1)].push(x, y, right - x, high);
    count++;
  }
  return count;
}
