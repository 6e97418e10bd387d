/** Moments at which something happens: what one steps to. */

/** @typedef {import("./recording.js").Recording} Recording */

/**
 * When anything begins, ends or is decided, each moment once.
 * @param {Recording[]} recordings
 */
export function momentsOf(recordings) {
  const size = recordings.reduce((sum, one) => sum + 2 * one.segments.from.length + one.failures.at.length, 0);
  const all = new Float64Array(size);
  let at = 0;
  for (const { segments, failures } of recordings) {
    for (const times of [segments.from, segments.to, failures.at]) {
      all.set(times, at);
      at += times.length;
    }
  }
  all.sort();
  let kept = 0;
  for (let place = 0; place < size; place++) if (!kept || all[place] > all[kept - 1] + 1e-6) all[kept++] = all[place];
  return all.slice(0, kept);
}
