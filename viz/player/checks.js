/** Whether decoded tables make sense: every column is there, and every number that points at a row does. */

import { Unreadable } from "./decode.js";

/** @typedef {import("./decode.js").Decoded} Decoded */
/** @typedef {import("./decode.js").Table} Table */

/** @type {Record<string, string>} */
const COLUMNS = {
  nodes: "vertex cluster cores speed memory_mb x y",
  links: "x1 y1 x2 y2",
  jobs: "job arrival home tasks first_task cpu_ms io_per_ms memory_mb initial_data_mb program",
  tasks: "task job home node moves migrations restarts outcome arrival response slowdown requests faults is_open",
  segments:
    "task node origin what decision is_open gap length cpu cpu_queue io io_queue paging migration barrier blocked",
  decisions:
    "time task source target rule index reason accepted kind leaves enters age task_load load_here load_there " +
    "response_here_ms response_there_ms cost_ms mce",
  loads: "at node tasks cpu_queue cpu_ms io_ms page_ms memory_mb cpu_busy_ms disk_busy_ms",
  messages: "sent after sender receiver topic task",
  failures: "at what node other factor",
};
const TEXTS = [
  "nodes.vertex",
  "nodes.cluster",
  "decisions.rule",
  "decisions.index",
  "decisions.reason",
  "messages.topic",
  "failures.what",
  "failures.other",
];
const MOST_NODES = 100_000;

/**
 * @param {Decoded} decoded
 * @throws {Unreadable}
 */
export function check({ header, tables }) {
  for (const [name, columns] of Object.entries(COLUMNS)) {
    if (!tables[name]) throw new Unreadable(`The recording lacks the table ${name}.`);
    for (const column of columns.split(" ")) {
      if (!tables[name].columns[column]) throw new Unreadable(`The recording lacks the column ${name}.${column}.`);
    }
  }
  for (const place of TEXTS) {
    const [table, column] = place.split(".");
    const texts = tables[table].texts[column];
    if (!texts) throw new Unreadable(`The recording lacks the texts of ${place}.`);
    within(tables[table], column, 0, texts.length);
  }
  const nodes = tables.nodes.rows;
  if (nodes < 1 || nodes > MOST_NODES)
    throw new Unreadable(`The recording has ${nodes} nodes; 1 to ${MOST_NODES} can be shown.`);
  if (!(
    Number.isFinite(header.tick_ms) &&
    header.tick_ms > 0 &&
    Number.isFinite(header.end_ns) &&
    header.end_ns >= 0
  )) {
    throw new Unreadable("The recording does not say how long it is.");
  }
  const { jobs, tasks, segments, decisions, loads, failures, messages } = tables;
  within(jobs, "home", 0, nodes);
  within(tasks, "job", 0, jobs.rows);
  within(tasks, "home", 0, nodes);
  within(segments, "task", 0, tasks.rows);
  within(segments, "node", 0, nodes);
  within(segments, "origin", 0, nodes);
  within(segments, "decision", -1, decisions.rows);
  within(segments, "length", 0, Infinity);
  within(segments, "what", 0, 9);
  for (const side of ["source", "target"]) within(decisions, side, 0, nodes);
  within(decisions, "kind", 0, 4);
  within(loads, "node", 0, nodes);
  within(failures, "node", -1, nodes);
  within(messages, "sender", 0, nodes);
  within(messages, "receiver", 0, nodes);
  if (tables.detail) {
    for (const column of ["task", "from", "length", "doing"]) {
      if (!tables.detail.columns[column]) throw new Unreadable(`The recording lacks the column detail.${column}.`);
    }
  }
  const order = segments.columns.task;
  for (let row = 1; row < order.length; row++) {
    if (order[row] < order[row - 1])
      throw new Unreadable("The recording's segments are not in the order of their tasks.");
  }
}

/**
 * @param {Table} table
 * @param {string} column
 * @param {number} least
 * @param {number} end
 */
function within(table, column, least, end) {
  const values = table.columns[column];
  for (let row = 0; row < values.length; row++) {
    if (!(values[row] >= least && values[row] < end)) {
      throw new Unreadable(`The recording's column ${column} has the value ${values[row]} in row ${row}.`);
    }
  }
}
