/** The element of one event in the list of events. */

import { el } from "./dom.js";
import { factsOf, lostNode, lostWith } from "./facts.js";
import { ABOUT } from "./happenings.js";
import { mark } from "./legend.js";
import { KIND, MOVE, OUTCOME } from "./recording.js";
import { killedBy } from "./script.js";
import { kindWords, shortWords } from "./sentences.js";
import { duration, moment } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./happenings.js").Happenings} Happenings */
/** @typedef {import("./recording.js").Recording} Recording */

/**
 * @param {Happenings} all the events of its run
 * @param {number} row which of them
 * @param {Palette} palette
 */
export function eventElement(all, row, palette) {
  const parts = { [ABOUT.decision]: ofDecision, [ABOUT.message]: ofMessage, [ABOUT.failure]: ofFailure }[
    all.about[row]
  ];
  const element = el(
    "div",
    { class: "event", role: "option" },
    el("span", { class: "when", text: moment(all.time[row]) }),
    ...(parts ? parts(all.recording, all.id[row], palette) : ofTask(all, row)),
  );
  element.classList.toggle("failed", all.about[row] !== ABOUT.decision && all.about[row] !== ABOUT.message);
  return element;
}

/**
 * @param {Recording} recording
 * @param {number} id
 * @param {Palette} palette
 */
function ofDecision(recording, id, palette) {
  const facts = factsOf(recording, id);
  const look = !facts.accepted
    ? MOVE.refused
    : { [KIND.starts]: MOVE.start, [KIND.migrates]: MOVE.migration, [KIND.recovers]: MOVE.restart }[facts.kind];
  const stays = facts.source === facts.target;
  return [
    look === undefined ? el("span", { class: "mark" }) : mark(look, palette, kindWords(facts)),
    el("span", { class: "who", text: `task ${facts.number}` }),
    el("span", {
      class: "path",
      text: stays ? `on ${recording.nodeName(facts.source)}` : pathWords(recording, facts.source, facts.target),
    }),
    el("span", { class: "short", text: shortWords(recording, facts), title: `${kindWords(facts)}: ${facts.rule}` }),
  ];
}

/**
 * @param {Recording} recording
 * @param {number} id
 * @param {Palette} palette
 */
function ofMessage(recording, id, palette) {
  const { sender, receiver, task, after } = recording.tables.messages.columns;
  const isLost = after[id] < 0;
  const topic = recording.text("messages", "topic", id);
  return [
    mark(MOVE.message, palette, "message"),
    el("span", { class: "who", text: task[id] >= 0 ? `task ${task[id]}` : "" }),
    el("span", { class: "path", text: pathWords(recording, sender[id], receiver[id]) }),
    el("span", {
      class: isLost ? "short bad" : "short",
      text: isLost ? `${topic}: lost` : topic,
      title: isLost ? "" : `heard after ${duration(after[id] * recording.tick)}`,
    }),
  ];
}

/**
 * @param {Recording} recording
 * @param {number} id
 */
function ofFailure(recording, id) {
  const node = recording.failures.node[id];
  const where = node >= 0 ? recording.nodeName(node) : recording.text("failures", "other", id);
  return signed("⚠", "failure", "", where, recording.text("failures", "what", id));
}

/**
 * A task that lost its node, or was killed.
 * @param {Happenings} all
 * @param {number} row
 */
function ofTask(all, row) {
  const { recording } = all;
  const task = all.taskOf(row);
  const who = `task ${recording.tables.tasks.columns.task[task]}`;
  if (all.about[row] === ABOUT.killed) return signed("✕", "lost", who, "killed", killedBy(recording, task));
  const ends = recording.taskOf(task).outcome === OUTCOME.lost && all.time[row] === recording.finish[task];
  if (ends) return signed("✕", "lost", who, "lost", lostWith(recording, task));
  return signed("✕", "lost", who, "lost its node", recording.nodeName(lostNode(recording, all.id[row])));
}

/**
 * @param {string} sign
 * @param {string} label what the sign says to a screen reader
 * @param {string} who
 * @param {string} path
 * @param {string} short
 */
const signed = (sign, label, who, path, short) => [
  el("span", { class: "mark", role: "img", "aria-label": label, text: sign }),
  el("span", { class: "who", text: who }),
  el("span", { class: "path", text: path }),
  el("span", { class: "short", text: short }),
];

/**
 * From node to node, by their numbers where they have no names.
 * @param {Recording} recording
 * @param {number} source
 * @param {number} target
 */
const pathWords = (recording, source, target) =>
  [source, target].map((node) => recording.nodeName(node).replace(/^node (?=\d+$)/, "")).join(" → ");
