/** A node as a small machine: cores and what waits for them, the disk and what waits for it, memory, paging; or a tile. */

import { inkOn, mixed, onRamp } from "./colours.js";
import { hatching } from "./hatch.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./places.js").Box} Box */
/** @typedef {import("./state.js").NodeState} NodeState */

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
const CPU = 0;
const CPU_QUEUE = 1;
const DISK = 2;
const DISK_QUEUE = 3;
const PAGING = 4;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Box} box
 * @param {number} node
 * @param {NodeState} state
 * @param {Palette} palette
 * @param {boolean} selected
 */
export function drawMachine(context, box, node, state, palette, selected) {
  const { recording } = state;
  const { x, y, width, height } = box;
  const tasks = state.tasks[node];
  const down = state.isDown(node);
  const heat = tasks ? Math.min(state.share(PAGING, node) / tasks, 1) : 0;
  context.fillStyle = palette.ground;
  context.fillRect(x - 2, y - 2, width + 4, height + 4);
  context.beginPath();
  context.roundRect(x + 0.5, y + 0.5, width - 1, height - 1, 5);
  context.fillStyle =
    heat > 0.02 ? mixed(palette.paper, palette.states[PAGING], Math.min(0.1 + heat * 0.6, 0.65)) : palette.paper;
  context.fill();
  if (heat > 0.02) {
    context.globalAlpha = 0.3;
    context.fillStyle = hatching(context, PAGING, palette, 1) ?? palette.paper;
    context.fill();
    context.globalAlpha = 1;
  }
  context.lineWidth = selected ? 2.5 : 1;
  context.strokeStyle = selected ? palette.accent : down ? palette.down : palette.line;
  context.stroke();
  const pad = width > 90 ? 8 : 5;
  const small = height < 60;
  context.textBaseline = "alphabetic";
  context.font = `${width > 64 ? 11 : 10}px ${FONT}`;
  context.textAlign = "left";
  context.fillStyle = palette.faint;
  const name = recording.nodeName(node);
  // Beside it there is room for a number of three digits, or "down".
  const letters = Math.max(3, Math.floor((width - pad * 2 - (down ? 44 : 26)) / 6.2));
  const shown = name.length > letters ? name.replace(/^node /, "") : name;
  context.fillText(shown.slice(0, letters), x + pad, y + 14);
  context.textAlign = "right";
  context.fillStyle = down ? palette.down : tasks ? palette.ink : palette.faint;
  context.font = `600 ${width > 64 ? 12 : 11}px ${FONT}`;
  context.fillText(down ? "down" : String(tasks), x + width - pad, y + 14);
  if (down) return;
  const top = y + 19;
  const room = height - 19 - (small ? 7 : 11);
  const size = Math.max(3, Math.min(room / 2 - 3, width > 150 ? 10 : width > 84 ? 8 : 6));
  const extra = state.waiting[node];
  const inner = { x: x + pad, width: width - 2 * pad };
  queue(
    context,
    inner,
    top,
    room / 2 - 3,
    size,
    state.share(CPU, node),
    recording.cores[node],
    state.share(CPU_QUEUE, node),
    palette.states[CPU],
    palette.states[CPU_QUEUE],
    palette,
    extra,
  );
  queue(
    context,
    inner,
    top + room / 2,
    room / 2 - 3,
    size,
    state.share(DISK, node),
    1,
    state.share(DISK_QUEUE, node),
    palette.states[DISK],
    palette.states[DISK_QUEUE],
    palette,
    0,
  );
  const share = state.memoryShare(node);
  const line = y + height - (small ? 6 : 8);
  context.fillStyle = palette.track;
  context.fillRect(inner.x, line, inner.width, 3);
  context.fillStyle = share > 1 ? palette.states[PAGING] : palette.memory;
  // More than there is: thicker, too.
  context.fillRect(inner.x, share > 1 ? line - 1 : line, inner.width * Math.min(share, 1), share > 1 ? 5 : 3);
}

/**
 * What a device serves, filled, and what waits for it, as squares in a row; what has no room is a number.
 * @param {CanvasRenderingContext2D} context
 * @param {{x: number, width: number}} inner
 * @param {number} y
 * @param {number} height
 * @param {number} size of a square
 * @param {number} served on average over visits
 * @param {number} places that the device has
 * @param {number} queued on average over visits
 * @param {string} colour
 * @param {string} lighter
 * @param {Palette} palette
 * @param {number} held waits here without being on the node
 */
function queue(context, inner, y, height, size, served, places, queued, colour, lighter, palette, held) {
  const gap = size > 6 ? 2 : 1;
  const step = size + gap;
  const line = Math.floor((inner.width + gap) / step);
  const cores = Math.min(places, Math.max(1, Math.floor(line / 2)));
  for (let core = 0; core < cores; core++) {
    const x = inner.x + core * step;
    context.fillStyle = palette.track;
    context.fillRect(x, y, size, size);
    const busy = Math.min(Math.max((served * cores) / places - core, 0), 1);
    if (busy > 0) {
      context.fillStyle = colour;
      const high = Math.max(1, size * busy);
      context.fillRect(x, y + size - high, size, high);
    }
  }
  // A device serves as many as it has places: what the average has above that waits.
  const waits = queued + Math.max(served - places, 0);
  const all = Math.round(waits) + held;
  const lines = Math.max(1, Math.floor((height + gap) / step));
  const first = cores + 1;
  let room = line - first + (lines - 1) * line;
  const more = all > room;
  if (more) room = Math.max(room - Math.ceil(26 / step), 0);
  const drawn = Math.min(waits, room);
  /** @param {number} place */
  const across = (place) => inner.x + ((place + first) % line) * step;
  /** @param {number} place */
  const under = (place) => y + Math.floor((place + first) / line) * step;
  context.fillStyle = lighter;
  for (let place = 0; place < drawn - 0.05; place++) {
    const high = Math.max(1, size * Math.min(drawn - place, 1));
    context.fillRect(across(place), under(place) + size - high, size, high);
  }
  context.strokeStyle = palette.waiting;
  context.lineWidth = 1;
  for (let place = Math.ceil(drawn); place < Math.min(Math.ceil(drawn) + held, room); place++) {
    context.strokeRect(across(place) + 0.5, under(place) + 0.5, size - 1, size - 1);
  }
  if (!more) return;
  context.font = `10px ${FONT}`;
  context.textAlign = "right";
  context.fillStyle = palette.faint;
  context.fillText(`+${all - Math.floor(drawn)}`, inner.x + inner.width, y + (lines - 1) * step + Math.min(size, 8));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Box} box
 * @param {number} node
 * @param {NodeState} state
 * @param {Palette} palette
 * @param {boolean} selected
 * @param {number} most tasks that the scale shows
 */
export function drawTile(context, box, node, state, palette, selected, most) {
  const tasks = state.tasks[node];
  const colour = tasks ? onRamp(palette.ramp, (tasks - 1) / Math.max(most - 1, 1)) : palette.track;
  context.fillStyle = palette.ground;
  context.fillRect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
  context.fillStyle = colour;
  context.fillRect(box.x, box.y, box.width, box.height);
  if (state.isDown(node)) {
    context.strokeStyle = palette.down;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(box.x + 2, box.y + 2);
    context.lineTo(box.x + box.width - 2, box.y + box.height - 2);
    context.stroke();
  }
  if (tasks && box.width >= 20 && box.height >= 14) {
    context.font = `600 11px ${FONT}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = inkOn(colour);
    context.fillText(String(tasks), box.x + box.width / 2, box.y + box.height / 2 + 0.5);
  }
  if (selected) {
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.strokeRect(box.x, box.y, box.width, box.height);
  }
}
