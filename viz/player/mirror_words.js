/** Sentences of the text beside the canvases: nodes, moves, rows. Each names a few, and counts the rest. */

import { movesAt } from "./dots.js";
import { firstAbove, firstFrom } from "./search.js";
import { counted, moment } from "./words.js";

/** @typedef {import("./lanes.js").Lanes} Lanes */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./state.js").NodeState} NodeState */

const MOST = 5;
const DOES = ["run", "wait for a CPU", "at the disk", "wait for the disk", "page", "neither"];
const DO_NOW = ["runs", "waits for a CPU", "at the disk", "waits for the disk", "pages", "neither"];
/** One and many, in the order of MOVE. */
const MOVES = [
  ["remote start", "remote starts"],
  ["migration", "migrations"],
  ["refusal", "refusals"],
  ["fetch of data", "fetches of data"],
  ["failed transfer", "failed transfers"],
  ["restart", "restarts"],
  ["message", "messages"],
];
const found = new Int32Array(1 << 16);

/**
 * What the tasks of a node do: " (1 runs, 8 wait for the disk)"; outside a detailed window on average.
 * @param {NodeState} state
 * @param {number} node
 */
export function partsInWords(state, node) {
  const words = DOES.map((many, part) => {
    const share = Math.round(10 * state.share(part, node)) / 10;
    return share > 0 ? `${share} ${share === 1 ? DO_NOW[part] : many}` : "";
  }).filter(Boolean);
  return words.length ? ` (${state.isExact ? "" : "on average "}${words.join(", ")})` : "";
}

/**
 * The nodes with most tasks, how many have none, and which are down.
 * @param {NodeState} state at its moment
 */
export function nodesInWords(state) {
  const { recording, tasks } = state;
  const all = [...Array(recording.nodes).keys()];
  const busy = all.filter((node) => tasks[node] > 0).sort((a, b) => tasks[b] - tasks[a] || a - b);
  const down = all.filter((node) => state.isDown(node));
  const first = busy
    .slice(0, MOST)
    .map((node) => `${recording.nodeName(node)} with ${tasks[node]}${partsInWords(state, node)}`);
  return [
    first.length ? `Nodes with most tasks: ${first.join("; ")}.` : "No node has a task.",
    busy.length > MOST ? `${counted(busy.length - MOST, "more node has", "more nodes have")} tasks.` : "",
    busy.length && busy.length < all.length
      ? `${counted(all.length - busy.length, "node has", "nodes have")} none.`
      : "",
    down.length ? `Down: ${some(down.map((node) => recording.nodeName(node)))}.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * The moves that the stage shows.
 * @param {Recording} recording
 * @param {number} time
 * @param {number} shown a move is seen for that long at least [ms]
 */
export function movesInWords(recording, time, shown) {
  const { moves, decisions, segments, tables } = recording;
  const rows = [...found.subarray(0, movesAt(recording, time, shown, found))];
  if (!rows.length) return "No move under way.";
  const each = rows.slice(0, MOST).map((row) => {
    const segment = moves.segment[row];
    const task =
      moves.decision[row] >= 0
        ? decisions.task[moves.decision[row]]
        : segment >= 0
          ? tables.tasks.columns.task[segments.task[segment]]
          : -1;
    const [from, to] = [recording.nodeName(moves.origin[row]), recording.nodeName(moves.node[row])];
    return `${MOVES[moves.kind[row]][0]}${task >= 0 ? ` of task ${task}` : ""}, ${from} to ${to}`;
  });
  const rest = rows.length > MOST ? `; and ${rows.length - MOST} more` : "";
  return `Moves under way: ${kindsInWords(rows.map((row) => moves.kind[row]))}. The latest: ${each.join("; ")}${rest}.`;
}

/** @param {number[]} kinds */
function kindsInWords(kinds) {
  return MOVES.map(([one, many], kind) => {
    const count = kinds.filter((other) => other === kind).length;
    return count ? counted(count, one, many) : "";
  })
    .filter(Boolean)
    .join(", ");
}

/**
 * The rows of the timeline with most tasks at one moment of a window, and the moves that begin in it.
 * @param {Lanes} lanes
 * @param {number} from
 * @param {number} to
 */
export function peaksInWords({ recording, start, time, count }, from, to) {
  const peaks = [];
  for (let node = 0; node < recording.nodes; node++) {
    const first = firstAbove(time, from, start[node], start[node + 1]);
    let most = { node, tasks: first > start[node] ? count[first - 1] : 0, at: from };
    for (let at = first; at < start[node + 1] && time[at] <= to; at++)
      if (count[at] > most.tasks) most = { node, tasks: count[at], at: time[at] };
    if (most.tasks) peaks.push(most);
  }
  peaks.sort((a, b) => b.tasks - a.tasks || a.node - b.node);
  const words = peaks
    .slice(0, MOST)
    .map(({ node, tasks, at }) => `${recording.nodeName(node)} with ${tasks} at ${moment(at)}`);
  const { moves } = recording;
  const kinds = [...moves.kind.subarray(firstFrom(moves.from, from), firstAbove(moves.from, to))];
  return [
    words.length ? `Most tasks at one moment: ${words.join("; ")}.` : "No node has a task.",
    kinds.length ? `Moves: ${kindsInWords(kinds)}.` : "No moves.",
  ].join(" ");
}

/**
 * Which nodes are down in a window.
 * @param {Recording} recording
 * @param {number} from
 * @param {number} to
 */
export function downWords(recording, from, to) {
  const words = recording.down.flatMap((times, node) => {
    const spans = [];
    for (let place = 0; place < times.length; place += 2) {
      if (times[place] > to || times[place + 1] < from) continue;
      const until = times[place + 1] < Infinity ? `to ${moment(times[place + 1])}` : "to the end";
      spans.push(`from ${moment(times[place])} ${until}`);
    }
    return spans.length ? [`${recording.nodeName(node)} ${some(spans)}`] : [];
  });
  return words.length ? `Down: ${some(words, "; ")}.` : "";
}

/** The first few of them. @param {string[]} words */
function some(words, between = ", ") {
  const rest = words.length > MOST ? `${between}and ${words.length - MOST} more` : "";
  return words.slice(0, MOST).join(between) + rest;
}
