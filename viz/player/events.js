/** The list of events: searched, filtered, and only as many rows in the page as are seen. */

import { el } from "./dom.js";
import { eventElement } from "./event_row.js";
import { ABOUT, FILTERS } from "./happenings.js";
import { counted } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./happenings.js").Happenings} Happenings */
/** @typedef {import("./view.js").View} View */

const ROW = 24;
const SPARE = 6;
// A list that is higher than this is cut by browsers.
const HIGHEST = 8_000_000;

export class Events {
  /**
   * @param {View} view
   * @param {Happenings[]} all of each run
   */
  constructor(view, all) {
    this.view = view;
    this.all = all;
    this.run = all.length - 1;
    /** @type {Uint32Array} */
    this.rows = new Uint32Array(0);
    /** The elements in the page, by their events. @type {Map<number, HTMLElement>} */
    this.made = new Map();
    this.active = -1;
    this.search = /** @type {HTMLInputElement} */ (
      el("input", {
        type: "search",
        class: "search",
        placeholder: "migrations, job 28, node 3 …",
        "aria-label": "Search events (/)",
        "aria-controls": "events",
        oninput: () => this.filter(this.search.value),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      })
    );
    /** Buttons stay: the focus stays on the one that was pressed. @type {[string, HTMLElement][]} */
    this.words = FILTERS.filter(([word]) => !word || all.some((one) => one.count(word))).map(([word, name]) => [
      word,
      chipOf(name, () => this.filter(word)),
    ]);
    this.policies = all.length > 1 ? all.map((_, run) => chipOf(view.names[run], () => this.choose(run))) : [];
    this.chips = el(
      "div",
      { class: "chips", role: "group", "aria-label": "Filters" },
      ...this.words.map(([, chip]) => chip),
    );
    this.counted = el("span", { class: "count", role: "status" });
    this.space = el("div", { class: "space" });
    this.list = el(
      "div",
      {
        class: "list",
        id: "events",
        role: "listbox",
        tabindex: "0",
        "aria-label": "Events",
        onscroll: () => this.#show(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      },
      this.space,
    );
    this.runs = el("div", { class: "runs", role: "group", "aria-label": "Run" }, ...this.policies);
    this.element = el(
      "section",
      { class: "panel events", "aria-label": "Events" },
      el("div", { class: "tools" }, this.search, this.counted, this.runs),
      this.chips,
      this.list,
    );
    /** @type {Palette | null} */
    this.palette = null;
    this.wanted = "";
    this.filter("");
  }

  /** @param {string} text */
  filter(text) {
    this.wanted = text;
    if (this.search.value !== text) this.search.value = text;
    this.rows = this.all[this.run].matching(text);
    this.active = -1;
    this.counted.textContent = `${this.rows.length.toLocaleString("en")} of ${counted(this.all[this.run].whole(text), "event")}`;
    this.space.style.height = `${Math.min(this.rows.length * ROW, HIGHEST)}px`;
    for (const [word, chip] of this.words) {
      chip.setAttribute("aria-pressed", String(text === word));
      chip.title = word ? counted(this.all[this.run].count(word), "event") : "All events";
    }
    this.policies.forEach((chip, run) => chip.setAttribute("aria-pressed", String(run === this.run)));
    for (const one of [this.list, this.search]) one.removeAttribute("aria-activedescendant");
    this.follow();
    this.view.tell("filter");
  }

  /** How many events a filter finds. @param {string} word */
  count(word) {
    return this.all[this.run].count(word);
  }

  /** Filter, and go to the first one that is found. @param {string} word */
  first(word) {
    this.filter(word);
    const { about } = this.all[this.run];
    this.#go(
      Math.max(
        this.rows.findIndex((row) => about[row] !== ABOUT.failure),
        0,
      ),
    );
  }

  /** @param {number} run */
  choose(run) {
    this.run = run;
    this.made.clear();
    this.filter(this.wanted);
  }

  /** @param {Palette} palette */
  draw(palette) {
    if (palette !== this.palette) this.made.clear();
    this.palette = palette;
    const { selection } = this.view;
    if (selection && selection.run !== this.run && selection.kind !== "node") this.choose(selection.run);
    this.#show();
  }

  /** Scroll to where the clock is. */
  follow() {
    const { time } = this.all[this.run];
    let [place, high] = [0, this.rows.length];
    while (place < high) {
      const middle = (place + high) >>> 1;
      if (time[this.rows[middle]] <= this.view.time) place = middle + 1;
      else high = middle;
    }
    // Of many at one moment the one that was chosen.
    if (this.active >= 0 && time[this.rows[this.active]] === this.view.time) place = this.active;
    const top = place * ROW - this.list.clientHeight / 2;
    if (Math.abs(this.list.scrollTop - top) > this.list.clientHeight / 3) this.list.scrollTop = Math.max(top, 0);
    this.#show();
  }

  /** Put as many rows into the page as are seen. */
  #show() {
    const { palette } = this;
    if (!palette) return;
    const height = this.list.clientHeight;
    const whole = this.rows.length * ROW;
    const shrunk = Math.min(whole, HIGHEST);
    const scrolled = this.list.scrollTop;
    const top = shrunk < whole ? (scrolled / Math.max(shrunk - height, 1)) * (whole - height) : scrolled;
    const first = Math.max(Math.floor(top / ROW) - SPARE, 0);
    const last = Math.min(first + Math.ceil(height / ROW) + 2 * SPARE, this.rows.length);
    const shown = new Map();
    for (let place = first; place < last; place++) {
      const element = this.#row(place, palette);
      element.style.transform = `translateY(${place * ROW - top + scrolled}px)`;
      shown.set(element, place);
    }
    // Rows that stay are not touched: a button that is pressed on one is released on the same one.
    for (const element of [...this.space.children]) if (!shown.has(element)) element.remove();
    let at = this.space.firstChild;
    for (const element of shown.keys()) {
      if (element === at) at = element.nextSibling;
      else this.space.insertBefore(element, at);
    }
    this.made = new Map([...shown].map(([element, place]) => [this.rows[place], element]));
  }

  /**
   * The element of a place: the one that is there already, if it is of the same event.
   * @param {number} place
   * @param {Palette} palette
   */
  #row(place, palette) {
    const all = this.all[this.run];
    const row = this.rows[place];
    const element = this.made.get(row) ?? eventElement(all, row, palette);
    element.id = `event-${place}`;
    element.ariaPosInSet = String(place + 1);
    element.ariaSetSize = String(this.rows.length);
    element.classList.toggle("future", all.time[row] > this.view.time);
    element.setAttribute("aria-selected", String(this.#isSelected(row) || place === this.active));
    element.onclick = () => this.#go(place);
    return element;
  }

  /** @param {number} row */
  #isSelected(row) {
    const { selection } = this.view;
    const all = this.all[this.run];
    if (!selection || selection.run !== this.run) return false;
    if (selection.kind === "decision") return all.about[row] === ABOUT.decision && all.id[row] === selection.id;
    return (
      selection.kind === "task" &&
      all.about[row] !== ABOUT.decision &&
      all.about[row] !== ABOUT.message &&
      all.taskOf(row) === selection.id
    );
  }

  /** @param {number} place */
  #go(place) {
    const all = this.all[this.run];
    const row = this.rows[place];
    if (row === undefined) return;
    this.active = place;
    const task = all.taskOf(row);
    const time = all.time[row];
    if (all.about[row] === ABOUT.decision) this.view.select({ run: this.run, kind: "decision", id: all.id[row] }, time);
    else if (task >= 0) this.view.select({ run: this.run, kind: "task", id: task }, time);
    else if (all.nodesOf(row)[0] >= 0) this.view.select({ run: this.run, kind: "node", id: all.nodesOf(row)[0] }, time);
    else this.view.seek(time);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (by) {
      if (this.active < 0) this.active = Math.floor(this.list.scrollTop / ROW) - Math.sign(by);
      this.active = Math.min(Math.max(this.active + by, 0), this.rows.length - 1);
      const top = this.active * ROW;
      if (top < this.list.scrollTop) this.list.scrollTop = top;
      if (top + ROW > this.list.scrollTop + this.list.clientHeight)
        this.list.scrollTop = top + ROW - this.list.clientHeight;
      this.#show();
      for (const one of [this.list, this.search]) one.setAttribute("aria-activedescendant", `event-${this.active}`);
    } else if (event.key === "Enter") {
      this.#go(Math.max(this.active, 0));
    } else if (event.key === "Escape") {
      this.filter("");
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * Select the next decision to move something after the clock, or the one before it.
   * @param {number} by 1 or -1
   */
  step(by) {
    const { selection, time } = this.view;
    const all = this.all[this.run];
    const moves = all.matching(this.wanted || "moves").filter((row) => all.about[row] < ABOUT.failure);
    const mine =
      selection?.kind === "decision"
        ? moves.findIndex((row) => all.about[row] === ABOUT.decision && all.id[row] === selection.id)
        : -1;
    let place = mine + by;
    if (mine < 0) {
      const after = moves.findIndex((row) => all.time[row] > time);
      place = by > 0 ? (after < 0 ? moves.length : after) : (after < 0 ? moves.length : after) - 1;
    }
    const row = moves[place];
    if (row === undefined) return;
    const shown = this.rows.indexOf(row);
    if (shown >= 0) this.#go(shown);
    else if (all.about[row] === ABOUT.decision)
      this.view.select({ run: this.run, kind: "decision", id: all.id[row] }, all.time[row]);
  }
}

/** @param {string} text @param {() => void} press */
const chipOf = (text, press) => el("button", { type: "button", class: "chip", text, onclick: press });
