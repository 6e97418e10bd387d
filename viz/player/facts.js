/** What is to be said of a decision: its numbers, what was true, what came of it. */

import { KIND, OUTCOME, WHAT } from "./recording.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {ReturnType<typeof factsOf>} Facts */

/**
 * @param {Recording} recording
 * @param {number} row of the decision
 */
export function factsOf(recording, row) {
  const { decisions, tables } = recording;
  const columns = tables.decisions.columns;
  /** @param {string} name */
  const value = (name) => (columns[name] ? columns[name][row] : NaN);
  const task = recording.taskRow(decisions.task[row]);
  const source = decisions.source[row];
  const target = decisions.target[row];
  const index = recording.text("decisions", "index", row);
  const rule = recording.text("decisions", "rule", row);
  const [words, lines] = recording.header.rules?.[rule] ?? ["", ""];
  const staying = value("response_here_ms");
  const moving = value("response_there_ms");
  const cost = value("cost_ms");
  /** @param {"here" | "there"} side */
  const truth = (side) => ({
    index: value(`true_${side}_index`),
    tasks: value(`true_${side}_tasks`),
    cpu_ms: value(`true_${side}_cpu_ms`),
    io_ms: value(`true_${side}_io_ms`),
    page_ms: value(`true_${side}_page_ms`),
    memory_mb: value(`true_${side}_memory_mb`),
  });
  return {
    row,
    time: decisions.time[row],
    task,
    number: decisions.task[row],
    source,
    target,
    index,
    rule,
    ruleWords: String(words ?? ""),
    lines: String(lines ?? ""),
    kind: decisions.kind[row],
    accepted: Boolean(decisions.accepted[row]),
    reason: recording.text("decisions", "reason", row),
    age: decisions.age[row],
    load: value("task_load"),
    staying,
    moving,
    cost,
    saves: staying - moving - (Number.isFinite(cost) ? cost : 0),
    mce: value("mce"),
    believed: { here: value("load_here"), there: value("load_there") },
    here: truth("here"),
    there: truth("there"),
    leaves: decisions.leaves[row],
    enters: decisions.enters[row],
    fate: task < recording.tasks ? recording.taskOf(task) : null,
  };
}

/**
 * Whether a move did not pay: its task ended later than the estimate of staying said; false where there was no estimate.
 * @param {Recording} recording
 * @param {number} row of the decision
 */
export function didNotPay(recording, row) {
  const { decisions, tables } = recording;
  const staying = tables.decisions.columns.response_here_ms[row];
  if (decisions.kind[row] === KIND.stays || !decisions.accepted[row] || !Number.isFinite(staying)) return false;
  const task = recording.taskRow(decisions.task[row]);
  if (task >= recording.tasks || tables.tasks.columns.is_open[task]) return false;
  return recording.finish[task] > decisions.time[row] + staying;
}

/**
 * When and where a task lost its node, as segments or, of a task that ended by it, its last segment.
 * @param {Recording} recording
 * @param {number} task row
 * @returns {number[]} rows of segments
 */
export function lossesOf(recording, task) {
  const { start, what } = recording.segments;
  /** @type {number[]} */
  const found = [];
  for (let row = start[task]; row < start[task + 1]; row++) {
    if (
      what[row] === WHAT.lost ||
      (what[row] === WHAT.restarts && (row === start[task] || what[row - 1] !== WHAT.lost))
    )
      found.push(row);
  }
  const { outcome, is_open } = recording.tables.tasks.columns;
  if (!is_open[task] && outcome[task] === OUTCOME.lost && start[task + 1] > start[task])
    found.push(start[task + 1] - 1);
  return found;
}

/**
 * The node that a task lost, of a segment in which it waits for another one, goes on to it, or ended.
 * @param {Recording} recording
 * @param {number} row of the segment
 */
export function lostNode(recording, row) {
  const { start, what, node, origin, task } = recording.segments;
  if (what[row] === WHAT.restarts) {
    for (let before = row - 1; before >= start[task[row]]; before--)
      if (what[before] === WHAT.runs) return node[before];
    return origin[row];
  }
  if (what[row] === WHAT.lost && row > start[task[row]]) return node[row - 1];
  return node[row];
}

/**
 * With what a task was lost: its own node, or its job, of which another task's node failed.
 * @param {Recording} recording
 * @param {number} task row
 */
export function lostWith(recording, task) {
  const at = recording.finish[task];
  const node = recording.tables.tasks.columns.node[task];
  const times = recording.down[node];
  for (let place = 0; place < times.length; place += 2) {
    if (Math.abs(times[place] - at) <= recording.slice) return `with ${recording.nodeName(node)}, which failed`;
  }
  const { failures } = recording;
  for (let row = 0; row < failures.at.length; row++) {
    const failed = failures.node[row] >= 0 && recording.text("failures", "what", row) === "node fails";
    if (failed && Math.abs(failures.at[row] - at) <= recording.slice)
      return `with its job, as ${recording.nodeName(failures.node[row])} failed`;
  }
  return "with its job";
}

/**
 * The first row of either run's decisions to move in which they part: of an earlier time, another task, another node, or
 * another answer.
 * @param {Recording} one
 * @param {Recording} other
 * @returns {{run: number, row: number, time: number} | null}
 */
export function firstDifference(one, other) {
  const mine = movers(one);
  const theirs = movers(other);
  for (let place = 0; place < Math.max(mine.length, theirs.length); place++) {
    const [a, b] = [mine[place], theirs[place]];
    if (a === undefined || b === undefined || !same(one, a, other, b)) {
      const first = b === undefined || (a !== undefined && one.decisions.time[a] <= other.decisions.time[b]);
      return first
        ? { run: 0, row: a, time: one.decisions.time[a] }
        : { run: 1, row: b, time: other.decisions.time[b] };
    }
  }
  return null;
}

/** @param {Recording} recording */
function movers(recording) {
  const { kind, rows } = recording.decisions;
  /** @type {number[]} */
  const found = [];
  for (let row = 0; row < rows; row++) if (kind[row] !== KIND.stays) found.push(row);
  return found;
}

/**
 * @param {Recording} one
 * @param {number} a
 * @param {Recording} other
 * @param {number} b
 */
function same(one, a, other, b) {
  const [mine, theirs] = [one.decisions, other.decisions];
  return (
    Math.abs(mine.time[a] - theirs.time[b]) < 0.01 &&
    mine.task[a] === theirs.task[b] &&
    mine.source[a] === theirs.source[b] &&
    mine.target[a] === theirs.target[b] &&
    mine.accepted[a] === theirs.accepted[b]
  );
}
