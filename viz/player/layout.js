/** Where the panels of the player stand. */

import { el, iconButton, openDialog } from "./dom.js";
import { firstAct, firstWords } from "./script.js";
import { signOf } from "./shapes.js";
import { moment } from "./words.js";

/** @typedef {import("./screen.js").Screen} Screen */

/**
 * The elements of the player, in their order.
 * @param {Screen} screen
 * @returns {(HTMLElement | null)[]}
 */
export function layOut(screen) {
  const { recordings, view } = screen;
  const { header } = recordings[0];
  const notes = [...new Set(recordings.map((one) => one.header.kept?.why).filter(Boolean))].map(String);
  return [
    el(
      "div",
      { class: "head", role: "group", "aria-label": "The run" },
      el("h1", { text: String(header.scenario) }),
      el("span", {
        class: "caption",
        text: [header.caption, header.changed && `with ${header.changed}`, `seed ${header.seed}`]
          .filter(Boolean)
          .join("; "),
        title: `Rounded: ${header.rounded}`,
      }),
      ...notes.map((text) => el("span", { class: "kept", text: `Kept: ${text}` })),
      partingButton(screen),
      screen.theme,
      iconButton("words", "In words", () => screen.mirror.toggle(), "w"),
      iconButton("full", "Full screen", () => screen.full(), "f"),
      iconButton("help", "Keys", () => openDialog(screen.help), "?"),
    ),
    el(
      "div",
      { class: "main" },
      el(
        "div",
        { class: "stages" },
        ...screen.stages.map((stage, run) =>
          el(
            "section",
            { class: "run", "aria-label": `Nodes under ${view.names[run]}` },
            el(
              "div",
              { class: "title" },
              el("b", {}, signOf(recordings[run], run), view.names[run]),
              screen.numbers[run],
            ),
            stage.element,
            screen.mirror.ofStages[run],
          ),
        ),
      ),
      screen.legend,
      el(
        "div",
        { class: "timelines" },
        ...screen.timelines.map((one, run) =>
          el(
            "div",
            { class: "timebox" },
            one.element,
            screen.mirror.ofTimelines[run],
            screen.acts[run].element,
            recordings.length > 1
              ? el("span", { class: "policy" }, signOf(recordings[run], run), view.names[run])
              : null,
          ),
        ),
        screen.asking.element,
      ),
      screen.lines.element,
      screen.overview.element,
      screen.mirror.ofLines,
    ),
    screen.options.scene?.element ?? null,
    el("aside", { class: "side" }, screen.why.element, screen.events.element),
    screen.bar.element,
    screen.help,
    screen.mirror.dialog,
    screen.said,
  ];
}

/** Where two runs part. @param {Screen} screen */
function partingButton(screen) {
  const { parting, view, recordings } = screen;
  if (recordings.length < 2) return null;
  const act = recordings[0].policy === recordings[1].policy ? firstAct(recordings) : null;
  if (act !== null && act <= (parting?.time ?? Infinity))
    return el("button", {
      type: "button",
      class: "plain parts",
      text: firstWords(act),
      onclick: () => view.seek(act),
    });
  if (!parting) return el("span", { class: "parts", text: "The same decisions in both runs" });
  const { run, row, time } = parting;
  return el("button", {
    type: "button",
    class: "plain parts",
    text: `First different decision at ${moment(time)}`,
    onclick: () => view.select({ run, kind: "decision", id: row }, time),
  });
}
