/** A field that offers a list: what is typed is looked for, Enter takes what stands first. */

import { el, fill } from "../player/dom.js";
import { ordered } from "./ordering.js";

/** @typedef {import("./ordering.js").Item} Item */

const MOST_SHOWN = 200;

export class Choice {
  /**
   * @param {string} name
   * @param {() => Item[]} items
   * @param {(value: string) => void} choose
   */
  constructor(name, items, choose) {
    this.items = items;
    this.choose = choose;
    this.value = "";
    /** @type {Item[]} */
    this.found = [];
    this.at = 0;
    this.open = false;
    this.list = el("div", { class: "list", role: "listbox", id: `list-${name}`, hidden: true,
      onpointerdown: (/** @type {Event} */ event) => event.preventDefault(),
      onclick: (/** @type {Event} */ event) => this.#click(event) });
    this.input = /** @type {HTMLInputElement} */ (el("input", {
      id: `field-${name}`, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", autocapitalize: "off",
      "aria-expanded": "false", "aria-controls": `list-${name}`, "aria-autocomplete": "list",
      onfocus: () => this.input.select(), onclick: () => this.#show(""), oninput: () => this.#show(this.input.value),
      onblur: () => this.#leave(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    }));
    this.element = el("div", { class: "choice" }, this.input, this.list);
  }

  /** @param {string} value that is chosen */
  show(value) {
    this.value = value;
    if (!this.open) this.input.value = value;
  }

  /** @param {string} sought */
  #show(sought) {
    this.found = ordered(this.items(), sought).slice(0, MOST_SHOWN);
    this.at = Math.max(0, sought ? 0 : this.found.findIndex((one) => one.value === this.value));
    this.open = true;
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    const empty = el("div", { class: "nothing", text: "nothing of that name" });
    fill(this.list, ...(this.found.length ? this.found.map((one, place) => this.#option(one, place)) : [empty]));
    this.#place();
    this.#mark();
  }

  /** Where there is room: below the field, or above it. */
  #place() {
    const box = this.input.getBoundingClientRect();
    const below = innerHeight - box.bottom - 8;
    const isBelow = below > 260 || below > box.top;
    this.list.style.maxHeight = `${Math.min(420, (isBelow ? below : box.top) - 8)}px`;
    this.list.style.left = `${Math.max(8, Math.min(box.left, innerWidth - this.list.offsetWidth - 8))}px`;
    this.list.style.top = isBelow ? `${box.bottom + 2}px` : `${box.top - this.list.offsetHeight - 2}px`;
  }

  /**
   * @param {Item} item
   * @param {number} place
   */
  #option(item, place) {
    return el("div", { class: "option", role: "option", id: `${this.list.id}-${place}`, dataset: { place } },
      el("div", { class: "name", text: item.value }), item.summary && el("div", { class: "summary", text: item.summary }));
  }

  #mark() {
    const options = [...this.list.querySelectorAll("[role=option]")];
    options.forEach((one, place) => one.setAttribute("aria-selected", String(place === this.at)));
    if (options[this.at]) {
      this.input.setAttribute("aria-activedescendant", options[this.at].id);
      options[this.at].scrollIntoView({ block: "nearest" });
    } else this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (by && !this.open) this.#show("");
    else if (by && this.found.length) {
      this.at = Math.min(Math.max(this.at + by, 0), this.found.length - 1);
      this.#mark();
    } else if (event.key === "Enter" && this.open) {
      if (this.found[this.at]) this.#take(this.found[this.at].value);
    } else if (event.key === "Escape" && this.open) this.#close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Event} event */
  #click(event) {
    const option = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[role=option]"));
    if (option) this.#take(this.found[Number(option.dataset.place)].value);
  }

  /** @param {string} value */
  #take(value) {
    this.value = value;
    this.#close();
    this.choose(value);
  }

  /** An exact name is taken also where the field is left without Enter. */
  #leave() {
    const exact = this.open && this.items().find((one) => one.value === this.input.value.trim());
    if (exact && exact.value !== this.value) this.#take(exact.value);
    else this.#close();
  }

  #close() {
    this.open = false;
    this.list.hidden = true;
    this.input.value = this.value;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
