/** The settings: fields, what is wrong with them, what the runs offer, and what can be downloaded. */

import { el, fill } from "../player/dom.js";
import { Choice } from "./choice.js";
import { tipsOf } from "./tips.js";

/** @typedef {{kind: string, name: string, label: string, unit: string, tip: string, text: string, error: string}} Field */
/** @typedef {{tell: (event: string, data: unknown) => void, items: (name: string) => import("./ordering.js").Item[]}} Door */

const LOADS = "What the jobs ask of all CPUs, disks and memory while they are submitted; 100 % is all.";

export class Panel {
  /**
   * @param {string} named the scenario
   * @param {Door} door to the server
   * @param {HTMLElement} downloads
   * @param {boolean} hasSettings
   * @param {HTMLElement} acts
   */
  constructor(named, door, downloads, hasSettings, acts) {
    this.door = door;
    /** @type {Map<string, {row: HTMLElement, input: HTMLInputElement, choice: Choice | null, wrong: HTMLElement}>} */
    this.rows = new Map();
    this.fields = el("div", { class: "fields" });
    this.offered = el("div", { class: "offered", tabindex: "0", hidden: true });
    const reset = el("button", { type: "button", class: "reset", text: "As the scenario says",
      dataset: { tip: "Set all settings, the policies and the seed back." }, onclick: () => door.tell("reset", null) });
    this.more = el("button", { type: "button", class: "more", "aria-expanded": "false", text: "Settings", onclick: () => this.#fold() });
    this.element = el("div", { class: "panel" },
      el("div", { class: "brand" }, el("b", { text: "cluster-abm" }), el("span", { text: named })),
      hasSettings && this.offered, hasSettings && this.more, hasSettings && this.fields, hasSettings && acts,
      el("div", { class: "foot" }, hasSettings && reset, downloads));
    this.tip = tipsOf(this.element);
    // What is typed here is no key of the player's.
    this.element.addEventListener("keydown", (event) => event.stopPropagation());
  }

  #fold() {
    const open = this.element.classList.toggle("open");
    this.more.setAttribute("aria-expanded", String(open));
    this.more.textContent = open ? "Hide settings" : "Settings";
  }

  /** @param {Field[]} fields */
  show(fields) {
    for (const field of fields) {
      const row = this.rows.get(field.name) ?? this.#row(field);
      if (row.choice) row.choice.show(field.text);
      else if (/** @type {ShadowRoot} */ (row.input.getRootNode()).activeElement !== row.input || row.input.value === row.input.dataset.sent) row.input.value = field.text;
      row.wrong.textContent = field.error;
      row.wrong.hidden = !field.error;
      row.input.setAttribute("aria-invalid", String(Boolean(field.error)));
    }
  }

  /** @param {Field} field */
  #row(field) {
    const { name } = field;
    const wrong = el("div", { class: "wrong-value", role: "alert", hidden: true });
    const choice = field.kind === "choice"
      ? new Choice(name, () => this.door.items(name), (value) => this.door.tell("choose", { name, value })) : null;
    const input = choice ? choice.input : this.#number(name);
    const row = el("div", { class: field.kind, dataset: { tip: field.tip, name } },
      el("label", { for: `field-${name}` }, field.label, field.unit && el("span", { class: "unit", text: ` ${field.unit}` })),
      choice ? choice.element : input, wrong);
    this.fields.append(row);
    const made = { row, input, choice, wrong };
    this.rows.set(name, made);
    return made;
  }

  /** @param {string} name */
  #number(name) {
    const input = /** @type {HTMLInputElement} */ (el("input", { id: `field-${name}`, type: "text", inputmode: "decimal", autocomplete: "off" }));
    input.addEventListener("change", () => {
      input.dataset.sent = input.value;
      this.door.tell("enter", { name, text: input.value.slice(0, 10_000) });
    });
    return input;
  }

  /**
   * @param {[string, string][]} offered load of each resource
   * @param {string[]} warnings
   */
  showLoad(offered, warnings) {
    const shown = offered.filter(([name]) => name !== "memory").map(([name, share]) => `${name === "cpu" ? "CPU" : name} ${share}`);
    const memory = offered.filter(([name]) => name === "memory").map(([, share]) => `Memory: at least ${share}.`);
    this.offered.hidden = !offered.length;
    this.offered.classList.toggle("high", warnings.length > 0);
    this.offered.dataset.tip = [LOADS, ...memory, ...warnings].join("\n");
    fill(this.offered, `Offered load: ${shown.join(", ")}${warnings.length ? " (warning)" : ""}`);
  }
}
