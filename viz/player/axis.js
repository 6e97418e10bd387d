/** A scale of time: round numbers of seconds, as many as have room. */

/** @typedef {import("./colours.js").Palette} Palette */

/** Left of the time, where names stand, and above the rows [px]. */
export const GUTTER = 62;
export const AXIS = 18;
const STEPS = [1, 2, 5];

/**
 * @param {number} span [ms]
 * @param {number} width of the scale, in pixels
 * @param {number} room of a label, in pixels
 */
export function stepOf(span, width, room = 84) {
  const least = (span * room) / width;
  for (let size = 0.001; ; size *= 10) for (const step of STEPS) if (step * size >= least) return step * size;
}

/**
 * @param {number} ms
 * @param {number} step between labels [ms]
 */
export function label(ms, step) {
  const digits = step >= 1000 ? 0 : Math.min(6, Math.ceil(-Math.log10(step / 1000) - 1e-9));
  return `${(ms / 1000).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} s`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{from: number, to: number, left: number, width: number, y: number, font: string, palette: Palette, grid: number}} how
 */
export function drawAxis(context, { from, to, left, width, y, font, palette, grid }) {
  const step = stepOf(to - from, width);
  context.font = font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = left + ((at - from) / (to - from)) * width;
    if (grid) {
      context.fillStyle = palette.line;
      context.fillRect(Math.round(x), y + 8, 1, grid);
    }
    context.fillStyle = palette.faint;
    const words = label(at, step);
    const half = context.measureText(words).width / 2;
    context.fillText(words, Math.min(Math.max(x, left + half), left + width - half), y);
  }
}
