/** Moves on the stage: dots along arcs; above a number of them arrows with counts. */

import { FONT } from "./machines.js";
import { MOVE } from "./recording.js";
import { firstAbove, firstFrom } from "./search.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./places.js").Box} Box */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {{x0: number, y0: number, x1: number, y1: number, cx: number, cy: number}} Arc */

/** Up to here each move is a dot of its own. */
const MOST_DOTS = 200;
const MOST_ARROWS = 80;
const MOST_NUMBERS = 12;
const RADIUS = 4.5;
const CELL = 18;

/**
 * The moves that are seen at a moment: under way, or begun so lately that they have not been seen for long enough.
 * @param {Recording} recording
 * @param {number} time [ms]
 * @param {number} shown a move is seen for that long at least [ms]
 * @param {Int32Array} found filled in with rows of moves
 * @returns {number} how many there are
 */
export function movesAt(recording, time, shown, found) {
  const { moves } = recording;
  const first = firstFrom(moves.from, time - Math.max(moves.longest, shown));
  const last = firstAbove(moves.from, time);
  let count = 0;
  for (let row = last - 1; row >= first && count < found.length; row--) {
    if (moves.from[row] + Math.max(moves.to[row] - moves.from[row], shown) > time) found[count++] = row;
  }
  return count;
}

/**
 * How far a move has come, 0..1; a refused one comes back.
 * @param {Recording} recording
 * @param {number} row
 * @param {number} time
 * @param {number} shown
 */
function progress(recording, row, time, shown) {
  const { from, to, kind } = recording.moves;
  const part = Math.min(Math.max((time - from[row]) / Math.max(to[row] - from[row], shown, 1e-9), 0), 1);
  const eased = part * part * (3 - 2 * part);
  return kind[row] === MOVE.refused ? 1 - Math.abs(1 - 2 * eased) : eased;
}

/**
 * @param {Box} from
 * @param {Box} to
 * @param {number} height of the stage: an arc stays inside
 * @returns {Arc}
 */
export function arcOf(from, to, height = Infinity) {
  const x0 = from.x + from.width / 2;
  const y0 = from.y + from.height / 2;
  const x1 = to.x + to.width / 2;
  const y1 = to.y + to.height / 2;
  const top = (y0 + y1) / 2 + (x1 - x0) * 0.08;
  const bend = top < 4 || top > height - 4 ? -0.16 : 0.16;
  return { x0, y0, x1, y1, cx: (x0 + x1) / 2 - (y1 - y0) * bend, cy: (y0 + y1) / 2 + (x1 - x0) * bend };
}

/** @param {Arc} arc @param {number} part */
function pointOn({ x0, y0, x1, y1, cx, cy }, part) {
  const rest = 1 - part;
  return {
    x: rest * rest * x0 + 2 * rest * part * cx + part * part * x1,
    y: rest * rest * y0 + 2 * rest * part * cy + part * part * y1,
  };
}

export class Dots {
  constructor() {
    this.found = new Int32Array(1 << 16);
    this.count = 0;
    /** Where each dot was drawn last: row, x, y. */
    this.places = new Float64Array(3 * MOST_DOTS);
    this.placed = 0;
    /** @type {OffscreenCanvas | null} */
    this.sprites = null;
    this.key = "";
    /** For those who want no motion nothing travels: marks stand on arrows. */
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
    /** Of the stage. */
    this.height = Infinity;
    this.pairs = new Map();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Recording} recording
   * @param {Box[]} boxes
   * @param {number} time
   * @param {number} shown
   * @param {Palette} palette
   * @param {number} ratio
   * @param {number} selected row of a decision whose move stands out; -1: none
   */
  draw(context, recording, boxes, time, shown, palette, ratio, selected) {
    this.count = movesAt(recording, time, shown, this.found);
    this.placed = 0;
    const still = this.motion.matches;
    if (this.count > MOST_DOTS) {
      this.#arrows(context, recording, boxes, palette);
      return;
    }
    this.#make(palette, ratio);
    const { moves } = recording;
    for (let place = this.count - 1; place >= 0; place--) {
      const row = this.found[place];
      const kind = moves.kind[row];
      if (kind === MOVE.data || moves.origin[row] === moves.node[row]) continue;
      const strong = selected >= 0 && moves.decision[row] === selected;
      const arc = arcOf(boxes[moves.origin[row]], boxes[moves.node[row]], this.height);
      stroke(context, arc, palette.moves[kind], kind, strong, kind === MOVE.message ? 0.3 : 0.55);
      if (still) head(context, arc, palette.moves[kind]);
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    for (let place = this.count - 1; place >= 0; place--) {
      const row = this.found[place];
      const kind = moves.kind[row];
      const from = boxes[moves.origin[row]];
      const to = boxes[moves.node[row]];
      const part = still ? 0.5 : progress(recording, row, time, shown);
      const at =
        moves.origin[row] === moves.node[row]
          ? { x: to.x + to.width / 2, y: to.y - 8 + (to.height / 2 + 8) * part }
          : pointOn(arcOf(from, to, this.height), part);
      context.drawImage(
        /** @type {OffscreenCanvas} */ (this.sprites),
        kind * CELL * ratio,
        0,
        CELL * ratio,
        CELL * ratio,
        at.x - CELL / 2,
        at.y - CELL / 2,
        CELL,
        CELL,
      );
      this.places[3 * this.placed] = row;
      this.places[3 * this.placed + 1] = at.x;
      this.places[3 * this.placed++ + 2] = at.y;
    }
  }

  /**
   * The move whose dot is at a point; -1: none.
   * @param {number} x
   * @param {number} y
   */
  hit(x, y) {
    let best = -1;
    let nearest = 14 * 14;
    for (let place = 0; place < this.placed; place++) {
      const distance = (this.places[3 * place + 1] - x) ** 2 + (this.places[3 * place + 2] - y) ** 2;
      if (distance < nearest) [best, nearest] = [this.places[3 * place], distance];
    }
    return best;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Recording} recording
   * @param {Box[]} boxes
   * @param {Palette} palette
   */
  #arrows(context, recording, boxes, palette) {
    const { origin, node, kind } = recording.moves;
    const pairs = this.pairs;
    pairs.clear();
    for (let place = 0; place < this.count; place++) {
      const row = this.found[place];
      if (origin[row] === node[row] || kind[row] === MOVE.message) continue;
      const key = (origin[row] * recording.nodes + node[row]) * 8 + kind[row];
      pairs.set(key, (pairs.get(key) ?? 0) + 1);
    }
    const heaviest = [...pairs].sort((a, b) => b[1] - a[1]).slice(0, MOST_ARROWS);
    const most = heaviest.length ? heaviest[0][1] : 1;
    for (const [key, count] of heaviest.reverse()) {
      const pair = Math.floor(key / 8);
      const arc = arcOf(boxes[Math.floor(pair / recording.nodes)], boxes[pair % recording.nodes], this.height);
      const share = (count - 1) / Math.max(most - 1, 4);
      stroke(context, arc, palette.moves[key % 8], MOVE.migration, false, 0.45 + 0.45 * share, 1 + 3 * share);
      head(context, arc, palette.moves[key % 8]);
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    context.font = `600 11px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.#note(context, palette, pairs.size > MOST_ARROWS);
    for (const [key, count] of heaviest.slice(-MOST_NUMBERS)) {
      if (count < 2) continue;
      const pair = Math.floor(key / 8);
      const { x, y } = pointOn(
        arcOf(boxes[Math.floor(pair / recording.nodes)], boxes[pair % recording.nodes], this.height),
        0.5,
      );
      context.fillStyle = palette.paper;
      context.beginPath();
      context.roundRect(x - 11, y - 8, 22, 16, 8);
      context.fill();
      context.fillStyle = palette.moves[key % 8];
      context.fillText(String(count), x, y + 0.5);
    }
  }

  /**
   * How many moves there are, as not each can be seen.
   * @param {CanvasRenderingContext2D} context
   * @param {Palette} palette
   * @param {boolean} some whether some are left out
   */
  #note(context, palette, some) {
    const words = `${this.count.toLocaleString("en")} moves under way${some ? `; the ${MOST_ARROWS} arrows with most of them are drawn` : ""}`;
    const y = context.canvas.clientHeight - 12;
    const width = context.measureText(words).width + 16;
    context.fillStyle = palette.paper;
    context.beginPath();
    context.roundRect(6, y - 9, width, 18, 9);
    context.fill();
    context.fillStyle = palette.ink;
    context.fillText(words, 6 + width / 2, y + 0.5);
  }

  /** @param {Palette} palette @param {number} ratio */
  #make(palette, ratio) {
    const key = `${palette.moves.join()}${palette.paper}${ratio}`;
    if (key === this.key) return;
    this.key = key;
    this.sprites = new OffscreenCanvas(palette.moves.length * CELL * ratio, CELL * ratio);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (this.sprites.getContext("2d"));
    context.scale(ratio, ratio);
    palette.moves.forEach((colour, kind) =>
      drawMark(context, kind, CELL * kind + CELL / 2, CELL / 2, colour, palette.paper),
    );
  }
}

/**
 * The mark of a move: a ring for a remote start, a disc for a migration, a cross for a refusal, a square for data, with a
 * cross if the transfer failed, a plus for a restart, a small one for a message.
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} context
 * @param {number} kind
 * @param {number} x
 * @param {number} y
 * @param {string} colour
 * @param {string} paper
 */
export function drawMark(context, kind, x, y, colour, paper) {
  context.fillStyle = colour;
  context.strokeStyle = paper;
  context.lineWidth = 1.5;
  context.setLineDash([]);
  context.beginPath();
  if (kind === MOVE.data || kind === MOVE.back) context.rect(x - 4, y - 4, 8, 8);
  else if (kind === MOVE.message) context.arc(x, y, 2, 0, 7);
  else context.arc(x, y, kind === MOVE.migration ? RADIUS + 1 : RADIUS, 0, 7);
  context.stroke();
  context.fill();
  if (kind === MOVE.start) {
    context.fillStyle = paper;
    context.beginPath();
    context.arc(x, y, 2, 0, 7);
    context.fill();
  }
  if (kind === MOVE.refused || kind === MOVE.back) {
    context.beginPath();
    context.moveTo(x - 2, y - 2);
    context.lineTo(x + 2, y + 2);
    context.moveTo(x + 2, y - 2);
    context.lineTo(x - 2, y + 2);
    context.stroke();
  }
  if (kind === MOVE.restart) {
    context.beginPath();
    context.moveTo(x - 3, y);
    context.lineTo(x + 3, y);
    context.moveTo(x, y - 3);
    context.lineTo(x, y + 3);
    context.stroke();
  }
}

/** Dashes by kind: no two of the kinds that lines show are alike; none: a whole line. @type {([number, number] | null)[]} */
export const DASHES = [[4, 3], null, [1.5, 2.5], [8, 2], [2, 6], [6, 3], null];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Arc} arc
 * @param {string} colour
 * @param {number} kind
 * @param {boolean} strong
 * @param {number} alpha
 * @param {number} width
 */
export function stroke(context, arc, colour, kind, strong, alpha, width = kind === MOVE.migration ? 1.8 : 1.3) {
  context.strokeStyle = colour;
  context.globalAlpha = strong ? 1 : alpha;
  context.lineWidth = strong ? 3 : width;
  const dash = DASHES[kind];
  if (dash && !strong) {
    // Small rectangles along the arc: a dashed curve takes four times as long.
    context.fillStyle = colour;
    const across = Math.abs(arc.x1 - arc.x0) > Math.abs(arc.y1 - arc.y0);
    const [wide, high] = across ? [dash[0], width] : [width, dash[0]];
    const count = Math.max(Math.hypot(arc.x1 - arc.x0, arc.y1 - arc.y0) / (dash[0] + dash[1]), 1);
    for (let place = 0.5; place < count; place++) {
      const { x, y } = pointOn(arc, place / count);
      context.fillRect(x - wide / 2, y - high / 2, wide, high);
    }
    return;
  }
  context.setLineDash(dash ?? []);
  context.beginPath();
  context.moveTo(arc.x0, arc.y0);
  context.quadraticCurveTo(arc.cx, arc.cy, arc.x1, arc.y1);
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Arc} arc
 * @param {string} colour
 */
export function head(context, arc, colour) {
  const tip = pointOn(arc, 0.92);
  const back = pointOn(arc, 0.86);
  const angle = Math.atan2(tip.y - back.y, tip.x - back.x);
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(tip.x, tip.y);
  context.lineTo(tip.x - 9 * Math.cos(angle - 0.4), tip.y - 9 * Math.sin(angle - 0.4));
  context.lineTo(tip.x - 9 * Math.cos(angle + 0.4), tip.y - 9 * Math.sin(angle + 0.4));
  context.fill();
}
