/** Colours of states, moves and loads, on light and on dark ground. They come with the recording, from Python. */

/** @typedef {import("./recording.js").Recording} Recording */
/**
 * @typedef {{paper: string, ground: string, raised: string, ink: string, faint: string, line: string, accent: string,
 *   track: string, memory: string, states: string[], waiting: string, moves: string[], ramp: string[],
 *   heat: Uint32Array, down: string, policy: string, dark: boolean}} Palette
 */

const GROUNDS = {
  light: {
    paper: "#ffffff",
    ground: "#f3f5f8",
    raised: "#ffffff",
    ink: "#1b2733",
    faint: "#5b6770",
    line: "#d5dbe0",
    accent: "#0b62c4",
    track: "#e6eaee",
    memory: "#8695a3",
    down: "#b3261e",
  },
  dark: {
    paper: "#151a21",
    ground: "#0d1116",
    raised: "#1b222b",
    ink: "#e6edf3",
    faint: "#9aa7b4",
    line: "#2d3640",
    accent: "#6cb1ff",
    track: "#262e37",
    memory: "#718090",
    down: "#ff8a80",
  },
};
const SHADES = 64;

/**
 * @param {Recording} recording
 * @param {boolean} dark
 * @returns {Palette}
 */
export function paletteOf(recording, dark) {
  const colours = recording.header.colours ?? {};
  const states = colours.states ?? {};
  const wanted = ["cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked"];
  /** @param {string} name */
  const shown = (name) => {
    const found = colour(states[name], "#888888");
    return dark && luminance(found) < 0.12 ? mixed(found, "#ffffff", 0.4) : found;
  };
  const moves = /** @type {unknown[]} */ (Array.isArray(colours.moves) ? colours.moves : []).map((one) =>
    colour(one, "#b0307a"),
  );
  while (moves.length < 7) moves.push("#b0307a");
  let ramp = /** @type {unknown[]} */ (
    Array.isArray(colours.ramp) && colours.ramp.length > 1 ? colours.ramp : ["#00224e", "#fee838"]
  ).map((one) => colour(one, "#888888"));
  // From little to much: towards the ink.
  if (!dark) ramp = [...ramp].reverse();
  const ground = GROUNDS[dark ? "dark" : "light"];
  return {
    ...ground,
    dark,
    policy: shownPolicy(colours.policy, dark),
    states: wanted.map(shown),
    waiting: shown("blocked"),
    ramp,
    moves: moves.map((one) => (dark ? mixed(one, "#ffffff", 0.35) : one)),
    heat: heatOf(ramp, ground.ground),
  };
}

/** @param {unknown} given @param {boolean} dark */
function shownPolicy(given, dark) {
  const found = colour(given, "#3B4A57");
  return dark ? reflected(found) : found;
}

/**
 * The colour of a second run of one policy: ink, or where the policy's is as dark or light as that, the one of remarks.
 * @param {string} policy
 * @param {Palette} palette
 */
export const secondOf = (policy, palette) =>
  Math.abs(luminance(policy) - luminance(palette.ink)) < 0.1 ? palette.faint : palette.ink;

// Ottosson's OKLab: from linear red, green and blue to cones, and from their cube roots to lightness and two hues.
const CONES = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const LIGHTNESS = [0.2104542553, 0.793617785, -0.0040720468];
const FROM_CONES = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
];

/** @type {(rows: number[][], values: number[]) => number[]} */
const times = (rows, values) => rows.map((row) => row.reduce((sum, one, place) => sum + one * values[place], 0));

/**
 * A policy's colour on dark ground: its hue, and its lightness turned round, so that two policies stay as far apart.
 * @param {string} hex
 */
function reflected(hex) {
  const linear = channels(hex).map((part) => (part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  const roots = times(CONES, linear).map(Math.cbrt);
  const [lightness] = times([LIGHTNESS], roots);
  // Lightness is a weighted mean of the roots: a shift of all of them leaves the hues as they are.
  const shift = 1.164 - 1.9 * lightness;
  return `#${times(
    FROM_CONES,
    roots.map((root) => (root + shift) ** 3),
  )
    .map((part) => Math.min(Math.max(part, 0), 1))
    .map((part) => Math.round(255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055)))
    .map((part) => part.toString(16).padStart(2, "0"))
    .join("")}`;
}

/**
 * A colour that came with a file: six hexadecimal digits, or another one.
 * @param {unknown} value
 * @param {string} otherwise
 */
function colour(value, otherwise) {
  return typeof value === "string" && /^#[0-9a-fA-F]{6}$/.test(value) ? value : otherwise;
}

/** @param {string} hex */
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** @param {string} hex */
function luminance(hex) {
  const [red, green, blue] = channels(hex).map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * @param {string} one
 * @param {string} other
 * @param {number} share of the other one
 */
export function mixed(one, other, share) {
  const theirs = channels(other);
  return `#${channels(one)
    .map((part, place) =>
      Math.round(part + (theirs[place] - part) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/**
 * The colour of a share of the scale, 0..1.
 * @param {string[]} ramp
 * @param {number} share
 */
export function onRamp(ramp, share) {
  const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const low = Math.min(Math.floor(place), ramp.length - 2);
  return mixed(ramp[low], ramp[low + 1], place - low);
}

/**
 * Pixels by shade: place 0 for nothing, then SHADES shades.
 * @param {string[]} ramp
 * @param {string} nothing
 */
function heatOf(ramp, nothing) {
  const found = new Uint32Array(SHADES + 1);
  found[0] = pixel(nothing);
  for (let shade = 1; shade <= SHADES; shade++) found[shade] = pixel(onRamp(ramp, (shade - 1) / (SHADES - 1)));
  return found;
}

/** @param {string} hex */
function pixel(hex) {
  const [red, green, blue] = channels(hex);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/**
 * The place in `heat` of a count.
 * @param {number} count
 * @param {number} most that the scale shows
 */
export const shadeOf = (count, most) =>
  count <= 0 ? 0 : 1 + Math.min(SHADES - 1, Math.round(((count - 1) / Math.max(most - 1, 1)) * (SHADES - 1)));

/** Black or white, whichever is read better on a colour.
 * @param {string} hex
 */
export const inkOn = (hex) => (luminance(hex) > 0.18 ? "#101418" : "#ffffff");
