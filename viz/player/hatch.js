/** The second sign of a state: a hatching over its colour, on canvases and in the page, for those who see colours alike. */

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} Context */

/** Side of a tile [pixels of the page]. */
const TILE = 6;
/** A bar is hatched from this height and width on: below that a hatching is but noise. */
export const LEAST_HIGH = 3;
export const LEAST_WIDE = 5;

/**
 * Lines of a tile by state, in the order of PARTS: x, y, width, height; slanted ones leave at the corners.
 * @type {("" | "slash" | "line" | "backslash" | "cross" | "pole" | "dots" | "grid")[]}
 */
const SIGNS = ["", "slash", "pole", "backslash", "cross", "line", "dots", "grid"];
/** @type {Record<string, [number, number, number, number][]>} */
const LINES = {
  slash: [[0, TILE, TILE, 0]],
  backslash: [[0, 0, TILE, TILE]],
  cross: [
    [0, TILE, TILE, 0],
    [0, 0, TILE, TILE],
  ],
  line: [[0, TILE / 2, TILE, TILE / 2]],
  pole: [[TILE / 2, 0, TILE / 2, TILE]],
  grid: [
    [0, TILE / 2, TILE, TILE / 2],
    [TILE / 2, 0, TILE / 2, TILE],
  ],
  dots: [[TILE / 2 - 1, TILE / 2, TILE / 2 + 1, TILE / 2]],
};
/** @type {Map<string, OffscreenCanvas>} */
const tiles = new Map();

/**
 * @param {number} state place in PARTS
 * @param {string} ink
 * @param {number} ratio pixels of the device for one
 */
function tileOf(state, ink, ratio) {
  const key = `${state} ${ink} ${ratio}`;
  let tile = tiles.get(key);
  if (tile) return tile;
  const size = Math.round(TILE * ratio);
  tile = new OffscreenCanvas(size, size);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (tile.getContext("2d"));
  context.scale(size / TILE, size / TILE);
  context.strokeStyle = ink;
  context.lineWidth = 1;
  context.beginPath();
  // Slanted lines of the tiles beside reach into the corners.
  for (const [x0, y0, x1, y1] of LINES[SIGNS[state]] ?? [])
    for (const shift of x0 !== x1 && y0 !== y1 ? [-TILE, 0, TILE] : [0]) {
      context.moveTo(x0 + shift, y0);
      context.lineTo(x1 + shift, y1);
    }
  context.stroke();
  tiles.set(key, tile);
  return tile;
}

/**
 * What a context fills with to hatch a state; null: this state has no hatching.
 * @param {Context} context whose unit is a pixel of the page
 * @param {number} state
 * @param {Palette} palette
 * @param {number} ratio
 */
export function hatching(context, state, palette, ratio) {
  if (!SIGNS[state]) return null;
  const pattern = context.createPattern(tileOf(state, inkOf(palette), ratio), "repeat");
  pattern?.setTransform(new DOMMatrix().scale(TILE / Math.round(TILE * ratio)));
  return pattern;
}

/** @param {Palette} palette */
const inkOf = (palette) => (palette.dark ? "rgb(13 17 22 / .75)" : "rgb(27 39 51 / .6)");

/** A style for elements of the page: colour and hatching of a state. @param {number} state @param {Palette} palette */
export function hatched(state, palette) {
  const ink = inkOf(palette);
  /** @param {string} angle */
  const stripes = (angle) => `repeating-linear-gradient(${angle}, ${ink} 0 1px, transparent 1px 4px)`;
  const images = {
    "": [],
    slash: [stripes("-45deg")],
    backslash: [stripes("45deg")],
    cross: [stripes("-45deg"), stripes("45deg")],
    line: [`linear-gradient(transparent 45%, ${ink} 45% 57%, transparent 57%)`],
    pole: [stripes("90deg")],
    grid: [stripes("0deg"), stripes("90deg")],
    dots: [`radial-gradient(circle at 2px 2px, ${ink} 1px, transparent 1.4px) 0 0 / 4px 4px`],
  }[SIGNS[state] ?? ""];
  return { background: [...(images ?? []), palette.states[state]].join(", ") };
}
