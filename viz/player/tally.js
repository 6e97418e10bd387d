/** Totals up to the clock: as a table with a column a policy, and in a line. */

import { el, fill } from "./dom.js";
import { moment, plain } from "./words.js";

/** @typedef {import("./totals.js").Totals} Totals */
/** @typedef {ReturnType<Totals["at"]>} Counts */

/** What is counted: words, and the value. @type {[string, (counts: Counts) => number][]} */
const ROWS = [
  ["In the system", (counts) => counts.inside],
  ["Mean slowdown (less is better)", (counts) => counts.slowdown],
  ["Remote starts", (counts) => counts.starts],
  ["Migrations", (counts) => counts.migrations],
  ["Refused", (counts) => counts.refused],
  ["Finished (more is better)", (counts) => counts.finished],
];
/** Where nodes fail, or tasks are killed. @type {[string, (counts: Counts) => number][]} */
const FAILED = [
  ["Killed or lost (less is better)", (counts) => counts.failed],
  ["Nodes down", (counts) => counts.down],
];

export class Tally {
  /**
   * @param {Totals[]} totals
   * @param {string[]} policies
   * @param {number} end [ms]
   */
  constructor(totals, policies, end) {
    this.totals = totals;
    const last = totals.map((one) => one.at(end));
    const fails = totals.some((one, run) => one.downs.length > 0 || last[run].failed > 0);
    this.rows = [...ROWS, ...(fails ? FAILED : [])];
    this.until = el("span");
    this.cells = this.rows.map(() => totals.map(() => el("td")));
    this.element = el(
      "section",
      { class: "tally", "aria-label": "Totals" },
      el("h3", {}, "Totals up to ", this.until),
      el(
        "table",
        { class: "loads" },
        el("thead", {}, el("tr", {}, el("td"), ...policies.map((name) => el("th", { scope: "col", text: name })))),
        el(
          "tbody",
          {},
          ...this.rows.map(([words], row) => el("tr", {}, el("th", { scope: "row", text: words }), ...this.cells[row])),
        ),
      ),
    );
  }

  /** @param {number} time [ms] */
  tick(time) {
    if (!this.element.isConnected) return;
    this.until.textContent = moment(time);
    this.totals.forEach((one, run) => {
      const counts = one.at(time);
      this.rows.forEach(([, value], row) => {
        const found = value(counts);
        const words = Number.isFinite(found) ? plain(found) : "-";
        const cell = this.cells[row][run];
        if (cell.textContent !== words) cell.textContent = words;
      });
    });
  }
}

/**
 * The same in a line, above the stage.
 * @param {HTMLElement} place
 * @param {Totals} totals
 * @param {number} time [ms]
 */
export function countUp(place, totals, time) {
  const now = totals.at(time);
  const key = `${now.inside} ${now.finished} ${now.starts} ${now.migrations} ${now.refused} ${now.failed} ${now.down}`;
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  const parts = [
    ["in the system", now.inside],
    ["mean slowdown", now.slowdown],
    ["remote starts", now.starts],
    ["migrations", now.migrations],
    ["refused", now.refused],
    ...(now.failed ? [["killed or lost", now.failed]] : []),
    ...(totals.downs.length ? [["nodes down", now.down]] : []),
    ["finished", now.finished],
  ];
  fill(
    place,
    ...parts.map(([words, value]) =>
      el("span", {}, `${words} `, el("em", { text: Number.isFinite(value) ? plain(Number(value)) : "-" })),
    ),
  );
}
