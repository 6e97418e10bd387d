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
    /** How many tasks have finished after each end. */
    this.finished = new Uint32Array(rows.length + 1);
    /** How many jobs have finished whole, and the sum of their slowdowns: each the mean over its tasks. */
    this.done = new Uint32Array(rows.length + 1);
    this.slowdowns = new Float64Array(rows.length + 1);
    const { job } = tasks.columns;
    const { tasks: widths } = recording.tables.jobs.columns;
    const finishedOfJob = new Uint32Array(recording.jobs);
    const sumOfJob = new Float64Array(recording.jobs);
    rows.forEach((row, place) => {
      const counts = outcome[row] === OUTCOME.finished;
      const of = job[row];
      if (counts) {
        finishedOfJob[of]++;
        sumOfJob[of] += recording.taskOf(row).slowdown;
      }
      const isDone = counts && finishedOfJob[of] === widths[of] && Number.isFinite(sumOfJob[of]);
      this.finished[place + 1] = this.finished[place] + (counts ? 1 : 0);
      this.done[place + 1] = this.done[place] + (isDone ? 1 : 0);
      this.slowdowns[place + 1] = this.slowdowns[place] + (isDone ? sumOfJob[of] / widths[of] : 0);
    });
    /** When nodes go down, and when they are up again. */
    this.downs = Float64Array.from(
      recording.down.flatMap((times) => times.filter((_, place) => place % 2 === 0)),
    ).sort();
    this.ups = Float64Array.from(
      recording.down.flatMap((times) => times.filter((up, place) => place % 2 === 1 && up < Infinity)),
    ).sort();
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
      slowdown: this.done[ended] ? this.slowdowns[ended] / this.done[ended] : NaN,
      down: firstAbove(this.downs, time) - firstAbove(this.ups, time),
      starts: firstAbove(this.moves[MOVE.start], time),
      migrations: firstAbove(this.moves[MOVE.migration], time),
      refused: firstAbove(this.moves[MOVE.refused], time),
    };
  }
}
