/** Counts up to a moment: tasks submitted, ended, in the system; moves of each kind. */

import { MOVE, OUTCOME } from "./recording.js";
import { firstAbove } from "./search.js";

/** @typedef {import("./recording.js").Recording} Recording */

export class Totals {
  /** @param {Recording} recording */
  constructor(recording) {
    const { tasks } = recording.tables;
    const { arrival, outcome, is_open } = tasks.columns;
    this.arrivals = Float64Array.from(arrival, (ticks) => ticks * recording.tick).sort();
    const rows = [...Array(recording.tasks).keys()]
      .filter((row) => !is_open[row])
      .sort((a, b) => recording.finish[a] - recording.finish[b]);
    this.ends = Float64Array.from(rows, (row) => recording.finish[row]);
    /** Sum of slowdowns of those that finished, and how many have, after each end. */
    this.slowdowns = new Float64Array(rows.length + 1);
    this.finished = new Uint32Array(rows.length + 1);
    rows.forEach((row, place) => {
      const { slowdown } = recording.taskOf(row);
      const counts = outcome[row] === OUTCOME.finished;
      this.slowdowns[place + 1] = this.slowdowns[place] + (counts && Number.isFinite(slowdown) ? slowdown : 0);
      this.finished[place + 1] = this.finished[place] + (counts ? 1 : 0);
    });
    const { kind, from } = recording.moves;
    /** Times of moves by kind. */
    this.moves = Object.values(MOVE).map((one) => from.filter((_, row) => kind[row] === one));
  }

  /** @param {number} time [ms] */
  at(time) {
    const ended = firstAbove(this.ends, time);
    const finished = this.finished[ended];
    return {
      submitted: firstAbove(this.arrivals, time),
      ended,
      finished,
      failed: ended - finished,
      inside: firstAbove(this.arrivals, time) - ended,
      slowdown: finished ? this.slowdowns[ended] / finished : NaN,
      starts: firstAbove(this.moves[MOVE.start], time),
      migrations: firstAbove(this.moves[MOVE.migration], time),
      refused: firstAbove(this.moves[MOVE.refused], time),
    };
  }
}
