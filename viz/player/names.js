/** The names of the nodes, left of the rows of a timeline; those that have no room are left out. */

import { AXIS, GUTTER } from "./axis.js";
import { chosenNodes } from "./chosen.js";
import { FONT } from "./machines.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./timeline.js").Timeline} Timeline */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Timeline} timeline
 * @param {number} room height of the rows that are seen [px]
 * @param {Palette} palette
 */
export function drawNames(context, timeline, room, palette) {
  const { rows, recording, scroll } = timeline;
  context.save();
  context.beginPath();
  context.rect(0, AXIS, GUTTER, room);
  context.clip();
  context.font = `10px ${FONT}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(11 / Math.max(rows.folded, 0.1)));
  const chosen = chosenNodes(timeline.view, timeline.run);
  let free = -Infinity;
  for (let node = 0; node < recording.nodes; node++) {
    const open = rows.isOpen(node) || chosen.has(node);
    if (!open && node % every) continue;
    const half = rows.isOpen(node) ? Math.min(rows.height(node) / 2, 40) : rows.folded / 2;
    const y = AXIS + rows.top[node] - scroll + half;
    // The name of a low first row is whole, too.
    const middle = y >= AXIS ? Math.max(y, AXIS + 6) : y;
    if (y < AXIS - 20 || y > AXIS + room + 20 || (middle < free && !open)) continue;
    free = middle + 10;
    context.fillStyle = open ? palette.ink : palette.faint;
    const name = recording.nodeName(node);
    context.fillText(name.length > 9 ? `${name.slice(0, 8)}…` : name, GUTTER - 6, middle);
  }
  context.restore();
}
