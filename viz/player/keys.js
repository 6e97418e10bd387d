/** What keys do, and the page that says so. */

import { dialogHead, el } from "./dom.js";

/**
 * What not every player has: detail that can be computed, a guided scene, settings beside it.
 * @typedef {"detail" | "scene" | "settings"} Part
 */
/** Keys, and what they do. @type {[string, string, Part?][]} */
export const HELP = [
  ["Space", "play or pause"],
  ["Left, Right", "one event back or on"],
  [", .", "one slice back or on"],
  ["n, p", "next or previous move, selected"],
  ["m", "next of the moves that are on the stage now, selected"],
  ["z", "zoom to what is selected"],
  ["w", "what is seen, in words"],
  ["Shift + Left, Right", "pan the timeline"],
  ["+ -", "zoom in or out"],
  ["0", "the whole run"],
  ["[ ]", "slower or faster"],
  ["Home, End", "to the beginning or the end"],
  ["/", "search events"],
  ["Page Up, Page Down", "previous or next step of the guided scene; Page Down shows an answer first", "scene"],
  ["Tab", "to the stage, a timeline, the lists; there:"],
  ["Up, Down", "on the stage and a timeline: another node; in a list: another row"],
  ["Left, Right", "on the stage: another node; on a timeline: another visit of it; on the bar of the whole run: 1 %"],
  ["Page Up, Page Down", "on the stage and a timeline: the node before or after; in the list of events: 10 rows"],
  ["Enter", "go to the event; on the timeline: unfold the row"],
  ["Left, Right", "on the pin of an act: one slice earlier or later, with Shift one second", "settings"],
  ["Delete, Backspace", "on the pin of an act: remove it", "settings"],
  ["Ctrl + Z, Ctrl + Y", "undo, or do again, a change of the acts", "settings"],
  ["F1", "what a setting means", "settings"],
  ["c", "CPU and disk in detail, in a window of at most 5 s", "detail"],
  ["d", "dark or light"],
  ["f", "full screen"],
  ["Esc", "select nothing; close what is open"],
  ["?", "this help"],
];

/**
 * @param {Record<string, () => unknown>} actions by key; "shift+" before it
 * @param {KeyboardEvent} event
 * @returns {boolean} whether it was one
 */
export function pressed(actions, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const target = /** @type {HTMLElement | undefined} */ (event.composedPath()[0]);
  const tag = target?.tagName ?? "";
  const writes =
    tag === "SELECT" ||
    tag === "TEXTAREA" ||
    (tag === "INPUT" && /** @type {HTMLInputElement} */ (target).type !== "range");
  if (writes && event.key !== "Escape") return false;
  if (event.key === " " && tag === "BUTTON") return false;
  // What is left is a slider: it has these itself.
  if (tag === "INPUT" && /^(Arrow|Page|Home|End)/.test(event.key)) return false;
  const action = actions[event.shiftKey && event.key.length > 1 ? `shift+${event.key}` : event.key];
  if (!action) return false;
  action();
  event.preventDefault();
  return true;
}

/**
 * @param {Record<Part, boolean>} has what the player has
 * @returns {HTMLDialogElement}
 */
export function helpPage(has) {
  const dialog = /** @type {HTMLDialogElement} */ (
    el(
      "dialog",
      { class: "help", "aria-label": "Keys" },
      dialogHead("Keys", () => dialog.close()),
      el(
        "table",
        {},
        ...HELP.filter(([, , part]) => !part || has[part]).map(([key, words]) =>
          el(
            "tr",
            {},
            el("th", {}, ...key.split(/(?<=,) /).map((one) => el("kbd", { text: one.replace(/,$/, "") || "," }))),
            el("td", { text: words }),
          ),
        ),
      ),
      el("p", {
        text: "Drag pans and a wheel or two fingers zoom the timeline; a double click zooms to a bar. A click on a row's name unfolds it.",
      }),
    )
  );
  return dialog;
}
