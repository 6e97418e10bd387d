/** How many tasks were on each node and when, and in which lane of its row each visit lies. */

/** @typedef {import("./recording.js").Recording} Recording */

export class Lanes {
  /** @param {Recording} recording */
  constructor(recording) {
    const { visits, segments, nodes } = recording;
    this.recording = recording;
    /** Lane of each visit, in the order of `visits.rows`, and the number of lanes of each node. */
    this.lane = new Uint16Array(visits.rows.length);
    this.lanes = new Uint16Array(nodes);
    /** Times at which the number of tasks of a node changes, and the number from then on; node's begin at `start`. */
    this.start = new Uint32Array(nodes + 1);
    this.time = new Float64Array(2 * visits.rows.length);
    this.count = new Uint16Array(2 * visits.rows.length);
    /** For each node and each visit: the latest end of it and those before it, so that a window finds what reaches into it. */
    this.reach = new Float64Array(visits.rows.length);
    const { from } = segments;
    for (let node = 0; node < nodes; node++) {
      const first = visits.start[node];
      const rows = visits.rows.subarray(first, visits.start[node + 1]);
      const ends = Float64Array.from(rows, (row) => ended(recording, row)).sort();
      let at = (this.start[node] = 2 * first);
      let [begun, over] = [0, 0];
      while (over < ends.length) {
        const begins = begun < rows.length && from[rows[begun]] < ends[over];
        this.time[at] = begins ? from[rows[begun++]] : ends[over++];
        this.count[at++] = begun - over;
      }
      this.#assign(rows, first, node);
    }
    this.start[nodes] = this.time.length;
  }

  /**
   * @param {Uint32Array} rows of the node's visits, as they begin
   * @param {number} first place of the first one
   * @param {number} node
   */
  #assign(rows, first, node) {
    const { from } = this.recording.segments;
    /** @type {number[]} */
    const free = [];
    /** Visits that are there: end and lane, as a heap by the end. @type {number[]} */
    const heap = [];
    let latest = -Infinity;
    for (let place = 0; place < rows.length; place++) {
      const row = rows[place];
      while (heap.length && heap[0] <= from[row]) free.push(popped(heap));
      free.sort((a, b) => b - a);
      const lane = free.length ? /** @type {number} */ (free.pop()) : this.lanes[node]++;
      this.lane[first + place] = lane;
      const end = ended(this.recording, row);
      pushed(heap, end, lane);
      latest = Math.max(latest, end);
      this.reach[first + place] = latest;
    }
  }
}

/**
 * When a visit is over; one that goes on lasts to the recording's end.
 * @param {Recording} recording
 * @param {number} row
 */
export function ended(recording, row) {
  return recording.segments.open[row] ? recording.end : recording.segments.to[row];
}

/** A heap of pairs (key, value), flat. @param {number[]} heap @param {number} key @param {number} value */
function pushed(heap, key, value) {
  let at = heap.length / 2;
  heap.push(key, value);
  while (at > 0) {
    const up = (at - 1) >> 1;
    if (heap[2 * up] <= key) break;
    [heap[2 * at], heap[2 * at + 1]] = [heap[2 * up], heap[2 * up + 1]];
    at = up;
  }
  [heap[2 * at], heap[2 * at + 1]] = [key, value];
}

/** @param {number[]} heap @returns {number} the value of the least key */
function popped(heap) {
  const found = heap[1];
  const value = /** @type {number} */ (heap.pop());
  const key = /** @type {number} */ (heap.pop());
  const size = heap.length / 2;
  if (!size) return found;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= size) break;
    if (down + 1 < size && heap[2 * down + 2] < heap[2 * down]) down++;
    if (heap[2 * down] >= key) break;
    [heap[2 * at], heap[2 * at + 1]] = [heap[2 * down], heap[2 * down + 1]];
    at = down;
  }
  [heap[2 * at], heap[2 * at + 1]] = [key, value];
  return found;
}

const BUSIEST = 0.98;

/**
 * Up to how many tasks the scale of loads goes: nodes have at most that many for 98 % of the time that they have any.
 * @param {Lanes[]} all of each recording
 */
export function scaleOf(all) {
  let most = 4;
  for (const { recording, start, time, count } of all) {
    const held = new Float64Array(1 << 16);
    let whole = 0;
    for (let node = 0; node < recording.nodes; node++) {
      for (let at = start[node]; at < start[node + 1] - 1; at++) {
        const length = count[at] ? time[at + 1] - time[at] : 0;
        held[count[at]] += length;
        whole += length;
      }
    }
    let [tasks, passed] = [0, 0];
    while (tasks < held.length - 1 && passed < BUSIEST * whole) passed += held[++tasks];
    most = Math.max(most, tasks);
  }
  const step = 10 ** Math.floor(Math.log10(most));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((one) => Math.ceil(one * step)).find((one) => one >= most) ?? most;
}
