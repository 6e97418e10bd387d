/** Curves over time: slowdown so far, tasks in the system, busy CPUs and disks, work that waits, imbalance, nodes down. */

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./totals.js").Totals} Totals */
/** @typedef {{time: Float64Array, value: Float64Array, steps: boolean}} Series */

/** What can be drawn: name, unit, digits. */
export const QUANTITIES = /** @type {const} */ ([
  ["Tasks in the system", ""],
  ["Mean slowdown so far (less is better)", ""],
  ["CPUs busy", "%"],
  ["Disks busy", "%"],
  ["Load imbalance (less is better)", "s"],
  ["CPU work waiting [s]", "s"],
  ["Disk work waiting [s]", "s"],
  ["Nodes down", ""],
]);
const [CPUS, IMBALANCE, CPU_WORK, DISK_WORK, DOWN] = [2, 4, 5, 6, 7];

/**
 * What can be drawn of these runs: places in QUANTITIES.
 * @param {Recording[]} recordings
 */
export function quantitiesOf(recordings) {
  return QUANTITIES.map((_, place) => place).filter(
    (place) => place !== DOWN || recordings.some((one) => one.failures.at.length > 0),
  );
}

/**
 * @param {Recording} recording
 * @param {Totals} totals
 * @param {number} quantity place in QUANTITIES
 * @returns {Series}
 */
export function seriesOf(recording, totals, quantity) {
  if (quantity === 0) return difference(totals.arrivals, totals.ends);
  if (quantity === 1) return slowdown(totals);
  if (quantity === DOWN) return difference(totals.downs, totals.ups);
  return byPeriod(recording, quantity);
}

/**
 * How many more have begun than have ended.
 * @param {Float64Array} arrivals
 * @param {Float64Array} ends
 * @returns {Series}
 */
function difference(arrivals, ends) {
  const time = new Float64Array(arrivals.length + ends.length);
  const value = new Float64Array(time.length);
  let [came, over] = [0, 0];
  for (let place = 0; place < time.length; place++) {
    if (came < arrivals.length && (over >= ends.length || arrivals[came] <= ends[over])) time[place] = arrivals[came++];
    else time[place] = ends[over++];
    value[place] = came - over;
  }
  return { time, value, steps: true };
}

/** @param {Totals} totals @returns {Series} */
function slowdown({ ends, slowdowns, done }) {
  const value = Float64Array.from(ends, (_, place) => slowdowns[place + 1] / done[place + 1]);
  return { time: ends, value, steps: true };
}

/**
 * @param {Recording} recording
 * @param {number} quantity
 * @returns {Series}
 */
function byPeriod(recording, quantity) {
  const { at, cpu_busy_ms: cpu, disk_busy_ms: disk, cpu_ms, page_ms, io_ms } = recording.tables.loads.columns;
  const cores = Float64Array.from(recording.cores).reduce((sum, one) => sum + one, 0);
  const counted = { [CPUS]: cpu, [CPU_WORK]: cpu_ms, [DISK_WORK]: io_ms }[quantity] ?? disk;
  /** @type {number[]} */
  const time = [];
  /** @type {number[]} */
  const value = [];
  let [before, busyBefore] = [0, 0];
  for (let row = 0; row < at.length;) {
    let end = row;
    let busy = 0;
    while (end < at.length && at[end] === at[row]) busy += counted[end++];
    const now = at[row] * recording.tick;
    if (quantity === IMBALANCE) value.push(imbalance([cpu_ms, page_ms, io_ms], row, end) / 1000);
    else if (quantity === CPU_WORK || quantity === DISK_WORK) value.push(busy / 1000);
    else
      value.push(
        (100 * (busy - busyBefore)) / Math.max(now - before, 1) / (quantity === CPUS ? cores : recording.nodes),
      );
    time.push(now);
    [before, busyBefore, row] = [now, busy, end];
  }
  return { time: Float64Array.from(time), value: Float64Array.from(value), steps: false };
}

/**
 * The cluster's load imbalance factor, IOLB (7)-(10) [ms]: each resource's share of all load times the sum of deviations
 * from its mean.
 * @param {ArrayLike<number>[]} loads
 * @param {number} first
 * @param {number} end
 */
function imbalance(loads, first, end) {
  const sums = loads.map((load) => {
    let sum = 0;
    for (let row = first; row < end; row++) sum += load[row];
    return sum;
  });
  const whole = sums.reduce((sum, one) => sum + one, 0);
  if (!(whole > 0)) return 0;
  return loads.reduce((factor, load, place) => {
    const mean = sums[place] / (end - first);
    let spread = 0;
    for (let row = first; row < end; row++) spread += Math.abs(load[row] - mean);
    return factor + (sums[place] / whole) * spread;
  }, 0);
}
