/** What is selected, for those who do not see it: spoken once, when it changes. */

import { factsOf } from "./facts.js";
import { endOfTask } from "./lives.js";
import { whatHappens, whyWords } from "./sentences.js";
import { moment } from "./words.js";

/** @typedef {import("./mirror.js").Mirror} Mirror */
/** @typedef {import("./view.js").View} View */

/**
 * @param {View} view
 * @param {Mirror} mirror
 */
export function selectionWords(view, mirror) {
  const { selection } = view;
  if (!selection) return "";
  const recording = view.recordings[selection.run];
  if (selection.kind === "task") return endOfTask(view, selection.run, selection.id);
  if (selection.kind === "node") return selection.id < recording.nodes ? mirror.nodeWords(selection.id) : "";
  if (selection.kind === "job") return `job ${recording.jobNumber(selection.id)}`;
  const facts = factsOf(recording, selection.id);
  return `${moment(facts.time)}: ${whatHappens(recording, facts)} ${whyWords(recording, facts)}`;
}
