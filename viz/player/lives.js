/** A task's life and a node's life: where the time went. */

import { el } from "./dom.js";
import { hatched } from "./hatch.js";
import { lostNode, lostWith } from "./facts.js";
import { ended } from "./lanes.js";
import { OUTCOME, PARTS, WHAT } from "./recording.js";
import { killedBy } from "./script.js";
import { counted, duration, moment, plain } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./view.js").View} View */

const PART_WORDS = ["CPU", "CPU queue", "disk", "disk queue", "paging", "transfer", "barrier", "waiting"];
const MOST_STEPS = 40;

/**
 * Times as a bar and its words.
 * @param {number[]} times [ms], in the order of PARTS
 * @param {Palette} palette
 * @param {string} name for screen readers
 */
export function timeBar(times, palette, name) {
  const whole = times.reduce((sum, one) => sum + Math.max(one, 0), 0);
  const bar = el("div", {
    class: "lifebar",
    role: "img",
    "aria-label": `${name}: ${times
      .map((one, part) => (one > 0 ? `${PART_WORDS[part]} ${duration(one)}` : ""))
      .filter(Boolean)
      .join(", ")}`,
  });
  const list = el("ul", { class: "shares" });
  times.forEach((time, part) => {
    if (!(time > 0)) return;
    const share = (100 * time) / whole;
    bar.append(
      el("i", {
        css: { "flex-grow": String(time), ...hatched(part, palette) },
        title: `${PART_WORDS[part]}: ${duration(time)}`,
      }),
    );
    list.append(
      el(
        "li",
        {},
        el("i", { class: "square", css: hatched(part, palette) }),
        `${PART_WORDS[part]} ${duration(time)} (${plain(Math.round(share * 10) / 10)} %)`,
      ),
    );
  });
  return el("div", {}, bar, list);
}

/**
 * @param {Recording} recording
 * @param {number} task row
 */
export function partsOfTask(recording, task) {
  const { start } = recording.segments;
  const sums = PARTS.map(() => 0);
  for (let row = start[task]; row < start[task + 1]; row++)
    recording.parts(row).forEach((part, place) => (sums[place] += part));
  return sums;
}

/**
 * The steps of a task's life, each a line that goes there.
 * @param {View} view
 * @param {number} run
 * @param {number} task row
 */
export function stepsOfTask(view, run, task) {
  const recording = view.recordings[run];
  const { start, from, node, origin, what, decision, open } = recording.segments;
  const list = el("ol", { class: "steps" });
  const end = Math.min(start[task + 1], start[task] + MOST_STEPS);
  for (let row = start[task]; row < end; row++) {
    const [here, there] = [recording.nodeName(origin[row]), recording.nodeName(node[row])];
    const how = {
      [WHAT.waits]: `waits at ${there}`,
      [WHAT.starts]: origin[row] === node[row] ? `is sent to ${there}` : `remote start: ${here} to ${there}`,
      [WHAT.asks]: `starts on ${there}`,
      [WHAT.fetches]: `fetches its data for ${there}`,
      [WHAT.runs]: `runs on ${there}`,
      [WHAT.migrates]: `migrates: ${here} to ${there}`,
      [WHAT.returns]: `comes back to ${there}: the transfer failed`,
      [WHAT.lost]: `has lost ${recording.nodeName(lostNode(recording, row))}: it failed`,
      [WHAT.restarts]: `starts again on ${there}, as ${recording.nodeName(lostNode(recording, row))} failed`,
    }[what[row]];
    const until = ended(recording, row);
    const go = () =>
      decision[row] >= 0 && what[row] !== WHAT.runs
        ? view.select({ run, kind: "decision", id: decision[row] }, from[row])
        : view.select({ run, kind: "task", id: task }, from[row]);
    list.append(
      el(
        "li",
        {},
        el(
          "button",
          { type: "button", class: "link", onclick: go },
          el("span", { class: "when", text: moment(from[row]) }),
          el("span", { text: `${how}` }),
        ),
        el("span", {
          class: "long",
          text: open[row] ? `${duration(until - from[row])} so far` : duration(until - from[row]),
        }),
      ),
    );
  }
  if (end < start[task + 1]) list.append(el("li", { text: `and ${start[task + 1] - end} more` }));
  return list;
}

/**
 * @param {View} view
 * @param {number} run
 * @param {number} task row
 */
export function endOfTask(view, run, task) {
  const recording = view.recordings[run];
  const found = recording.taskOf(task);
  const how = {
    [OUTCOME.open]: "is still running at the end of the recording",
    [OUTCOME.finished]: `finished at ${moment(found.finish)}`,
    [OUTCOME.killed]: `was killed ${killedBy(recording, task)} at ${moment(found.finish)}`,
    [OUTCOME.lost]: `was lost ${lostWith(recording, task)}, at ${moment(found.finish)}`,
  }[found.outcome];
  const tail =
    found.outcome === OUTCOME.finished
      ? ` It took ${duration(found.response)}, alone ${duration(found.isolated)}: slowdown ${plain(found.slowdown)}.`
      : "";
  return `Task ${found.task} of job ${recording.jobNumber(found.job)} was submitted on ${recording.nodeName(found.home)} at ${moment(found.arrival)} and ${how}.${tail}`;
}

/**
 * @param {Recording} recording
 * @param {number} node
 */
function sumsOfNode(recording, node) {
  const { visits, segments } = recording;
  const times = PARTS.map(() => 0);
  for (let at = visits.start[node]; at < visits.start[node + 1]; at++) {
    recording.parts(visits.rows[at]).forEach((part, place) => (times[place] += part));
  }
  const { origin, node: to, kind } = recording.moves;
  let [came, left, refused] = [0, 0, 0];
  for (let row = 0; row < kind.length; row++) {
    if (origin[row] === to[row] || kind[row] > 2) continue;
    if (kind[row] === 2) refused += Number(to[row] === node);
    else {
      came += Number(to[row] === node);
      left += Number(origin[row] === node);
    }
  }
  const loads = recording.tables.loads;
  let [at, cpu, disk] = [0, 0, 0];
  for (let row = 0; row < loads.rows; row++) {
    if (loads.columns.node[row] !== node) continue;
    at = loads.columns.at[row] * recording.tick;
    cpu = loads.columns.cpu_busy_ms[row];
    disk = loads.columns.disk_busy_ms[row];
  }
  let down = 0;
  const times_ = recording.down[node];
  for (let place = 0; place < times_.length; place += 2)
    down += Math.min(times_[place + 1], recording.end) - times_[place];
  return {
    times,
    came,
    left,
    refused,
    visits: visits.start[node + 1] - visits.start[node],
    down,
    at,
    cpu: at ? cpu / at / recording.cores[node] : NaN,
    disk: at ? disk / at : NaN,
    first: segments.from[visits.rows[visits.start[node]]],
  };
}

/**
 * @param {Recording} recording
 * @param {number} node
 */
export function nodeWords(recording, node) {
  const sums = sumsOfNode(recording, node);
  const hardware = recording.tables.nodes.columns;
  const cores = counted(hardware.cores[node], "core");
  const busy = Number.isFinite(sums.cpu)
    ? ` Up to ${moment(sums.at)} its CPU was busy ${plain(Math.round(1000 * sums.cpu) / 10)} % of the time, its disk ${plain(Math.round(1000 * sums.disk) / 10)} %.`
    : "";
  const down = sums.down ? ` It was down for ${duration(sums.down)}.` : "";
  return {
    sums,
    text:
      `${cores}, speed ${plain(hardware.speed[node])}, ${plain(hardware.memory_mb[node])} MB of memory. ${counted(sums.visits, "visit")}: ` +
      `${counted(sums.came, "task")} came by a move, ${sums.left} left by one, ${counted(sums.refused, "offer")} refused.${busy}${down}`,
  };
}
