/** Numbers and times in words, as the whole player writes them. */

/**
 * A duration: "9.8 s", "85 ms", "12 min 3 s".
 * @param {number} ms
 */
export function duration(ms) {
  if (!Number.isFinite(ms)) return "unknown";
  const size = Math.abs(ms);
  if (size === 0) return "0 s";
  if (size < 1) return `${trimmed(ms, 2)} ms`;
  if (size < 99.5) return `${trimmed(ms, size < 10 ? 1 : 0)} ms`;
  if (size < 9_950) return `${trimmed(ms / 1000, size < 995 ? 2 : 1)} s`;
  if (size < 600_000) return `${trimmed(ms / 1000, 1)} s`;
  // Rounded to a second first: no minute has 60 s.
  const seconds = Math.floor(size / 1000 + 0.5);
  const minutes = Math.floor(seconds / 60);
  const rest = seconds % 60;
  return `${ms < 0 ? "-" : ""}${minutes.toLocaleString("en")} min${rest ? ` ${rest} s` : ""}`;
}

/**
 * A moment, to the hundredth of a second: "54.20 s".
 * @param {number} ms
 */
export const moment = (ms) =>
  `${(ms / 1000).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} s`;

/**
 * @param {number} value
 * @param {number} digits
 */
export const trimmed = (value, digits) => String(+value.toFixed(digits));

/**
 * A number of about three digits.
 * @param {number} value
 */
export function plain(value) {
  if (!Number.isFinite(value)) return "unknown";
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return (+value.toFixed(digits)).toLocaleString("en");
}

/**
 * A value with its unit: "9.8 s", "12 tasks", "3.2 MB".
 * @param {number} value
 * @param {string} unit
 */
export function measured(value, unit) {
  if (!Number.isFinite(value)) return "unknown";
  if (unit === "ms") return value === 0 ? "none" : duration(value);
  if (unit === "" || unit === "1") return plain(value);
  if (unit === "tasks" && value === 1) return "1 task";
  return `${plain(value)} ${unit}`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
