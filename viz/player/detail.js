/** What tasks do at each moment of a detailed window, where a recording has one. */

import { firstAbove } from "./search.js";

/** @typedef {import("./recording.js").Recording} Recording */

/**
 * The state, a place in PARTS, by what a task does: a place in `recording.DOING`. Who waits for a page waits for the disk.
 */
const STATE_OF = [1, 0, 3, 2, 3, 4, 6, 5];

export class Detail {
  /** @param {Recording} recording */
  constructor(recording) {
    const table = recording.tables.detail;
    const { tick, tasks } = recording;
    const span = recording.header.detail ?? {};
    this.from = Number(span.from_ns ?? NaN) / 1e6;
    this.to = Number(span.to_ns ?? NaN) / 1e6;
    const rows = table ? table.rows : 0;
    /** Pieces by task, then time: where those of a task begin. */
    this.start = new Uint32Array(tasks + 1);
    this.begin = new Float64Array(rows);
    this.end = new Float64Array(rows);
    this.state = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) {
      const { task, from, length, doing } = table.columns;
      this.begin[row] = from[row] * tick;
      this.end[row] = (from[row] + length[row]) * tick;
      this.state[row] = STATE_OF[doing[row]] ?? 7;
      this.start[Math.min(recording.taskRow(task[row]), tasks - 1) + 1] = row + 1;
    }
    for (let at = 1; at <= tasks; at++) this.start[at] = Math.max(this.start[at], this.start[at - 1]);
  }

  /** Whether it is known what tasks do at a moment. @param {number} time [ms] */
  covers(time) {
    return time >= this.from && time < this.to;
  }

  /**
   * The piece of a task at a moment; -1: none.
   * @param {number} task row
   * @param {number} time [ms]
   */
  at(task, time) {
    const row = firstAbove(this.begin, time, this.start[task], this.start[task + 1]) - 1;
    return row >= this.start[task] && this.end[row] > time ? row : -1;
  }
}
