/**
 * All that happened, by time: decisions, tasks that lost their node or were killed, nodes that failed, messages of
 * managers that talk; and filters of it.
 */

import { didNotPay, lossesOf, lostNode } from "./facts.js";
import { KIND, OUTCOME } from "./recording.js";
import { orderOf } from "./search.js";

/** @typedef {import("./recording.js").Recording} Recording */

/** What a row is about: a decision, a lost node of a task (a segment), a killed task (a task), a failure, a message. */
export const ABOUT = { decision: 0, loss: 1, killed: 2, failure: 3, message: 4 };
/** More messages than these are in the list only if they are asked for. */
const MOST_MESSAGES = 500;
/** Filters with a button of their own: word, what it is called. @type {[string, string][]} */
export const FILTERS = [
  ["", "All"],
  ["remote start", "Remote starts"],
  ["migration", "Migrations"],
  ["refused", "Refused"],
  ["did not pay", "Did not pay"],
  ["lost", "Lost"],
  ["messages", "Messages"],
];

const MESSAGE = /\bmessages?\b/;

export class Happenings {
  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording;
    const { decisions, tasks } = recording;
    const { decisions: told, failures, messages, tasks: all } = recording.tables;
    const most = told.rows + recording.segments.from.length + all.rows + failures.rows + messages.rows;
    const time = new Float64Array(most);
    const about = new Uint8Array(most);
    const id = new Int32Array(most);
    let rows = 0;
    /** @param {number} when @param {number} what @param {number} which */
    const add = (when, what, which) => {
      time[rows] = when;
      about[rows] = what;
      id[rows++] = which;
    };
    recording.failures.at.forEach((at, row) => add(at, ABOUT.failure, row));
    const { outcome, is_open, restarts } = all.columns;
    for (let task = 0; task < tasks; task++) {
      if (!is_open[task] && outcome[task] === OUTCOME.killed) add(recording.finish[task], ABOUT.killed, task);
      if (!restarts[task] && outcome[task] !== OUTCOME.lost && !recording.failures.at.length) continue;
      for (const row of lossesOf(recording, task)) {
        const ends = !is_open[task] && outcome[task] === OUTCOME.lost && row === recording.segments.start[task + 1] - 1;
        add(ends ? recording.finish[task] : recording.segments.from[row], ABOUT.loss, row);
      }
    }
    const { sent } = messages.columns;
    for (let row = 0; row < messages.rows; row++) add(sent[row] * recording.tick, ABOUT.message, row);
    for (let row = 0; row < decisions.rows; row++) add(decisions.time[row], ABOUT.decision, row);
    // At one moment causes come first: what failed, what was said, what was decided.
    const order = orderOf(time.subarray(0, rows));
    this.rows = rows;
    this.time = Float64Array.from(order, (row) => time[row]);
    this.about = Uint8Array.from(order, (row) => about[row]);
    this.id = Int32Array.from(order, (row) => id[row]);
    this.messages = messages.rows;
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
    if (this.about[row] === ABOUT.message) {
      const task = recording.tables.messages.columns.task[id];
      const found = task < 0 ? recording.tasks : recording.taskRow(task);
      return found < recording.tasks ? found : -1;
    }
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
    if (this.about[row] === ABOUT.message) {
      const { sender, receiver } = recording.tables.messages.columns;
      return [sender[id], receiver[id]];
    }
    return [recording.failures.node[id]];
  }

  /** Whether a filter shows messages. @param {string} filter */
  tellsMessages(filter) {
    return this.messages <= MOST_MESSAGES || MESSAGE.test(filter.toLowerCase());
  }

  /** How many rows there are to be found by a filter. @param {string} filter */
  whole(filter) {
    return this.tellsMessages(filter) ? this.rows : this.rows - this.messages;
  }

  /**
   * Rows that a filter finds: "migration", "refused job 28", "node 3", or words of the rule, the index or the reason.
   * @param {string} filter
   * @returns {Uint32Array}
   */
  matching(filter) {
    const tests = testsOf(this, filter.toLowerCase());
    if (!this.tellsMessages(filter)) tests.unshift((row) => this.about[row] !== ABOUT.message);
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
  if (MESSAGE.test(rest)) {
    const { after } = recording.tables.messages.columns;
    const lost = /\blost\b/.test(rest);
    tests.push((row) => all.about[row] === ABOUT.message && (!lost || after[all.id[row]] < 0));
    rest = rest.replace(MESSAGE, " ").replace(/\blost\b/, " ");
  }
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
    const topics = recording.tables.messages.texts.topic.map((text) => text.toLowerCase().includes(word));
    tests.push((row) => {
      const id = all.id[row];
      if (all.about[row] === ABOUT.message) return topics[recording.tables.messages.columns.topic[id]];
      if (all.about[row] === ABOUT.decision) return columns.some((column, place) => texts[place][column[id]]);
      return all.about[row] === ABOUT.failure && what[recording.tables.failures.columns.what[id]];
    });
  }
  return tests;
}
