/** The strip that a timeline shows: painted for a stretch around the window, and again where that is left. */

import { paintStrip } from "./strip.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("./rows.js").Rows} Rows */
/** @typedef {import("./view.js").View} View */
/** What is painted: a stretch of time [ms], at a scale [pixels a ms]. @typedef {{from: number, scale: number, strip: OffscreenCanvas}} Painted */

export class Strips {
  /**
   * @param {View} view
   * @param {Lanes} lanes
   * @param {Rows} rows
   * @param {number} most tasks that the scale of loads shows
   */
  constructor(view, lanes, rows, most) {
    this.view = view;
    this.lanes = lanes;
    this.rows = rows;
    this.most = most;
    this.strip = new OffscreenCanvas(1, 1);
    this.painted = { key: "", from: 0, to: 0, scale: 0, top: -1 };
    /** The scale of the frame before [pixels a ms]. */
    this.before = 0;
    /** The height of a lane in each row that shows bars; 0 in the others. @type {Float64Array} */
    this.laneHeights = new Float64Array(0);
    /** How many were painted: for measurements. */
    this.count = 0;
  }

  /** What is painted does not hold any more. */
  forget() {
    this.painted.key = "";
  }

  /**
   * The strip for the window.
   * @param {number} plot its width [px]
   * @param {number} room its height [px]
   * @param {number} ratio pixels of the device for one
   * @param {number} top how far rows are scrolled [px]
   * @param {Palette} palette
   * @returns {Painted}
   */
  of(plot, room, ratio, top, palette) {
    const { view, rows } = this;
    const span = view.to - view.from;
    const scale = plot / span;
    const key = `${plot} ${room} ${ratio} ${rows.key} ${palette.dark}`;
    const old = this.painted;
    const same = old.key === key && Math.abs(old.scale - scale) < 1e-9 * scale && old.top === top;
    if (same && view.from >= old.from && view.to <= old.to + 1e-6) return { ...old, strip: this.strip };
    const wholeRun = span >= view.end * 0.999;
    // While one zooms a strip lives for one frame: without the parts beside the window.
    const zooms = Math.abs(this.before - scale) > 1e-9 * scale;
    this.before = scale;
    const from = wholeRun || zooms ? view.from : Math.max(view.from - span / 2, 0);
    const to = wholeRun || zooms ? view.to : Math.min(from + 2 * span, view.end);
    const begin = wholeRun || zooms ? from : Math.max(Math.min(from, to - 2 * span), 0);
    const [wide, high] = [Math.ceil(2 * plot * ratio), Math.ceil(room * ratio)];
    if (this.strip.width !== wide || this.strip.height !== high) this.strip = new OffscreenCanvas(wide, high);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (this.strip.getContext("2d", { alpha: false }));
    this.laneHeights = paintStrip(context, {
      lanes: this.lanes,
      rows,
      from: begin,
      to,
      width: (to - begin) * scale,
      height: room,
      top,
      ratio,
      most: this.most,
      palette,
    });
    this.painted = { key, from: begin, to, scale, top };
    this.count++;
    return { ...this.painted, strip: this.strip };
  }

  /**
   * Where a visit's bar is, from the top of all rows, or its row where that shows no bars [px].
   * @param {number} row of the segment
   */
  placeOf(row) {
    const { rows, lanes, laneHeights } = this;
    const { visits, segments } = lanes.recording;
    const node = segments.node[row];
    const y = rows.top[node];
    const lane = laneHeights[node];
    let at = visits.start[node];
    while (lane && at < visits.start[node + 1] && visits.rows[at] !== row) at++;
    const under = (lanes.lane[at] + 1) * lane;
    if (!lane || under > rows.height(node)) return { y: y + 0.5, height: Math.max(rows.height(node) - 2, 2) };
    return { y: y + under - lane + (rows.isOpen(node) ? 2 : 0), height: Math.max(lane > 3 ? lane - 1 : lane, 2) };
  }
}
