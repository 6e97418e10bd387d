/** The acts of a run's script: pins at the top of its timeline, and a card with what came of one. */

import { GUTTER } from "./axis.js";
import { el, fill } from "./dom.js";
import { actWords, actsOf } from "./script.js";
import { moment } from "./words.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("./script.js").Act} Act */
/** @typedef {import("./script.js").Outcome} Outcome */
/**
 * Who can change the script: `change` takes the whole of another one; `element` has the buttons for what is selected.
 * @typedef {{acts: () => Act[], change: (acts: Act[]) => void, element: (view: View) => HTMLElement}} Acting
 */

// Presses of a key that come within this time of each other are one change [ms].
const KEYS_MS = 250;
const SIGNS = { fail: "✕", drain: "↓", recover: "↺", slow: "½", kill: "†", send: "→", arrivals: "»" };

export class Acts {
  /**
   * @param {View} view
   * @param {number} run
   * @param {Acting | null} acting
   */
  constructor(view, run, acting) {
    this.view = view;
    this.recording = view.recordings[run];
    this.acting = acting;
    this.acts = actsOf(this.recording);
    this.plot = 0;
    /** Where each act stands in the script as it is now; -1: it was removed. */
    this.entries = this.acts.map((act) => act.entry);
    /** An act that keys move, before the script is sent. @type {{act: Outcome, at_s: number} | null} */
    this.shifted = null;
    this.waits = 0;
    /** Whether the last press of the pointer has moved a pin: its click is none. */
    this.dragged = false;
    this.card = el("div", {
      class: "act-card",
      role: "dialog",
      "aria-label": "An act",
      hidden: true,
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && this.#close(event),
    });
    this.pins = this.acts.map((act) => this.#pin(act, run));
    this.element = el(
      "div",
      { class: "acts", role: "group", "aria-label": "Acts of the script", hidden: !this.acts.length },
      ...this.pins,
      this.card,
    );
    /** The act whose card is open. @type {Outcome | null} */
    this.open = null;
  }

  /** Put the pins where their times are. @param {number} plot width of the timeline [px] */
  place(plot) {
    const { view } = this;
    this.plot = plot;
    this.acts.forEach((act, place) => {
      const x = ((this.#at(act) * 1000 - view.from) / (view.to - view.from)) * plot;
      this.pins[place].hidden = x < -8 || x > plot;
      this.pins[place].style.transform = `translateX(${GUTTER + x}px)`;
    });
  }

  /**
   * The act in the script as it is now: it may have been moved, and its run is still computed.
   * @param {Outcome} act
   */
  #now(act) {
    const one = this.acting?.acts()[this.#entry(act)];
    const known = /** @type {Record<string, unknown>} */ (act);
    return one && Object.entries(one).every(([name, value]) => name === "at_s" || known[name] === value) ? one : null;
  }

  /** @param {Outcome} act */
  #entry(act) {
    return this.entries[this.acts.indexOf(act)];
  }

  /** @param {Outcome} act */
  #at(act) {
    if (this.shifted?.act === act) return this.shifted.at_s;
    return this.#now(act)?.at_s ?? act.at_s;
  }

  /** @param {Outcome} act @param {number} run */
  #pin(act, run) {
    const words = this.#words(act);
    const pin = el("button", {
      type: "button",
      class: act.done ? "pin" : "pin undone",
      title: words,
      "aria-label": `Act at ${moment(act.at_s * 1000)}: ${words}`,
      text: /** @type {Record<string, string>} */ (SIGNS)[act.act] ?? "?",
      dataset: { run, entry: act.entry },
      onclick: (/** @type {MouseEvent} */ event) => (event.detail && this.dragged) || this.#show(act, pin),
      onpointerdown: (/** @type {PointerEvent} */ event) => this.acting && this.#drag(event, act, pin),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event, act),
    });
    return pin;
  }

  /** @param {Act} act */
  #words(act) {
    return actWords(act, (node) => this.recording.nodeName(node));
  }

  /** @param {Outcome} act @param {HTMLElement} pin */
  #show(act, pin) {
    const { view } = this;
    this.open = act;
    view.seek(act.at_s * 1000);
    fill(
      this.card,
      el("b", { text: `${moment(act.at_s * 1000)}: ${this.#words(act)}` }),
      el("p", { text: act.done ? "Done." : `Not done: ${act.why_not}.` }),
      this.acting &&
        el(
          "div",
          { class: "first" },
          el("button", { type: "button", class: "plain", text: "Remove", onclick: () => this.#remove(act) }),
          el("button", {
            type: "button",
            class: "plain",
            text: "Earlier by 1 s",
            onclick: () => this.#move(act, this.#at(act) - 1),
          }),
          el("button", {
            type: "button",
            class: "plain",
            text: "Later by 1 s",
            onclick: () => this.#move(act, this.#at(act) + 1),
          }),
        ),
      el("button", { type: "button", class: "link", text: "Close", onclick: () => this.#close() }),
    );
    this.card.hidden = false;
    const x = new DOMMatrix(getComputedStyle(pin).transform).e;
    const most = this.element.clientWidth - this.card.offsetWidth - 4;
    this.card.style.transform = `translateX(${Math.max(Math.min(x, most), 4)}px)`;
    /** @type {HTMLElement | null} */ (this.card.querySelector("button"))?.focus();
  }

  /** @param {Event} [event] */
  #close(event) {
    event?.stopPropagation();
    this.card.hidden = true;
    const at = this.open ? this.acts.indexOf(this.open) : -1;
    this.open = null;
    if (at >= 0) this.pins[at].focus();
  }

  /** @param {Outcome} act */
  #remove(act) {
    this.#settle();
    this.#change(act, () => []);
  }

  /** @param {Outcome} act @param {number} at_s */
  #move(act, at_s) {
    const time = +Math.max(at_s, 0).toFixed(3);
    this.#change(act, (one) => (time === one.at_s ? null : [{ ...one, at_s: time }]));
  }

  /**
   * Another script, unless the act is not in it any more.
   * @param {Outcome} act
   * @param {(one: Act) => Act[] | null} into what becomes of it; null: nothing changes
   */
  #change(act, into) {
    if (this.open) this.#close();
    const one = this.#now(act);
    const others = one && into(one);
    const place = this.#entry(act);
    if (others) {
      this.acting?.change(this.acting.acts().flatMap((each, entry) => (entry === place ? others : [each])));
      if (!others.length)
        this.entries = this.entries.map((entry) => (entry === place ? -1 : entry > place ? entry - 1 : entry));
    }
    this.place(this.plot);
  }

  /** Move an act by keys: many presses are one change. @param {Outcome} act @param {number} by [s] */
  #shift(act, by) {
    if (this.shifted?.act !== act) this.#settle();
    this.shifted = { act, at_s: Math.max(this.#at(act) + by, 0) };
    this.place(this.plot);
    clearTimeout(this.waits);
    this.waits = setTimeout(() => this.#settle(), KEYS_MS);
  }

  #settle() {
    clearTimeout(this.waits);
    const moved = this.shifted;
    this.shifted = null;
    if (moved) this.#move(moved.act, moved.at_s);
  }

  /** @param {KeyboardEvent} event @param {Outcome} act */
  #key(event, act) {
    if (!this.acting || event.altKey || event.ctrlKey || event.metaKey) return;
    const slice = this.recording.slice / 1000;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) this.#shift(act, by * (event.shiftKey ? 1 : slice));
    else if (event.key === "Delete" || event.key === "Backspace") this.#remove(act);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {PointerEvent} event @param {Outcome} act @param {HTMLElement} pin */
  #drag(event, act, pin) {
    event.stopPropagation();
    this.dragged = false;
    if (event.button) return;
    const { view, plot } = this;
    const begun = event.clientX;
    let moved = 0;
    pin.setPointerCapture(event.pointerId);
    const x0 = new DOMMatrix(getComputedStyle(pin).transform).e;
    pin.onpointermove = (now) => {
      moved = now.clientX - begun;
      if (Math.abs(moved) > 3) pin.style.transform = `translateX(${x0 + moved}px)`;
    };
    pin.onpointerup = pin.onpointercancel = (end) => {
      pin.onpointermove = pin.onpointerup = pin.onpointercancel = null;
      this.dragged = Math.abs(moved) > 3;
      if (!this.dragged || end.type === "pointercancel") return this.place(plot);
      const slice = this.recording.slice / 1000;
      const at = this.#at(act) + ((moved / plot) * (view.to - view.from)) / 1000;
      this.#move(act, Math.round(at / slice) * slice);
    };
  }
}
