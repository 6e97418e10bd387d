/** The marker of a policy, beside its colour. */

import { el } from "./dom.js";

/** @typedef {import("./recording.js").Recording} Recording */

/** Corners, radius of the corners between them and turn [degrees], by the names that Python gives. @type {Record<string, [number, number, number]>} */
const SHAPES = {
  o: [24, 1, 0],
  s: [4, 1, 45],
  "^": [3, 1, 0],
  v: [3, 1, 180],
  "<": [3, 1, 270],
  ">": [3, 1, 90],
  D: [4, 1, 0],
  d: [4, 1, 0],
  P: [4, 0.5, 0],
  X: [4, 0.5, 45],
  "*": [5, 0.42, 0],
  p: [5, 1, 0],
  h: [6, 1, 0],
  star: [4, 0.4, 0],
  hourglass: [4, 1, 45],
};

/**
 * Corners of a marker, within -1..1.
 * @param {unknown} name
 * @returns {[number, number][]}
 */
export function cornersOf(name) {
  const known = typeof name === "string" && Object.hasOwn(SHAPES, name) ? name : "o";
  const [corners, inner, turn] = SHAPES[known];
  /** @type {(angle: number, radius: number) => [number, number]} */
  const at = (angle, radius) => [radius * Math.sin(angle), -radius * Math.cos(angle)];
  const first = (turn * Math.PI) / 180;
  const step = (2 * Math.PI) / corners;
  /** @type {[number, number][]} */
  const found = [];
  for (let corner = 0; corner < corners; corner++) {
    const angle = first + corner * step;
    if (known === "P" || known === "X") {
      // Arms as wide as a third of the sign.
      for (const aside of [-0.34, 0.34]) found.push(at(angle + aside, 1.06));
      found.push(at(angle + step / 2, 0.5));
    } else {
      found.push(at(angle, 1));
      if (inner < 1) found.push(at(angle + step / 2, inner));
    }
  }
  // From corner to corner over the middle.
  if (known === "hourglass") [found[1], found[2]] = [found[2], found[1]];
  return known === "d" ? found.map(([x, y]) => [0.6 * x, y]) : found;
}

/**
 * A policy's marker in its colour, before its name.
 * @param {Recording} recording
 * @param {number} run
 */
export function signOf(recording, run) {
  const corners = cornersOf(recording.header.colours?.marker);
  const points = corners.map(([x, y]) => `${(50 + 50 * x).toFixed(1)}% ${(50 + 50 * y).toFixed(1)}%`);
  return el("i", { class: `sign run${run}`, "aria-hidden": "true", css: { "clip-path": `polygon(${points.join()})` } });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number][]} corners
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 */
export function drawSign(context, corners, x, y, radius) {
  context.beginPath();
  for (const [right, down] of corners) context.lineTo(x + radius * right, y + radius * down);
  context.closePath();
  context.stroke();
  context.fill();
}
