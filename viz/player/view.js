/** What is seen: time, window of the timeline, selection, speed. Whoever changes it says so; panels draw from it. */

import { namesOf } from "./script.js";

/** @typedef {import("./recording.js").Recording} Recording */
/**
 * What is selected: a decision by its row, a task by its row, a node, or a job.
 * @typedef {{run: number, kind: "decision" | "task" | "node" | "job", id: number}} Selection
 */
/** @typedef {"time" | "window" | "selection" | "playing" | "speed" | "theme" | "rows" | "filter"} Change */

export const SLOWEST = 0.01;
export const FASTEST = 1000;
/** A window is never shorter than this [ms]. */
const SHORTEST = 10;
/** Moves are seen for at least so long, of real time [ms]. */
export const SEEN = 400;

/** For those who want no motion the timeline does not glide while the clock runs: it turns over like a page. */
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class View {
  /** @param {Recording[]} recordings */
  constructor(recordings) {
    this.recordings = recordings;
    /** How the runs are called. */
    this.names = namesOf(recordings);
    this.end = Math.max(...recordings.map((one) => Math.max(one.end, 1)));
    this.time = 0;
    this.from = 0;
    this.to = this.end;
    this.speed = usualSpeed(this.end);
    this.playing = false;
    /** Of a guided scene, from 1; 0: there is none. */
    this.step = 0;
    /** @type {Selection | null} */
    this.selection = null;
    this.dark = false;
    /** @type {Set<(change: Change) => void>} */
    this.listeners = new Set();
  }

  /** @param {(change: Change) => void} listener */
  on(listener) {
    this.listeners.add(listener);
  }

  /** @param {Change} change */
  tell(change) {
    for (const listener of this.listeners) listener(change);
  }

  /** @param {number} time [ms] */
  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.end);
    this.tell("time");
  }

  /** How much simulated time passes in the least time that a move is seen [ms]. */
  get shown() {
    return SEEN * this.speed;
  }

  /** @param {number} real time that has passed [ms] */
  advance(real) {
    this.seek(this.time + real * this.speed);
    if (this.time >= this.end) this.play(false);
    const span = this.to - this.from;
    if (still.matches) {
      if (this.time > this.to || this.time < this.from) this.window(this.time - span * 0.05, this.time + span * 0.95);
      return;
    }
    if (span < this.end && (this.time > this.to - span * 0.3 || this.time < this.from)) {
      this.window(this.time - span * 0.7, this.time + span * 0.3);
    }
  }

  /** @param {boolean} playing */
  play(playing) {
    if (playing && this.time >= this.end) this.seek(0);
    this.playing = playing;
    this.tell("playing");
  }

  /** @param {number} speed simulated time over real time */
  setSpeed(speed) {
    this.speed = Math.min(Math.max(speed, SLOWEST), FASTEST);
    this.tell("speed");
  }

  /**
   * What the timeline shows.
   * @param {number} from [ms]
   * @param {number} to [ms]
   */
  window(from, to) {
    const span = Math.min(Math.max(to - from, SHORTEST), this.end);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, 0), this.end - span);
    this.to = this.from + span;
    this.tell("window");
  }

  /**
   * @param {number} factor below 1: closer
   * @param {number} [around] time that stays where it is [ms]
   */
  zoom(factor, around = this.time) {
    const kept = Math.min(Math.max(around, this.from), this.to);
    const span = Math.min(Math.max((this.to - this.from) * factor, SHORTEST), this.end);
    const share = (kept - this.from) / (this.to - this.from);
    this.window(kept - share * span, kept + (1 - share) * span);
  }

  /**
   * Go where it is, in time and on the screen.
   * @param {Selection | null} selection
   * @param {number} [time] [ms]
   */
  select(selection, time) {
    this.selection = selection;
    if (time !== undefined) {
      this.seek(time);
      if (time < this.from || time > this.to) {
        const half = (this.to - this.from) / 2;
        this.window(time - half, time + half);
      }
    }
    this.tell("selection");
  }
}

/** @param {number} end [ms] */
function usualSpeed(end) {
  const wanted = end / 60_000;
  const speeds = [0.01, 0.1, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  return speeds.reduce((best, one) =>
    Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best,
  );
}
