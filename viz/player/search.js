/** Sorted arrays. */

/**
 * The first place whose value is at least that.
 * @param {ArrayLike<number>} values ascending
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function firstFrom(values, value, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The first place whose value is above that.
 * @param {ArrayLike<number>} values ascending
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function firstAbove(values, value, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Places 0..count-1 in the order of their values; equal ones keep their order.
 * @param {ArrayLike<number>} values
 * @returns {Uint32Array}
 */
export function orderOf(values) {
  const order = new Uint32Array(values.length);
  for (let place = 0; place < order.length; place++) order[place] = place;
  return order.sort((a, b) => values[a] - values[b] || a - b);
}

/**
 * Rows by group, as a table of where each group begins.
 * @param {ArrayLike<number>} rows in the order that each group keeps
 * @param {(row: number) => number} groupOf
 * @param {number} groups
 * @returns {{start: Uint32Array, rows: Uint32Array}}
 */
export function grouped(rows, groupOf, groups) {
  const start = new Uint32Array(groups + 1);
  for (let place = 0; place < rows.length; place++) start[groupOf(rows[place]) + 1]++;
  for (let group = 0; group < groups; group++) start[group + 1] += start[group];
  const next = start.slice();
  const sorted = new Uint32Array(rows.length);
  for (let place = 0; place < rows.length; place++) sorted[next[groupOf(rows[place])]++] = rows[place];
  return { start, rows: sorted };
}
