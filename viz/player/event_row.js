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

/**
 * @param {Happenings} all the events of its run
 * @param {number} row which of them
 * @param {Palette} palette
 */
export function eventElement(all, row, palette) {
  const { recording } = all;
  const element = el(
    "div",
    { class: "event", role: "option" },
    el("span", { class: "when", text: moment(all.time[row]) }),
  );
  const id = all.id[row];
  if (all.about[row] === ABOUT.decision) {
    const facts = factsOf(recording, id);
    const look = !facts.accepted
      ? MOVE.refused
      : { [KIND.starts]: MOVE.start, [KIND.migrates]: MOVE.migration, [KIND.recovers]: MOVE.restart }[facts.kind];
    element.append(look === undefined ? el("span", { class: "mark" }) : mark(look, palette, kindWords(facts)));
    const path =
      facts.source === facts.target
        ? `on ${recording.nodeName(facts.source)}`
        : `${recording.nodeName(facts.source).replace(/^node (?=\d+$)/, "")} → ${recording.nodeName(facts.target).replace(/^node (?=\d+$)/, "")}`;
    element.append(
      el("span", { class: "who", text: `task ${facts.number}` }),
      el("span", { class: "path", text: path }),
      el("span", { class: "short", text: shortWords(recording, facts), title: `${kindWords(facts)}: ${facts.rule}` }),
    );
  } else if (all.about[row] === ABOUT.message) {
    const { sender, receiver, task, after } = recording.tables.messages.columns;
    const isLost = after[id] < 0;
    const name = (/** @type {number} */ node) => recording.nodeName(node).replace(/^node (?=\d+$)/, "");
    const topic = recording.text("messages", "topic", id);
    element.append(
      mark(MOVE.message, palette, "message"),
      el("span", { class: "who", text: task[id] >= 0 ? `task ${task[id]}` : "" }),
      el("span", { class: "path", text: `${name(sender[id])} → ${name(receiver[id])}` }),
      el("span", {
        class: isLost ? "short bad" : "short",
        text: isLost ? `${topic}: lost` : topic,
        title: isLost ? "" : `heard after ${duration(after[id] * recording.tick)}`,
      }),
    );
  } else if (all.about[row] === ABOUT.failure) {
    const node = recording.failures.node[id];
    element.classList.add("failed");
    element.append(
      el("span", { class: "mark", role: "img", "aria-label": "failure", text: "⚠" }),
      el("span", { class: "who" }),
      el("span", {
        class: "path",
        text: node >= 0 ? recording.nodeName(node) : recording.text("failures", "other", id),
      }),
      el("span", { class: "short", text: recording.text("failures", "what", id) }),
    );
  } else {
    const task = all.taskOf(row);
    const ends = recording.taskOf(task).outcome === OUTCOME.lost && all.time[row] === recording.finish[task];
    element.classList.add("failed");
    element.append(
      el("span", { class: "mark", role: "img", "aria-label": "lost", text: "✕" }),
      el("span", { class: "who", text: `task ${recording.tables.tasks.columns.task[task]}` }),
      el("span", {
        class: "path",
        text: all.about[row] === ABOUT.killed ? "killed" : ends ? "lost" : "lost its node",
      }),
      el("span", {
        class: "short",
        text:
          all.about[row] === ABOUT.killed
            ? killedBy(recording, task)
            : ends
              ? lostWith(recording, task)
              : recording.nodeName(lostNode(recording, id)),
      }),
    );
  }
  return element;
}
