/** What is selected, on a timeline: its nodes, and above the strip the visits of the task with a rim, its moves as arrows. */

import { AXIS, GUTTER } from "./axis.js";
import { ended } from "./lanes.js";
import { WHAT } from "./recording.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./timeline.js").Timeline} Timeline */
/** @typedef {import("./view.js").View} View */

/** Of a task with many visits so many segments are looked at. */
const FIRST = 6;

/**
 * The nodes of what is selected, on the timeline of a run.
 * @param {View} view
 * @param {number} run
 */
export function chosenNodes({ selection, recordings }, run) {
  const recording = recordings[run];
  /** @type {Set<number>} */
  const found = new Set();
  if (!selection || recording.nodes < 2) return found;
  if (selection.kind === "node") found.add(selection.id);
  if (selection.run !== run) return found;
  if (selection.kind === "decision") {
    found.add(recording.decisions.source[selection.id]);
    found.add(recording.decisions.target[selection.id]);
  } else if (selection.kind === "task") {
    const { start, node } = recording.segments;
    for (let row = start[selection.id]; row < Math.min(start[selection.id + 1], start[selection.id] + FIRST); row++)
      found.add(node[row]);
  }
  return found;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Timeline} timeline
 * @param {number} plot width of the rows [px]
 * @param {number} room height of the rows that are seen [px]
 * @param {Palette} palette
 */
export function drawSelected(context, timeline, plot, room, palette) {
  const { view, recording, rows, scroll } = timeline;
  const { selection } = view;
  if (!selection || selection.run !== timeline.run || (selection.kind !== "decision" && selection.kind !== "task"))
    return;
  const task = selection.kind === "task" ? selection.id : recording.taskRow(recording.decisions.task[selection.id]);
  if (task >= recording.tasks) return;
  const { start, from, node, origin, what, decision } = recording.segments;
  const scale = plot / (view.to - view.from);
  /** @param {number} time */
  const at = (time) => GUTTER + (time - view.from) * scale;
  /** @param {number} of */
  const middle = (of) => AXIS + rows.top[of] + rows.height(of) / 2 - scroll;
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, plot, room);
  context.clip();
  context.strokeStyle = palette.accent;
  context.fillStyle = palette.accent;
  for (let row = start[task]; row < start[task + 1]; row++) {
    const [x0, x1] = [at(from[row]), at(ended(recording, row))];
    if (what[row] === WHAT.runs) {
      const place = timeline.strips.placeOf(row);
      context.lineWidth = 2;
      context.strokeRect(x0, AXIS + place.y - scroll, Math.max(x1 - x0, 2), place.height);
    } else if (origin[row] !== node[row]) {
      context.lineWidth = selection.kind === "decision" && decision[row] === selection.id ? 3 : 1.5;
      arrow(context, x0, middle(origin[row]), x1, middle(node[row]));
    }
  }
  if (selection.kind === "decision" && !recording.decisions.accepted[selection.id]) {
    const { source, target, time } = recording.decisions;
    const x = at(time[selection.id]);
    context.strokeStyle = context.fillStyle = palette.moves[2];
    context.setLineDash([3, 3]);
    context.lineWidth = 2;
    arrow(context, x, middle(source[selection.id]), x, middle(target[selection.id]));
  }
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function arrow(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8 * Math.cos(angle - 0.45), y1 - 8 * Math.sin(angle - 0.45));
  context.lineTo(x1 - 8 * Math.cos(angle + 0.45), y1 - 8 * Math.sin(angle + 0.45));
  context.fill();
}
