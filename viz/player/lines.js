/** Lines below the timelines, on the same axis of time; the pointer reads values. */

import { GUTTER } from "./axis.js";
import { el, fitted } from "./dom.js";
import { Gestures } from "./gestures.js";
import { FONT } from "./machines.js";
import { firstAbove } from "./search.js";
import { QUANTITIES, quantitiesOf, seriesOf } from "./series.js";
import { cornersOf, drawSign, signOf } from "./shapes.js";
import { moment, plain } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./series.js").Series} Series */
/** @typedef {import("./totals.js").Totals} Totals */
/** @typedef {import("./view.js").View} View */

const TOP = 6;
const BOTTOM = 4;
/** Between two signs of a policy on its line. */
const SIGNS = 130;

export class Lines {
  /**
   * @param {View} view
   * @param {Totals[]} totals
   * @param {boolean} wheel
   */
  constructor(view, totals, wheel) {
    this.view = view;
    this.totals = totals;
    this.width = 1;
    this.quantity = view.recordings.length > 1 ? 1 : 0;
    this.isChosen = false;
    /** @type {Map<number, Series[]>} */
    this.known = new Map();
    this.canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { class: "layer", "aria-hidden": "true" }));
    this.cursor = el("div", { class: "cursor" });
    this.hair = el("div", { class: "cursor hair", hidden: true });
    const { recordings } = view;
    this.readings = recordings.map(() => el("span"));
    this.at = el("span");
    this.values = el(
      "output",
      { class: "values" },
      ...recordings.flatMap((one, run) => [recordings.length > 1 && signOf(one, run), this.readings[run]]),
      this.at,
    );
    this.select = /** @type {HTMLSelectElement} */ (
      el(
        "select",
        {
          class: "quantity",
          "aria-label": "Quantity of the lines",
          onchange: () => this.choose(Number(this.select.value)),
        },
        ...quantitiesOf(view.recordings).map((place) => el("option", { value: place, text: QUANTITIES[place][0] })),
      )
    );
    this.select.value = String(this.quantity);
    this.plot = el(
      "div",
      {
        class: "lineplot",
        onpointermove: (/** @type {PointerEvent} */ event) => this.#hover(event),
        onpointerleave: () => {
          this.hair.hidden = true;
          this.#read(this.view.time);
        },
      },
      this.canvas,
      this.cursor,
      this.hair,
    );
    this.element = el(
      "section",
      { class: "lines", "aria-label": "Lines over time" },
      this.plot,
      el("div", { class: "over" }, this.select, this.values),
    );
    new Gestures(this.plot, view, { left: GUTTER, wheel, click: (x) => view.seek(this.#time(x)) });
  }

  /** @param {number} quantity a place in QUANTITIES */
  choose(quantity) {
    if (!quantitiesOf(this.view.recordings).includes(quantity)) return;
    this.quantity = quantity;
    this.isChosen = true;
    this.select.value = String(quantity);
    this.view.tell("rows");
  }

  #series() {
    let found = this.known.get(this.quantity);
    if (!found) {
      found = this.view.recordings.map((one, run) => seriesOf(one, this.totals[run], this.quantity));
      this.known.set(this.quantity, found);
    }
    return found;
  }

  /** @param {number} x */
  #time(x) {
    const { from, to } = this.view;
    return from + ((x - GUTTER) / (this.canvas.clientWidth - GUTTER)) * (to - from);
  }

  /** @param {PointerEvent} event */
  #hover(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    this.hair.hidden = x < GUTTER;
    this.hair.style.transform = `translateX(${x}px)`;
    if (x >= GUTTER) this.#read(this.#time(x));
  }

  /** @param {number} time */
  #read(time) {
    const [, unit] = QUANTITIES[this.quantity];
    const values = this.#series().map((series) => valueAt(series, time));
    const words = values.map(
      (value, run) =>
        `${this.view.recordings.length > 1 ? `${this.view.names[run]} ` : ""}${Number.isFinite(value) ? plain(value) : "-"}${unit ? ` ${unit}` : ""}`,
    );
    words.forEach((text, run) => (this.readings[run].textContent = `${text}   `));
    this.at.textContent = `at ${moment(time)}`;
  }

  /** The cursor, and values where it is. @param {boolean} words */
  tick(words) {
    const { view } = this;
    const plot = this.width;
    const x = ((view.time - view.from) / (view.to - view.from)) * plot;
    this.cursor.hidden = x < 0 || x > plot;
    this.cursor.style.transform = `translateX(${GUTTER + x}px)`;
    if (words && this.hair.hidden) this.#read(view.time);
  }

  /** @param {Palette} palette @param {string[]} colours of the runs */
  draw(palette, colours) {
    const { width, height, context } = fitted(this.canvas);
    const plot = width - GUTTER;
    if (plot < 20 || height < 20) return;
    this.width = plot;
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, width, height);
    const { from, to } = this.view;
    const all = this.#series();
    let most = 0;
    for (const series of all) most = Math.max(most, highest(series, from, to));
    most = rounded(most || 1);
    const room = height - TOP - BOTTOM;
    context.font = `10px ${FONT}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const share of height > 60 ? [0, 0.5, 1] : [0, 1]) {
      const y = TOP + room * (1 - share);
      context.fillStyle = palette.line;
      context.fillRect(GUTTER, Math.round(y), plot, 1);
      context.fillStyle = palette.faint;
      context.fillText(plain(most * share), GUTTER - 6, Math.min(Math.max(y, 7), height - 6));
    }
    all.forEach((series, run) => {
      context.strokeStyle = colours[run];
      context.lineWidth = 1.8;
      context.lineJoin = "round";
      context.setLineDash(run ? [6, 3] : []);
      line(
        context,
        series,
        (time) => GUTTER + ((time - from) / (to - from)) * plot,
        (value) => TOP + room * (1 - value / most),
        from,
        to,
        plot,
      );
    });
    context.setLineDash([]);
    if (all.length > 1) this.#signs(context, palette, colours, (value) => TOP + room * (1 - value / most));
    this.tick(true);
  }

  /**
   * Markers of the policies on their lines.
   * @param {CanvasRenderingContext2D} context
   * @param {Palette} palette
   * @param {string[]} colours of the runs
   * @param {(value: number) => number} y
   */
  #signs(context, palette, colours, y) {
    const { from, to } = this.view;
    this.#series().forEach((series, run) => {
      const corners = cornersOf(this.view.recordings[run].header.colours?.marker);
      context.fillStyle = colours[run];
      context.strokeStyle = palette.paper;
      context.lineWidth = 1.5;
      const last = series.time[series.time.length - 1];
      for (let x = SIGNS * (0.35 + run / 2); x < this.width; x += SIGNS) {
        const time = from + (x / this.width) * (to - from);
        const value = valueAt(series, time);
        if (Number.isFinite(value) && time <= last) drawSign(context, corners, GUTTER + x, y(value), 5);
      }
    });
  }
}

/** @param {Series} series @param {number} at_ */
export function valueAt({ time, value, steps }, at_) {
  const at = firstAbove(time, at_);
  // Before the first of its points a count is 0, a mean is unknown.
  if (!at) return steps && value[0] === 1 ? 0 : NaN;
  return !steps && at < time.length ? value[at] : value[at - 1];
}

/** @param {Series} series @param {number} from @param {number} to */
function highest({ time, value }, from, to) {
  let most = 0;
  const first = Math.max(firstAbove(time, from) - 1, 0);
  for (let at = first; at < time.length && (time[at] <= to || at === first); at++)
    if (value[at] > most) most = value[at];
  return most;
}

/**
 * A line with at most two points for each pixel.
 * @param {CanvasRenderingContext2D} context
 * @param {Series} series
 * @param {(time: number) => number} x
 * @param {(value: number) => number} y
 * @param {number} from
 * @param {number} to
 * @param {number} plot
 */
function line(context, { time, value, steps }, x, y, from, to, plot) {
  const first = Math.max(firstAbove(time, from) - 1, 0);
  context.save();
  context.beginPath();
  context.rect(GUTTER, 0, plot, 10_000);
  context.clip();
  context.beginPath();
  let [column, low, high, last] = [-Infinity, 0, 0, NaN];
  for (let at = first; at < time.length; at++) {
    if (!Number.isFinite(value[at])) continue;
    const [px, py] = [x(time[at]), y(value[at])];
    if (Math.floor(px) === column) {
      [low, high] = [Math.min(low, py), Math.max(high, py)];
    } else {
      if (Number.isFinite(column) && low !== high) {
        context.lineTo(column + 0.5, low);
        context.lineTo(column + 0.5, high);
        context.lineTo(column + 0.5, last);
      }
      if (steps && Number.isFinite(last)) context.lineTo(px, last);
      context.lineTo(px, py);
      [column, low, high] = [Math.floor(px), py, py];
    }
    last = py;
    if (time[at] > to) break;
  }
  if (steps && Number.isFinite(last)) context.lineTo(x(Math.min(to, time[time.length - 1])), last);
  context.stroke();
  context.restore();
}

/** A round number that is not below. @param {number} most */
function rounded(most) {
  const size = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((one) => one * size).find((one) => one >= most * 0.999) ?? most;
}
