/** What is computed and how far it is, what went wrong, and what was stopped: words over the player. */

import { el, fill } from "../player/dom.js";

/** @typedef {{policy: string, phase: string, what: string, share: number, now_ms: number, for_s: number, silent_s: number}} Run */
/** @typedef {{runs?: Run[], error?: string, note?: string}} Status */

// A run that is soon there needs no words [ms].
const SOON = 250;
// A policy that has said nothing for this time has not returned [s].
const SILENT = 3;

export class Progress {
  /** @param {() => void} stop */
  constructor(stop) {
    this.stop = stop;
    /** @type {Status} */
    this.status = {};
    this.told = 0;
    this.begun = 0;
    this.hasPicture = false;
    this.gone = "";
    this.runs = el("div", { class: "runs", role: "status", "aria-live": "polite" });
    this.words = el("div", { class: "problem", role: "alert" });
    this.element = el("div", { class: "progress" }, this.runs, this.words);
    this.timer = setInterval(() => this.draw(), 200);
  }

  close() {
    clearInterval(this.timer);
  }

  /**
   * @param {Status} status
   * @param {boolean} hasPicture whether the player shows a run
   */
  show(status, hasPicture) {
    if (!(status.runs ?? []).length) this.begun = 0;
    else if (!this.begun) this.begun = performance.now();
    this.status = status;
    this.hasPicture = hasPicture;
    this.told = performance.now();
    this.draw();
  }

  draw() {
    const passed = (performance.now() - this.told) / 1000;
    const runs = this.status.runs ?? [];
    const isSoon = this.hasPicture && performance.now() - this.begun < SOON;
    this.element.classList.toggle("first", !this.hasPicture);
    this.runs.hidden = !runs.length || isSoon;
    if (!this.runs.hidden) {
      const kept = this.runs.querySelector("button");
      const lines = runs.map((run) => lineOf(run, passed));
      if (this.runs.querySelectorAll(".line").length !== lines.length || !kept) {
        fill(this.runs, ...lines.map(() => el("div", { class: "line" }, el("span"), el("i", {}, el("b")))),
          el("button", { type: "button", text: "Stop", onclick: this.stop }));
      }
      this.runs.querySelectorAll(".line").forEach((line, place) => {
        /** @type {HTMLElement} */ (line.querySelector("span")).textContent = lines[place].words;
        /** @type {HTMLElement} */ (line.querySelector("b")).style.width = `${100 * lines[place].share}%`;
      });
    } else if (this.runs.childElementCount) fill(this.runs);
    const words = this.status.error || this.status.note || "";
    if (words !== this.gone) this.gone = "";
    this.words.hidden = !words || words === this.gone;
    this.words.classList.toggle("error", Boolean(this.status.error));
    if (!this.words.hidden && this.words.dataset.words !== words) {
      this.words.dataset.words = words;
      const close = el("button", { type: "button", "aria-label": "Close", text: "×", onclick: () => { this.gone = words; this.draw(); } });
      fill(this.words, el("span", { text: words }), close);
    } else if (this.words.hidden) delete this.words.dataset.words;
  }
}

/**
 * @param {Run} run
 * @param {number} passed since it was told [s]
 */
function lineOf(run, passed) {
  const seconds = Math.floor(run.for_s + passed);
  const silent = Math.floor(run.silent_s + passed);
  const since = seconds >= 1 ? `, for ${seconds} s` : "";
  const doing = {
    waiting: `waiting for a free process${since}`,
    preparing: `getting ready${since}`,
    compiling: `compiling ${run.what}${since}; once, up to a minute`,
    packing: `packing what happened${since}`,
    running: `running, ${Math.floor(100 * run.share)} %, ${Math.round(run.now_ms / 1000).toLocaleString("en")} s simulated`,
  }[run.phase] ?? run.phase;
  const late = run.phase === "running" && silent >= SILENT ? `, and the policy has not returned for ${silent} s` : "";
  return { words: `${run.policy}: ${doing}${late}`, share: run.phase === "running" ? run.share : Number(run.phase === "packing") };
}
