/** A recording with what all panels look up: lives, visits by node, moves by time, decisions by task. Times are ms. */

import { check } from "./checks.js";
import { Detail } from "./detail.js";
import { firstFrom, grouped, orderOf } from "./search.js";

/** @typedef {import("./decode.js").Decoded} Decoded */
/** @typedef {import("./decode.js").Table} Table */

/** What a task does in a segment: places in `segments.WHAT`. */
export const WHAT = {
  waits: 0,
  starts: 1,
  asks: 2,
  fetches: 3,
  runs: 4,
  migrates: 5,
  returns: 6,
  lost: 7,
  restarts: 8,
};
export const KIND = { stays: 0, starts: 1, migrates: 2, recovers: 3 };
export const OUTCOME = { open: -1, finished: 0, killed: 1, lost: 2 };
/** How a move looks; its place is its order in the legend. */
export const MOVE = { start: 0, migration: 1, refused: 2, data: 3, back: 4, restart: 5, message: 6 };
/** Where the time of a visit goes, in the order in which bars show it. */
export const PARTS = /** @type {const} */ ([
  "cpu",
  "cpu_queue",
  "io",
  "io_queue",
  "paging",
  "migration",
  "barrier",
  "blocked",
]);
const PART_MS = 0.1;

export class Recording {
  /** @param {Decoded} decoded */
  constructor(decoded) {
    check(decoded);
    const { header, tables } = decoded;
    this.header = header;
    this.tables = tables;
    this.tick = /** @type {number} */ (header.tick_ms);
    this.end = header.end_ns / 1e6;
    this.slice = header.slice_ns / 1e6 || 10;
    this.policy = String(header.policy?.name ?? "");
    this.nodes = tables.nodes.rows;
    this.tasks = tables.tasks.rows;
    this.jobs = tables.jobs.rows;
    this.cores = tables.nodes.columns.cores;
    this.segments = segmentsOf(tables, this.tick, this.tasks);
    const { from, to, node, what } = this.segments;
    /** Segments in the order in which they begin, and those that are visits. */
    this.byFrom = orderOf(from);
    this.visits = grouped(
      this.byFrom.filter((row) => what[row] === WHAT.runs),
      (row) => node[row],
      this.nodes,
    );
    this.decisions = decisionsOf(tables, this.tick);
    this.decisionsOfTask = grouped(
      orderOf(this.decisions.time),
      (row) => this.taskRow(this.decisions.task[row]),
      this.tasks + 1,
    );
    this.moves = movesOf(this);
    this.failures = { at: scaled(tables.failures.columns.at, this.tick), node: tables.failures.columns.node };
    this.down = downTimes(this);
    this.detail = new Detail(this);
    this.finish = Float64Array.from(
      tables.tasks.columns.response,
      (response, row) => (tables.tasks.columns.arrival[row] + response) * this.tick,
    );
    this.lastOfVisits = to.length ? to.reduce((most, value) => Math.max(most, value), 0) : 0;
  }

  /** Take over the detailed window of a recording of the same run. @param {Recording} other */
  take(other) {
    this.detail = other.detail;
    this.header.detail = other.header.detail;
    this.tables.detail = other.tables.detail;
  }

  /** Whether another recording is of the same run, whatever its detailed window. @param {Recording} other */
  isOfTheSameRun(other) {
    /** @param {Recording} one */
    const words = ({ header, tables }) =>
      JSON.stringify([
        { ...header, tables: null, detail: null },
        ...["tasks", "segments", "decisions", "loads", "messages"].map((name) => tables[name].rows),
      ]);
    return words(this) === words(other);
  }

  /**
   * The row of a task in `tasks`; the number of rows if it is not there.
   * @param {number} task
   */
  taskRow(task) {
    const numbers = this.tables.tasks.columns.task;
    const row = firstFrom(numbers, task);
    return numbers[row] === task ? row : this.tasks;
  }

  /** @param {number} row of a task */
  taskOf(row) {
    const columns = this.tables.tasks.columns;
    const arrival = columns.arrival[row] * this.tick;
    const slowdown = columns.slowdown[row];
    const finish = this.finish[row];
    const outcome = columns.is_open[row] ? OUTCOME.open : columns.outcome[row];
    return {
      task: columns.task[row],
      job: columns.job[row],
      home: columns.home[row],
      node: columns.node[row],
      arrival,
      finish,
      outcome,
      isolated: slowdown > 0 ? (finish - arrival) / slowdown : 0,
      response: finish - arrival,
      slowdown,
      migrations: columns.migrations[row],
      restarts: columns.restarts[row],
      moves: columns.moves[row],
      requests: columns.requests[row],
      faults: columns.faults[row],
    };
  }

  /**
   * The number of a job, by its row in `jobs`.
   * @param {number} row
   */
  jobNumber(row) {
    return this.tables.jobs.columns.job[row] ?? row;
  }

  /** @param {number} node */
  nodeName(node) {
    const { vertex } = this.tables.nodes.columns;
    return this.tables.nodes.texts.vertex[vertex[node]] || `node ${node}`;
  }

  /**
   * The text of a column in a row.
   * @param {string} table
   * @param {string} column
   * @param {number} row
   */
  text(table, column, row) {
    return this.tables[table].texts[column][this.tables[table].columns[column][row]] ?? "";
  }

  /**
   * How an index is called, and its unit.
   * @param {string} index
   * @returns {[string, string]}
   */
  indexWords(index) {
    const [words, unit] = this.header.index_words?.[index] ?? [index, ""];
    return [String(words), String(unit)];
  }

  /**
   * Where a segment's time went [ms], in the order of PARTS.
   * @param {number} row
   */
  parts(row) {
    return PARTS.map((part) => this.tables.segments.columns[part][row] * PART_MS);
  }

  /**
   * The segment of a task at a time, or the last one before it; -1 if there is none.
   * @param {number} taskRow
   * @param {number} at
   */
  segmentAt(taskRow, at) {
    const { start, from } = this.segments;
    let found = start[taskRow] < start[taskRow + 1] ? start[taskRow] : -1;
    for (let row = start[taskRow]; row < start[taskRow + 1] && from[row] <= at; row++) found = row;
    return found;
  }
}

/**
 * @param {Int32Array | Float32Array} values
 * @param {number} by
 */
const scaled = (values, by) => Float64Array.from(values, (value) => value * by);

/**
 * @param {Record<string, Table>} tables
 * @param {number} tick
 * @param {number} tasks
 */
function segmentsOf(tables, tick, tasks) {
  const columns = tables.segments.columns;
  const rows = tables.segments.rows;
  const { task, gap, length } = columns;
  const from = new Float64Array(rows);
  const to = new Float64Array(rows);
  const start = new Uint32Array(tasks + 1);
  let end = 0;
  for (let row = 0; row < rows; row++) {
    if (row === 0 || task[row] !== task[row - 1]) end = tables.tasks.columns.arrival[task[row]];
    const begin = end + gap[row];
    end = begin + length[row];
    from[row] = begin * tick;
    to[row] = end * tick;
    start[task[row] + 1] = row + 1;
  }
  for (let place = 1; place <= tasks; place++) start[place] = Math.max(start[place], start[place - 1]);
  // The state that took most of a visit: by colour, not by order in time.
  const main = new Uint8Array(rows);
  PARTS.forEach((part, place) => {
    for (let row = 0; row < rows; row++) if (columns[part][row] > columns[PARTS[main[row]]][row]) main[row] = place;
  });
  return {
    from,
    to,
    start,
    main,
    task,
    node: columns.node,
    origin: columns.origin,
    what: columns.what,
    decision: columns.decision,
    open: columns.is_open,
  };
}

/**
 * @param {Record<string, Table>} tables
 * @param {number} tick
 */
function decisionsOf(tables, tick) {
  const columns = tables.decisions.columns;
  const time = scaled(columns.time, tick);
  const leaves = Float64Array.from(columns.leaves, (after, row) => (after < 0 ? NaN : time[row] + after * tick));
  const enters = Float64Array.from(columns.enters, (after, row) => (after < 0 ? NaN : time[row] + after * tick));
  return {
    rows: tables.decisions.rows,
    time,
    leaves,
    enters,
    task: columns.task,
    source: columns.source,
    target: columns.target,
    kind: columns.kind,
    accepted: columns.accepted,
    age: Float64Array.from(columns.age, (age) => (age < 0 ? NaN : age * tick)),
  };
}

/** @param {Recording} recording */
function movesOf(recording) {
  const { from, to, node, origin, what, decision } = recording.segments;
  const { time, source, target, accepted, kind: about } = recording.decisions;
  /** @type {number[][]} */
  const found = [];
  const kinds = {
    [WHAT.starts]: MOVE.start,
    [WHAT.migrates]: MOVE.migration,
    [WHAT.returns]: MOVE.back,
    [WHAT.restarts]: MOVE.restart,
    [WHAT.fetches]: MOVE.data,
  };
  for (let row = 0; row < from.length; row++) {
    const kind = kinds[what[row]];
    if (kind === undefined || (kind === MOVE.start && origin[row] === node[row])) continue;
    found.push([from[row], to[row], kind, origin[row], node[row], row, decision[row]]);
  }
  for (let row = 0; row < time.length; row++) {
    if (accepted[row] || about[row] === KIND.stays) continue;
    found.push([time[row], time[row], MOVE.refused, source[row], target[row], -1, row]);
  }
  const { sent, after, sender, receiver } = recording.tables.messages.columns;
  for (let row = 0; row < sent.length; row++) {
    const begin = sent[row] * recording.tick;
    found.push([
      begin,
      begin + Math.max(after[row], 0) * recording.tick,
      MOVE.message,
      sender[row],
      receiver[row],
      -1,
      -1,
    ]);
  }
  found.sort((a, b) => a[0] - b[0]);
  /** @param {number} place */
  const whole = (place) => Int32Array.from(found, (one) => one[place]);
  const longest = found.reduce((most, one) => Math.max(most, one[1] - one[0]), 0);
  return {
    rows: found.length,
    longest,
    from: Float64Array.from(found, (one) => one[0]),
    to: Float64Array.from(found, (one) => one[1]),
    kind: whole(2),
    origin: whole(3),
    node: whole(4),
    segment: whole(5),
    decision: whole(6),
  };
}

/**
 * When each node is down: pairs of begin and end.
 * @param {Recording} recording
 * @returns {number[][]}
 */
function downTimes(recording) {
  /** @type {number[][]} */
  const found = Array.from({ length: recording.nodes }, () => []);
  const { at, node } = recording.failures;
  for (let row = 0; row < at.length; row++) {
    if (node[row] < 0) continue;
    const what = recording.text("failures", "what", row);
    const times = found[node[row]];
    if (what === "node fails" && times.length % 2 === 0) times.push(at[row]);
    if (what === "node recovers" && times.length % 2 === 1) times.push(at[row]);
  }
  for (const times of found) if (times.length % 2 === 1) times.push(Infinity);
  return found;
}
