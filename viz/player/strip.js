/**
 * A piece of the timeline, painted once and shown many times: how many tasks each node had as colours, the visits as bars
 * where they have room, and the moves between rows as lines where there are few.
 */

import { LEAST_LANE, MOST_BARS, paintBars, visitsIn } from "./bars.js";
import { shadeOf } from "./colours.js";
import { DASHES } from "./dots.js";
import { hatching } from "./hatch.js";
import { MOVE } from "./recording.js";
import { firstAbove, firstFrom } from "./search.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("./rows.js").Rows} Rows */
/** @typedef {OffscreenCanvasRenderingContext2D} Context */
/**
 * @typedef {{lanes: Lanes, rows: Rows, from: number, to: number, width: number, height: number, top: number, ratio: number,
 *   most: number, palette: Palette}} Piece
 */

const MOST_LINES = 700;
/** Nodes that are down are crossed out, as what pages is. */
const DOWN_SIGN = 4;

let pixels = new Uint32Array(0);
let maxima = new Uint16Array(0);

/**
 * @param {Context} context
 * @param {Piece} piece
 * @returns {Float64Array} the height of a lane in each row that shows bars; 0 in the others
 */
export function paintStrip(context, piece) {
  const { width, height, ratio, palette } = piece;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, Math.ceil(width * ratio), Math.ceil(height * ratio));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const asBars = barsOf(piece);
  paintHeat(context, piece, asBars);
  const lanes = paintBars(context, piece, asBars);
  paintDown(context, piece);
  paintLines(context, piece);
  return lanes;
}

/**
 * When nodes are down.
 * @param {Context} context
 * @param {Piece} piece
 */
function paintDown(context, { lanes, rows, from, to, width, height, top, palette, ratio }) {
  const { down } = lanes.recording;
  const scale = width / (to - from);
  const lines = hatching(context, DOWN_SIGN, palette, ratio) ?? palette.down;
  down.forEach((times, node) => {
    const y = rows.top[node] - top;
    for (let place = 0; place < times.length; place += 2) {
      if (times[place] > to || times[place + 1] < from || y > height || y + rows.height(node) < 0) continue;
      const x = Math.max((times[place] - from) * scale, 0);
      const wide = Math.min((times[place + 1] - from) * scale, width) - x;
      const high = Math.max(rows.height(node) - 1, 1);
      context.globalAlpha = 0.28;
      context.fillStyle = palette.down;
      context.fillRect(x, y, wide, high);
      context.globalAlpha = 0.45;
      context.fillStyle = lines;
      if (high >= 4) context.fillRect(x, y, wide, high);
    }
  });
  context.globalAlpha = 1;
}

/**
 * Which rows show their visits as bars: those whose lanes have room, as long as there are not too many.
 * @param {Piece} piece
 * @returns {Uint8Array} by node
 */
function barsOf({ lanes, rows, from, to }) {
  const { recording } = lanes;
  const found = new Uint8Array(recording.nodes);
  let bars = 0;
  for (let node = 0; node < recording.nodes; node++) {
    const { first, last } = visitsIn(lanes, node, from, to);
    let most = 0;
    const [begin, end] = [
      firstFrom(lanes.time, from, lanes.start[node], lanes.start[node + 1]),
      firstAbove(lanes.time, to, lanes.start[node], lanes.start[node + 1]),
    ];
    if (begin > lanes.start[node]) most = lanes.count[begin - 1];
    if (rows.height(node) >= 5 && last - first < MOST_BARS) {
      for (let at = begin; at < end; at++) if (lanes.count[at] > most) most = lanes.count[at];
      if (most * LEAST_LANE <= rows.height(node) - 1 || rows.isOpen(node)) found[node] = 1;
    }
    if (found[node]) bars += last - first;
  }
  if (bars > MOST_BARS) for (let node = 0; node < recording.nodes; node++) if (!rows.isOpen(node)) found[node] = 0;
  return found;
}

/**
 * The most tasks of each node in each column of pixels, as colours; nodes that share a row of pixels show the busiest.
 * @param {Context} context
 * @param {Piece} piece
 * @param {Uint8Array} asBars
 */
function paintHeat(context, { lanes, rows, from, to, width, height, top, ratio, most, palette }, asBars) {
  const { recording } = lanes;
  // Rows as thin as lines of pixels, of many nodes: a pixel of the screen's is enough, at any density.
  const thin = rows.folded < 2;
  const columns = thin ? Math.ceil(width) : Math.ceil(width * ratio);
  const lines = thin ? Math.ceil(height) : recording.nodes;
  if (pixels.length < columns * lines) {
    pixels = new Uint32Array(columns * lines);
    maxima = new Uint16Array(columns * lines);
  }
  const used = maxima.subarray(0, columns * lines).fill(0);
  const scale = columns / (to - from);
  for (let node = 0; node < recording.nodes; node++) {
    const y = rows.top[node] - top;
    if (y + rows.height(node) < 0 || y > height) continue;
    const line = thin ? Math.min(Math.max(Math.floor(y), 0), lines - 1) : node;
    // A row that is higher than a line of pixels, and does not show bars, fills those below, too.
    const under =
      thin && !asBars[node] ? Math.min(Math.max(Math.ceil(y + rows.height(node)) - 1, line), lines - 1) : line;
    const [first, last] = [
      firstAbove(lanes.time, from, lanes.start[node], lanes.start[node + 1]),
      lanes.start[node + 1],
    ];
    let now = first > lanes.start[node] ? lanes.count[first - 1] : 0;
    let column = 0;
    for (let at = first; at <= last; at++) {
      const next = at < last ? Math.min(Math.floor((lanes.time[at] - from) * scale), columns) : columns;
      if (now) raise(used, columns, line, under, column, Math.min(next, columns - 1), now);
      column = next;
      if (at === last || next >= columns) break;
      now = lanes.count[at];
      raise(used, columns, line, under, column, column, now);
    }
  }
  const shown = pixels.subarray(0, columns * lines);
  const shades = new Uint8Array(Math.max(most + 1, 2));
  for (let count = 0; count < shades.length; count++) shades[count] = shadeOf(count, most);
  const { heat } = palette;
  for (let at = 0; at < shown.length; at++) shown[at] = heat[shades[Math.min(used[at], shades.length - 1)]];
  const image = new ImageData(new Uint8ClampedArray(shown.buffer, 0, shown.length * 4), columns, lines);
  const source = scratch(columns, lines);
  source.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  if (thin) {
    context.drawImage(source.canvas, 0, 0, columns, lines, 0, 0, columns, lines);
    return;
  }
  const gap = rows.folded > 4 ? 1 : 0;
  for (let node = 0; node < recording.nodes; node++) {
    const y = rows.top[node] - top;
    if (asBars[node] || y + rows.height(node) < 0 || y > height) continue;
    context.drawImage(source.canvas, 0, node, columns, 1, 0, y, width, Math.max(rows.height(node) - gap, 0.5));
  }
}

/**
 * @param {Uint16Array} used the maxima, line by line
 * @param {number} columns
 * @param {number} line the first one
 * @param {number} under the last one
 * @param {number} from the first column
 * @param {number} to the last one
 * @param {number} value that they have at least
 */
function raise(used, columns, line, under, from, to, value) {
  for (let at = line * columns; at <= under * columns; at += columns) {
    for (let x = at + from; x <= at + to; x++) if (used[x] < value) used[x] = value;
  }
}

/** @type {OffscreenCanvas | null} */
let kept = null;

/** @param {number} width @param {number} height */
function scratch(width, height) {
  if (!kept || kept.width < width || kept.height < height) {
    kept = new OffscreenCanvas(Math.max(width, kept?.width ?? 0), Math.max(height, kept?.height ?? 0));
  }
  return /** @type {Context} */ (kept.getContext("2d", { willReadFrequently: true }));
}

/**
 * Moves as lines from row to row.
 * @param {Context} context
 * @param {Piece} piece
 */
function paintLines(context, { lanes, rows, from, to, width, top, palette }) {
  const { moves, nodes } = lanes.recording;
  const first = firstFrom(moves.from, from - moves.longest);
  const last = firstAbove(moves.from, to);
  if (last - first > MOST_LINES || nodes > 200) return;
  const scale = width / (to - from);
  for (const kind of [MOVE.start, MOVE.refused, MOVE.data, MOVE.back, MOVE.restart, MOVE.migration]) {
    context.strokeStyle = palette.moves[kind];
    context.globalAlpha = last - first > 150 ? 0.45 : 0.8;
    context.lineWidth = kind === MOVE.migration ? 1.5 : 1;
    context.setLineDash(DASHES[kind] ?? []);
    context.beginPath();
    let drawn = 0;
    for (let row = first; row < last; row++) {
      if (moves.kind[row] !== kind || moves.to[row] < from || moves.origin[row] === moves.node[row]) continue;
      const y0 = rows.top[moves.origin[row]] + rows.height(moves.origin[row]) / 2 - top;
      const y1 = rows.top[moves.node[row]] + rows.height(moves.node[row]) / 2 - top;
      context.moveTo((moves.from[row] - from) * scale, y0);
      context.lineTo((moves.to[row] - from) * scale, y1);
      // Many lines in one stroke are slower than a few.
      if (++drawn % 40 === 0) {
        context.stroke();
        context.beginPath();
      }
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}
