/** All that happened, by time: decisions, tasks that lost their node or were killed, nodes that failed; and filters of it. */

import { didNotPay, lossesOf, lostNode } from "./facts.js";
import { KIND, OUTCOME } from "./recording.js";

/** @typedef {import("./recording.js").Recording} Recording */

/** What a row is about: a decision, a lost node of a task (a segment), a killed task (a task), a failure. */
export const ABOUT = { decision: 0, loss: 1, killed: 2, failure: 3 };
/** Filters with a button of their own: word, what it is called. @type {[string, string][]} */
export const FILTERS = [
  ["", "All"],
  ["remote start", "Remote starts"],
  ["migration", "Migrations"],
  ["refused", "Refused"],
  ["did not pay", "Did not pay"],
  ["lost", "Lost"],
];

export class Happenings {
  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording;
    const { decisions, tasks } = recording;
    /** @type {[number, number, number][]} */
    const found = [];
    for (let row = 0; row < decisions.rows; row++) found.push([decisions.time[row], ABOUT.decision, row]);
    const { outcome, is_open, restarts } = recording.tables.tasks.columns;
    for (let task = 0; task < tasks; task++) {
      if (!is_open[task] && outcome[task] === OUTCOME.killed) found.push([recording.finish[task], ABOUT.killed, task]);
      if (!restarts[task] && outcome[task] !== OUTCOME.lost && !recording.failures.at.length) continue;
      for (const row of lossesOf(recording, task)) {
        const ends = !is_open[task] && outcome[task] === OUTCOME.lost && row === recording.segments.start[task + 1] - 1;
        found.push([ends ? recording.finish[task] : recording.segments.from[row], ABOUT.loss, row]);
      }
    }
    recording.failures.at.forEach((at, row) => found.push([at, ABOUT.failure, row]));
    found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    this.rows = found.length;
    this.time = Float64Array.from(found, (one) => one[0]);
    this.about = Uint8Array.from(found, (one) => one[1]);
    this.id = Int32Array.from(found, (one) => one[2]);
    /** How many rows each filter with a button finds. @type {Map<string, number>} */
    this.counts = new Map();
  }

  /**
   * The task (its row) that a row is about; -1: none.
   * @param {number} row
   */
  taskOf(row) {
    const { recording } = this;
    const id = this.id[row];
    if (this.about[row] === ABOUT.decision) return recording.taskRow(recording.decisions.task[id]);
    if (this.about[row] === ABOUT.loss) return recording.segments.task[id];
    return this.about[row] === ABOUT.killed ? id : -1;
  }

  /**
   * Nodes that a row is about.
   * @param {number} row
   * @returns {number[]}
   */
  nodesOf(row) {
    const { recording } = this;
    const id = this.id[row];
    if (this.about[row] === ABOUT.decision) return [recording.decisions.source[id], recording.decisions.target[id]];
    if (this.about[row] === ABOUT.loss) return [lostNode(recording, id)];
    if (this.about[row] === ABOUT.killed) return [recording.tables.tasks.columns.node[id]];
    return [recording.failures.node[id]];
  }

  /**
   * Rows that a filter finds: "migration", "refused job 28", "node 3", or words of the rule, the index or the reason.
   * @param {string} filter
   * @returns {Uint32Array}
   */
  matching(filter) {
    const tests = testsOf(this, filter.toLowerCase());
    const found = new Uint32Array(this.rows);
    let count = 0;
    for (let row = 0; row < this.rows; row++) if (tests.every((test) => test(row))) found[count++] = row;
    return found.slice(0, count);
  }

  /** @param {string} word */
  count(word) {
    let found = this.counts.get(word);
    if (found === undefined) this.counts.set(word, (found = this.matching(word).length));
    return found;
  }
}

/**
 * @param {Happenings} all
 * @param {string} filter
 * @returns {((row: number) => boolean)[]}
 */
function testsOf(all, filter) {
  const { recording } = all;
  const { decisions } = recording;
  /** @type {((row: number) => boolean)[]} */
  const tests = [];
  /** @param {number} kind */
  const accepted = (kind) => (/** @type {number} */ row) =>
    all.about[row] === ABOUT.decision &&
    decisions.kind[all.id[row]] === kind &&
    Boolean(decisions.accepted[all.id[row]]);
  /** @type {[RegExp, (number: number) => (row: number) => boolean][]} */
  const known = [
    [/\bremote starts?\b/, () => accepted(KIND.starts)],
    [/\bmigrat\w*/, () => accepted(KIND.migrates)],
    [/\bstarts again\b/, () => accepted(KIND.recovers)],
    [/\brefus\w*/, () => (row) => all.about[row] === ABOUT.decision && !decisions.accepted[all.id[row]]],
    [/\bdid not pay\b/, () => (row) => all.about[row] === ABOUT.decision && didNotPay(recording, all.id[row])],
    [/\blost\b|\bfail\w*/, () => (row) => all.about[row] === ABOUT.loss || all.about[row] === ABOUT.failure],
    [/\bkilled\b/, () => (row) => all.about[row] === ABOUT.killed],
    [/\bstays\b/, () => (row) => all.about[row] === ABOUT.decision && decisions.kind[all.id[row]] === KIND.stays],
    [/\bmoves?\b/, () => (row) => all.about[row] === ABOUT.decision && decisions.kind[all.id[row]] !== KIND.stays],
    [
      /\bjob ?(\d+)\b/,
      (job) => (row) => {
        const task = all.taskOf(row);
        return (
          task >= 0 && task < recording.tasks && recording.jobNumber(recording.tables.tasks.columns.job[task]) === job
        );
      },
    ],
    [
      /\btask ?(\d+)\b/,
      (number) => (row) => {
        const task = all.taskOf(row);
        return task >= 0 && task < recording.tasks && recording.tables.tasks.columns.task[task] === number;
      },
    ],
    [/\bnode ?(\d+)\b/, (node) => (row) => all.nodesOf(row).includes(node)],
  ];
  let rest = filter;
  for (const [pattern, test] of known) {
    const match = pattern.exec(rest);
    if (!match) continue;
    tests.push(test(Number(match[1] ?? 0)));
    rest = rest.replace(pattern, " ");
  }
  for (const word of rest.split(/\s+/).filter(Boolean)) {
    const texts = ["rule", "index", "reason"].map((column) =>
      recording.tables.decisions.texts[column].map((text) => text.toLowerCase().includes(word)),
    );
    const columns = ["rule", "index", "reason"].map((column) => recording.tables.decisions.columns[column]);
    const what = recording.tables.failures.texts.what.map((text) => text.toLowerCase().includes(word));
    tests.push((row) => {
      const id = all.id[row];
      if (all.about[row] === ABOUT.decision) return columns.some((column, place) => texts[place][column[id]]);
      return all.about[row] === ABOUT.failure && what[recording.tables.failures.columns.what[id]];
    });
  }
  return tests;
}
