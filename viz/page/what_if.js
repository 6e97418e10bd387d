/** What if: acts from the cursor on, by buttons for what is selected; they can be undone and redone. */

import { el, fill } from "../player/dom.js";
import { actWords } from "../player/script.js";
import { moment } from "../player/words.js";

/** @typedef {import("../player/script.js").Act} Act */
/** @typedef {import("../player/view.js").View} View */

export class WhatIf {
  /**
   * @param {(acts: Act[]) => void} send
   * @param {() => void} compare shows the run beside the same one without acts
   */
  constructor(send, compare) {
    this.send = send;
    /** @type {Act[]} */
    this.now = [];
    this.isKnown = false;
    /** Scripts before this one, and those that were undone. @type {Act[][]} */
    this.past = [];
    /** @type {Act[][]} */
    this.future = [];
    /** What was sent and is not answered yet; `takeBack` is for one that is refused. @type {{number: number, acts: Act[], takeBack: () => void}[]} */
    this.sent = [];
    /** What was typed beside each button: the panel is drawn anew while one types. @type {Map<string, string>} */
    this.typed = new Map();
    /** How many have been sent. */
    this.count = 0;
    this.list = el("ul", { class: "acts-of-page" });
    this.wrong = el("div", { class: "wrong-value", role: "alert", hidden: true });
    this.back = el("button", { type: "button", class: "reset act-tool", text: "Undo", onclick: () => this.undo(), dataset: { tip: "Take the last change of the acts back (Ctrl+Z)." } });
    this.again = el("button", { type: "button", class: "reset act-tool", text: "Redo", onclick: () => this.redo(), dataset: { tip: "Do again what was undone (Ctrl+Y)." } });
    const beside = el("button", { type: "button", class: "reset act-tool", text: "Compare without acts", onclick: compare,
      dataset: { tip: "Show the same policy on the same jobs beside it, without acts." } });
    this.tools = el("div", { class: "tools-of-acts" }, this.back, this.again, beside);
    this.section = el("section", { class: "what-if", "aria-label": "Acts", hidden: true },
      el("h2", { text: "Acts" }), this.list, this.wrong, this.tools);
  }

  /**
   * The script that the server has now, what is wrong with the one that was wanted, and how many it has heard.
   * @param {{acts?: Act[], error?: string, heard?: number}} script
   */
  show({ acts, error = "", heard = 0 }) {
    if (acts === undefined) return;
    const answered = this.sent.filter((one) => one.number <= heard);
    this.sent = this.sent.filter((one) => one.number > heard);
    if (!this.isKnown) this.count = heard;
    else if (error) for (const one of answered) one.takeBack();
    else if (!answered.length && !this.sent.length && JSON.stringify(acts) !== JSON.stringify(this.now)) {
      // From elsewhere: the address, or all settings were set back.
      this.past.push(this.now);
      this.future = [];
    }
    this.isKnown = true;
    this.now = acts;
    this.wrong.textContent = error;
    this.wrong.hidden = !error;
    const focused = [...this.list.querySelectorAll(".remove")].findIndex((one) => one.matches(":focus"));
    fill(this.list, ...acts.map((act, place) => el("li", {},
      el("span", { class: "when", text: moment(act.at_s * 1000) }), el("span", { text: actWords(act, (node) => `node ${node}`) }),
      el("button", { type: "button", class: "remove", text: "✕", "aria-label": `Remove: ${actWords(act, (node) => `node ${node}`)}`,
        onclick: () => this.#remove(act) }))));
    // Not `disabled`: that would take the focus.
    this.back.setAttribute("aria-disabled", String(!this.past.length));
    this.again.setAttribute("aria-disabled", String(!this.future.length));
    this.section.hidden = !acts.length && !this.past.length && !this.future.length && !error;
    const left = /** @type {HTMLElement[]} */ ([...this.list.querySelectorAll(".remove")]);
    if (focused >= 0) (left[Math.min(focused, left.length - 1)] ?? this.back).focus();
  }

  // ---- what the player asks for -----------------------------------------------------------------------------

  /** The script, with what was sent and is not there yet. */
  acts() {
    return this.sent.at(-1)?.acts ?? this.now;
  }

  /** @param {Act[]} acts */
  change(acts) {
    const before = this.acts();
    this.past.push(before);
    this.future = [];
    this.#send(acts, () => (this.past = this.past.filter((one) => one !== before)));
  }

  /** @param {Act} act */
  #remove(act) {
    const all = this.acts();
    const place = all.findIndex((one) => JSON.stringify(one) === JSON.stringify(act));
    if (place >= 0) this.change(all.filter((_, other) => other !== place));
  }

  /** Buttons for what is selected. @param {View} view */
  element(view) {
    /** @param {Omit<Act, "at_s">} act */
    const add = (act) => this.change([...this.acts(), { at_s: Math.round(view.time) / 1000, ...act }]);
    const { selection } = view;
    const { typed } = this;
    const found = [el("h3", { text: "What if, from the cursor on" })];
    if (selection?.kind === "node") {
      const node = selection.id;
      found.push(
        buttons(["Fail", () => add({ act: "fail", node })], ["Drain", () => add({ act: "drain", node })], ["Recover", () => add({ act: "recover", node })]),
        form(typed, "Slow", [["device", ["disk", "cpu", "link"]], ["% of its speed", 25]], ([device, share]) =>
          add({ act: "slow", node, device, factor: Number(share) / 100 })));
    } else if (selection?.kind === "task" || selection?.kind === "decision" || selection?.kind === "job") {
      const recording = view.recordings[selection.run];
      const row = selection.kind === "task" ? selection.id : selection.kind === "decision" ? recording.taskRow(recording.decisions.task[selection.id]) : -1;
      const number = row < 0 ? -1 : recording.taskOf(row).task;
      const job = recording.jobNumber(row < 0 ? selection.id : recording.taskOf(row).job);
      if (row >= 0) found.push(form(typed, `Send task ${number} to node`, [["node", 0]], ([node]) => add({ act: "send", task: number, node: Number(node) })));
      found.push(buttons([`Kill job ${job}`, () => add({ act: "kill", job })]));
    } else {
      found.push(el("p", { class: "paper", text: "Click a node to fail, drain or slow it, or a task to send it." }));
    }
    found.push(form(typed, "Arrivals from here", [["times as fast", 2]], ([factor]) => add({ act: "arrivals", factor: Number(factor) })));
    return el("div", { class: "acting" }, ...found);
  }

  // ---- undone and redone ------------------------------------------------------------------------------------

  undo() {
    const before = this.past.pop();
    if (!before) return;
    const after = this.acts();
    this.future.push(after);
    this.#send(before, () => (this.future = this.future.filter((one) => one !== after)));
  }

  redo() {
    const after = this.future.pop();
    if (!after) return;
    const before = this.acts();
    this.past.push(before);
    this.#send(after, () => (this.past = this.past.filter((one) => one !== before)));
  }

  /** @param {Act[]} acts @param {() => void} takeBack */
  #send(acts, takeBack) {
    // A copy: the same script may stand in the history twice.
    this.sent.push({ number: ++this.count, acts: [...acts], takeBack });
    this.send(acts);
  }
}

/** @param {...[string, () => void]} named */
const buttons = (...named) =>
  el("div", { class: "first" }, ...named.map(([text, act]) => el("button", { type: "button", class: "plain", text, onclick: act })));

/**
 * A button with the fields that it needs.
 * @param {Map<string, string>} typed what was typed into each field, by button and name
 * @param {string} text
 * @param {[string, number | string[]][]} fields name, and the value at first or what can be chosen
 * @param {(values: string[]) => void} act
 */
function form(typed, text, fields, act) {
  const inputs = fields.map(([name, value]) =>
    /** @type {HTMLInputElement} */ (Array.isArray(value)
      ? el("select", { "aria-label": name }, ...value.map((one) => el("option", { text: one })))
      : el("input", { type: "number", value, "aria-label": name, required: true, ...(name === "node" ? { step: 1, min: 0 } : { step: "any" }) })));
  inputs.forEach((input, place) => {
    const key = `${text}: ${fields[place][0]}`;
    input.value = typed.get(key) ?? input.value;
    input.oninput = () => typed.set(key, input.value);
  });
  return el("form", { class: "first", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    act(inputs.map((one) => one.value));
  } }, el("button", { type: "submit", class: "plain", text }), ...inputs.flatMap((one, place) => [one, el("span", { class: "paper", text: fields[place][0] })]));
}
