/** What is on each node at a moment, kept up by adding what began and taking away what ended. */

import { WHAT } from "./recording.js";
import { orderOf } from "./search.js";

/** @typedef {import("./recording.js").Recording} Recording */

// Shares are whole numbers of these, and memory of KB: sums are exact forwards and backwards.
const WHOLE = 1000;

export class NodeState {
  /** @param {Recording} recording */
  constructor(recording) {
    this.recording = recording;
    const { nodes, segments } = recording;
    const { from, to, what } = segments;
    // Being under way is a move, not a state of a node.
    const counted = [WHAT.runs, WHAT.waits, WHAT.asks, WHAT.lost];
    const rows = new Uint32Array(from.length);
    let kept = 0;
    for (const row of recording.byFrom) if (counted.includes(what[row]) && to[row] > from[row]) rows[kept++] = row;
    this.begins = rows.slice(0, kept);
    const ends = Float64Array.from(this.begins, (row) => (segments.open[row] ? Infinity : to[row]));
    this.ends = orderOf(ends).map((place) => this.begins[place]);
    this.beginTimes = Float64Array.from(this.begins, (row) => from[row]);
    this.endTimes = ends.slice().sort();
    this.begun = 0;
    this.ended = 0;
    this.time = -1;
    /** Changes with every change. */
    this.version = 0;
    /** Tasks that are there, and those that wait there without being on the node. */
    this.tasks = new Int32Array(nodes);
    this.waiting = new Int32Array(nodes);
    /** Of the tasks, by how much of their visits: at the CPU, in its queue, at the disk, in its queue, paging, at a barrier. */
    this.shares = [0, 1, 2, 3, 4, 5].map(() => new Float64Array(nodes));
    this.memory = new Float64Array(nodes);
    /** The same, exactly, in a detailed window. */
    this.exact = this.shares.map(() => new Int16Array(nodes));
    this.isExact = false;
    /** Visits that are there, where a detailed window has to be looked up. @type {Set<number>} */
    this.there = new Set();
    /** When each node changed last, as a version. */
    this.changed = new Uint32Array(nodes);
  }

  /** @param {number} time [ms] */
  at(time) {
    if (time === this.time) return;
    this.time = time;
    this.version++;
    while (this.begun < this.begins.length && this.beginTimes[this.begun] <= time)
      this.#add(this.begins[this.begun++], 1);
    while (this.ended < this.ends.length && this.endTimes[this.ended] <= time) this.#add(this.ends[this.ended++], -1);
    while (this.ended > 0 && this.endTimes[this.ended - 1] > time) this.#add(this.ends[--this.ended], 1);
    while (this.begun > 0 && this.beginTimes[this.begun - 1] > time) this.#add(this.begins[--this.begun], -1);
    const { detail } = this.recording;
    const isExact = detail.covers(time);
    if (isExact) this.#lookUp();
    if (isExact || this.isExact) this.changed.fill(this.version);
    this.isExact = isExact;
  }

  /** What each task does at this moment. */
  #lookUp() {
    const { detail, segments } = this.recording;
    for (const one of this.exact) one.fill(0);
    for (const row of this.there) {
      const piece = detail.at(segments.task[row], this.time);
      // What is at a barrier, asleep, or writes what it brought, is neither at the CPU nor at the disk.
      const state = piece < 0 ? 5 : Math.min(detail.state[piece], 5);
      this.exact[state][segments.node[row]]++;
    }
  }

  /**
   * @param {number} row of a segment
   * @param {number} sign
   */
  #add(row, sign) {
    const { segments, tables } = this.recording;
    const node = segments.node[row];
    this.changed[node] = this.version;
    if (segments.what[row] !== WHAT.runs) {
      this.waiting[node] += sign;
      return;
    }
    this.tasks[node] += sign;
    if (this.recording.detail.from >= 0) {
      if (sign > 0) this.there.add(row);
      else this.there.delete(row);
    }
    const columns = tables.segments.columns;
    const length = (segments.to[row] - segments.from[row]) * 10;
    const barrier = columns.barrier[row] + columns.blocked[row];
    const [cpu, queue, io, ioQueue, paging, rest] = this.shares;
    cpu[node] += sign * Math.round((WHOLE * columns.cpu[row]) / length);
    queue[node] += sign * Math.round((WHOLE * columns.cpu_queue[row]) / length);
    io[node] += sign * Math.round((WHOLE * columns.io[row]) / length);
    ioQueue[node] += sign * Math.round((WHOLE * columns.io_queue[row]) / length);
    paging[node] += sign * Math.round((WHOLE * columns.paging[row]) / length);
    rest[node] += sign * Math.round((WHOLE * barrier) / length);
    const job = tables.tasks.columns.job[segments.task[row]];
    this.memory[node] += sign * Math.round(tables.jobs.columns.memory_mb[job] * 1000);
  }

  /**
   * Tasks of a node in a state: at this moment in a detailed window, elsewhere on average over their visits.
   * @param {number} part place in `shares`
   * @param {number} node
   */
  share(part, node) {
    return this.isExact ? this.exact[part][node] : this.shares[part][node] / WHOLE;
  }

  /**
   * Share of the node's memory that its tasks ask for.
   * @param {number} node
   */
  memoryShare(node) {
    const memory = this.recording.tables.nodes.columns.memory_mb[node];
    return memory > 0 ? this.memory[node] / 1000 / memory : 0;
  }

  /**
   * Whether a node is down.
   * @param {number} node
   */
  isDown(node) {
    const times = this.recording.down[node];
    for (let place = 0; place < times.length; place += 2) {
      if (this.time >= times[place] && this.time < times[place + 1]) return true;
    }
    return false;
  }
}
