/** All panels over one clock: what is drawn when, keys, theme, address. */

import { Acts } from "./acts.js";
import { addressOf, readAddress, writeAddress } from "./address.js";
import { Asking } from "./asking.js";
import { Bar } from "./bar.js";
import { paletteOf, secondOf } from "./colours.js";
import { el, fill, iconButton, openDialog } from "./dom.js";
import { Events } from "./events.js";
import { firstDifference } from "./facts.js";
import { Happenings } from "./happenings.js";
import { helpPage, pressed } from "./keys.js";
import { Lanes, scaleOf } from "./lanes.js";
import { layOut } from "./layout.js";
import { legendOf } from "./legend.js";
import { Lines } from "./lines.js";
import { Mirror } from "./mirror.js";
import { momentsOf } from "./moments.js";
import { Overview } from "./overview.js";
import { MOVE } from "./recording.js";
import { firstAbove, firstFrom } from "./search.js";
import { selectionWords } from "./said.js";
import { Stage } from "./stage.js";
import { NodeState } from "./state.js";
import { Tally, countUp } from "./tally.js";
import { Timeline } from "./timeline.js";
import { Totals } from "./totals.js";
import { View } from "./view.js";
import { Walk } from "./walk.js";
import { Why } from "./why.js";
import { moment } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./view.js").Change} Change */

const ADDRESS_MS = 400;
const WORDS_MS = 90;

export class Screen {
  /**
   * @param {HTMLElement} element
   * @param {Recording[]} recordings one, or two on one clock
   * @param {Omit<import("./player.js").Options, "recordings">} options
   */
  constructor(element, recordings, options) {
    this.element = element;
    this.options = options;
    this.recordings = recordings;
    const view = (this.view = new View(recordings));
    const wheel = Boolean(options.page);
    const lanes = recordings.map((one) => new Lanes(one));
    this.most = scaleOf(lanes);
    this.totals = recordings.map((one) => new Totals(one));
    this.parting = recordings.length > 1 ? firstDifference(recordings[0], recordings[1]) : null;
    this.stages = recordings.map((one, run) => new Stage(view, run, new NodeState(one), this.most));
    this.timelines = lanes.map((one, run) => new Timeline(view, run, one, this.most, wheel));
    this.lines = new Lines(view, this.totals, wheel);
    this.overview = new Overview(view, this.parting?.time ?? null);
    this.events = new Events(
      view,
      recordings.map((one) => new Happenings(one)),
    );
    this.acts = recordings.map((_, run) => new Acts(view, run, options.acting ?? null));
    this.tally = new Tally(this.totals, view.names, view.end);
    this.why = new Why(view, this.events, this.tally, options.acting ?? null);
    this.asking = new Asking(view, this.timelines, options.onDetail ?? null);
    this.walk = new Walk(view, this.stages, this.timelines);
    this.mirror = new Mirror(view, this);
    this.bar = new Bar(view, { step: (by) => this.#step(by), slice: (by) => this.#slice(by) });
    this.numbers = recordings.map(() => el("span", { class: "numbers", role: "group", "aria-label": "Totals" }));
    this.legend = el("div");
    this.said = el("p", { class: "quiet", "aria-live": "polite", role: "status" });
    const { onDetail, scene, acting } = options;
    this.help = helpPage({ detail: Boolean(onDetail), scene: Boolean(scene), settings: Boolean(acting) });
    this.theme = iconButton("moon", "Dark or light", () => this.paint(!this.palette.dark), "d");
    this.moments = momentsOf(recordings);
    /** What has to be drawn in the next frame. @type {Set<Change>} */
    this.changes = new Set();
    this.frame = 0;
    this.before = 0;
    this.frames = 0;
    this.written = 0;
    this.worded = 0;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    this.palette = paletteOf(recordings[0], false);
    fill(element, ...layOut(this));
    view.tell("rows");
    this.onkey = (/** @type {Event} */ event) => {
      // An open dialog has its own keys; it closes by the one that opened it.
      const { key } = /** @type {KeyboardEvent} */ (event);
      if ((this.help.open && key !== "?") || (this.mirror.dialog.open && key !== "w")) return;
      pressed(this.actions, /** @type {KeyboardEvent} */ (event));
    };
    this.onhash = () => this.go(location.hash);
    this.onscheme = () => this.paint(scheme.matches);
    this.keys = options.page ? document : element;
    this.keys.addEventListener("keydown", this.onkey);
    if (options.page) addEventListener("hashchange", this.onhash);
    this.scheme = scheme;
    scheme.addEventListener("change", this.onscheme);
    this.resized = new ResizeObserver(() => this.#later("rows"));
    this.resized.observe(element);
    view.on((change) => this.#later(change));
    this.paint(options.theme ? options.theme === "dark" : scheme.matches);
    const { from_ns: from, to_ns: to } = recordings[0].header.kept ?? {};
    if (Number.isFinite(from) && Number.isFinite(to) && to > from) {
      view.window(from / 1e6, to / 1e6);
      view.seek(from / 1e6);
    }
    if (options.hash) readAddress(view, options.hash);
    options.scene?.attach(view, options.hash ?? "");
  }

  /** What was searched for, and the quantity of the lines, stay as they were. @param {Screen} before */
  goOn({ events, lines }) {
    this.events.filter(events.wanted);
    if (lines.isChosen) this.lines.choose(lines.quantity);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.mirror.waits);
    clearTimeout(this.writing);
    this.view.playing = false;
    this.view.listeners.clear();
    this.resized.disconnect();
    this.scheme.removeEventListener("change", this.onscheme);
    this.keys.removeEventListener("keydown", this.onkey);
    removeEventListener("hashchange", this.onhash);
  }

  get address() {
    return addressOf(this.view);
  }

  /** @param {string} hash */
  go(hash) {
    if (hash === this.address) return;
    readAddress(this.view, hash);
    this.options.scene?.read(hash);
  }

  /** @type {Record<string, () => unknown>} */
  get actions() {
    const { view } = this;
    /** @param {number} share */
    const pan = (share) => () =>
      view.window(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
    return {
      " ": () => view.play(!view.playing),
      ArrowLeft: () => this.#step(-1),
      ArrowRight: () => this.#step(1),
      "shift+ArrowLeft": pan(-0.2),
      "shift+ArrowRight": pan(0.2),
      ",": () => this.#slice(-1),
      ".": () => this.#slice(1),
      n: () => this.events.step(1),
      p: () => this.events.step(-1),
      "+": () => view.zoom(1 / 1.6),
      "=": () => view.zoom(1 / 1.6),
      "-": () => view.zoom(1.6),
      0: () => view.window(0, view.end),
      "[": () => view.setSpeed(view.speed / 1.5),
      "]": () => view.setSpeed(view.speed * 1.5),
      Home: () => view.seek(0),
      End: () => view.seek(view.end),
      "/": () => this.events.search.focus(),
      f: () => this.full(),
      d: () => this.paint(!this.palette.dark),
      c: () => this.asking.press(),
      m: () => this.walk.nextMove() || this.#tell("No move is on the stage now."),
      z: () => this.walk.zoom(),
      w: () => this.mirror.toggle(),
      "?": () => (this.help.open ? this.help.close() : openDialog(this.help)),
      Escape: () => view.select(null),
      ...this.options.scene?.actions,
    };
  }

  /** The same runs, with what tasks do in a detailed window. @param {Recording[]} others */
  detailed(others) {
    this.recordings.forEach((one, run) => {
      one.take(others[run]);
      this.stages[run].begin(new NodeState(one));
      this.timelines[run].strips.forget();
    });
    this.asking.end("");
    fill(this.legend, legendOf(this.recordings, this.palette, this.most));
    this.#later("rows");
  }

  full() {
    if (document.fullscreenElement) document.exitFullscreen();
    // The host: what fits is chosen by its width.
    else (this.#host ?? this.element).requestFullscreen?.().catch(() => {});
  }

  get #host() {
    const root = this.element.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  }

  /** What a film shows: no buttons, no panels beside. @param {boolean} on */
  film(on) {
    this.element.classList.toggle("film", on);
    this.#later("rows");
  }

  /** @param {boolean} dark */
  paint(dark) {
    this.palette = paletteOf(this.recordings[0], dark);
    this.view.dark = dark;
    const { style } = this.element;
    for (const [name, value] of Object.entries(this.palette))
      if (typeof value === "string") style.setProperty(`--${name}`, value);
    style.setProperty("--start", this.palette.moves[MOVE.start]);
    style.setProperty("--migration", this.palette.moves[MOVE.migration]);
    style.setProperty("--scheme", dark ? "dark" : "light");
    this.colours = this.recordings.map((one) => paletteOf(one, dark).policy);
    if (this.colours.length > 1 && this.colours[0] === this.colours[1])
      this.colours[1] = secondOf(this.colours[0], this.palette);
    this.colours.forEach((colour, run) => style.setProperty(`--run${run}`, colour));
    this.#later("theme");
  }

  /** @param {Change} change */
  #later(change) {
    this.changes.add(change);
    if (change === "playing") this.before = performance.now();
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.#draw(now));
  }

  /** @param {number} now */
  #draw(now) {
    this.frame = 0;
    const { view, changes } = this;
    if (view.playing) {
      view.advance(Math.min(Math.max(now - this.before, 0), 250));
      this.before = now;
    }
    const whole = changes.has("theme") || changes.has("rows");
    const { palette } = this;
    // Text is laid out anew: while the clock runs, as often as one can read it.
    const words = !view.playing || whole || now - this.worded > WORDS_MS;
    if (words) this.worded = now;
    if (changes.has("selection")) for (const one of this.timelines) one.reveal();
    if (whole || changes.has("time") || changes.has("selection") || changes.has("speed")) {
      for (const stage of this.stages) stage.draw(palette, whole);
    }
    if (whole || changes.has("window") || changes.has("selection")) {
      for (const one of this.timelines) one.draw(palette);
      this.acts.forEach((one, run) => one.place(this.timelines[run].plot));
      this.lines.draw(palette, this.colours ?? []);
      this.asking.refresh();
    } else if (changes.has("time")) {
      for (const one of this.timelines) one.moveCursor();
      this.lines.tick(words);
    }
    if (whole) this.overview.draw(palette);
    else this.overview.tick(words);
    if (words) {
      this.bar.tick();
      this.totals.forEach((totals, run) => countUp(this.numbers[run], totals, view.time));
      this.tally.tick(view.time);
    }
    if (whole || changes.has("playing") || changes.has("speed")) this.bar.refresh();
    if (changes.has("theme")) fill(this.legend, legendOf(this.recordings, palette, this.most));
    if (changes.has("selection") || changes.has("theme")) {
      this.why.draw(palette);
      this.tally.tick(view.time);
      this.#tell(selectionWords(view, this.mirror));
    }
    if (whole || changes.has("selection") || changes.has("filter")) this.events.draw(palette);
    if (!view.playing && changes.has("time")) this.events.follow();
    if (!view.playing) this.mirror.later();
    changes.clear();
    this.frames++;
    if (this.options.page && !view.playing && now - this.written > ADDRESS_MS) this.#write(now);
    else if (this.options.page && !this.writing)
      this.writing = setTimeout(() => this.#write(performance.now()), ADDRESS_MS);
    if (view.playing) this.#later("time");
  }

  /** @param {number} now */
  #write(now) {
    clearTimeout(this.writing);
    this.writing = undefined;
    this.written = now;
    writeAddress(this.address);
  }

  /** @param {string} words */
  #tell(words) {
    this.said.textContent = words;
  }

  /** @param {number} by */
  #slice(by) {
    const { slice } = this.recordings[0];
    this.view.play(false);
    this.view.seek((Math.floor(this.view.time / slice + 1e-6) + by) * slice);
  }

  /** To the next event, or the one before. @param {number} by */
  #step(by) {
    const { view, moments } = this;
    view.play(false);
    const place = by > 0 ? firstAbove(moments, view.time + 1e-6) : firstFrom(moments, view.time - 1e-6) - 1;
    if (moments[place] === undefined) return;
    view.seek(moments[place]);
    const span = view.to - view.from;
    if (view.time < view.from || view.time > view.to) view.window(view.time - span / 2, view.time + span / 2);
    if (!view.selection) this.said.textContent = moment(view.time);
  }
}
