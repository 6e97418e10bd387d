/** Where the row of each node is on the timeline: folded thin, unfolded as high as its lanes need. */

/** @typedef {import("./lanes.js").Lanes} Lanes */

const LANE = 8;
const MOST_LANES = 24;
const HIGHEST = 36;

export class Rows {
  /** @param {number} nodes */
  constructor(nodes) {
    this.top = new Float64Array(nodes + 1);
    /** @type {Set<number>} */
    this.unfolded = new Set();
    this.folded = 0;
    /** @type {string} */
    this.key = "";
  }

  /**
   * @param {Lanes} lanes
   * @param {number} height of the panel
   * @param {Set<number>} chosen nodes that are unfolded because they are selected
   * @returns {boolean} whether rows have changed
   */
  place(lanes, height, chosen) {
    const nodes = this.top.length - 1;
    const open = [...new Set([...this.unfolded, ...chosen])].sort((a, b) => a - b);
    const key = `${height} ${open.join()}`;
    if (key === this.key) return false;
    this.key = key;
    this.folded = Math.min(height / nodes, HIGHEST);
    let top = 0;
    let next = 0;
    for (let node = 0; node < nodes; node++) {
      this.top[node] = top;
      const wide = open[next] === node;
      if (wide) next++;
      const needed = Math.min(Math.max(lanes.lanes[node], 2), MOST_LANES) * LANE + 6;
      top += wide ? Math.max(Math.min(needed, height * 0.28), this.folded) : this.folded;
    }
    this.top[nodes] = top;
    return true;
  }

  /** @param {number} node */
  height(node) {
    return this.top[node + 1] - this.top[node];
  }

  /** @param {number} node */
  isOpen(node) {
    return this.height(node) > this.folded + 0.5;
  }

  get whole() {
    return this.top[this.top.length - 1];
  }

  /**
   * The node whose row is at a height; -1: none.
   * @param {number} y
   */
  at(y) {
    if (y < 0 || y >= this.whole) return -1;
    let [low, high] = [0, this.top.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.top[middle] <= y) low = middle;
      else high = middle;
    }
    return low;
  }

  /** @param {number} node */
  toggle(node) {
    if (!this.unfolded.delete(node)) this.unfolded.add(node);
  }
}
