/** What is seen, in the address: `#t=54.2&sel=job28&zoom=50-60&speed=10`, in a guided scene `&step=3`, too. */

import { firstFrom } from "./search.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Selection} Selection */

const PATTERN = /^(?:([ab]):)?(move|task|node|job)(\d{1,9})$/;

/**
 * @param {Selection} selection tasks are told by their numbers
 * @param {View} view
 */
function selectionWord({ run, kind, id }, view) {
  const which = view.recordings.length > 1 && kind !== "node" ? `${"ab"[run]}:` : "";
  if (kind === "decision") return `${which}move${id}`;
  const { tables } = view.recordings[run];
  if (kind === "job") return `${which}job${tables.jobs.columns.job[id]}`;
  return `${which}${kind}${kind === "task" ? tables.tasks.columns.task[id] : id}`;
}

/**
 * @param {string} word
 * @param {View} view
 * @returns {Selection | null}
 */
function selectionOf(word, view) {
  const found = PATTERN.exec(word);
  if (!found) return null;
  const run = found[1] === "b" ? 1 : 0;
  const recording = view.recordings[run];
  const number = Number(found[3]);
  if (!recording) return null;
  if (found[2] === "move") return number < recording.decisions.rows ? { run, kind: "decision", id: number } : null;
  if (found[2] === "node") return number < recording.nodes ? { run, kind: "node", id: number } : null;
  if (found[2] === "job") {
    const job = firstFrom(recording.tables.jobs.columns.job, number);
    return recording.tables.jobs.columns.job[job] === number ? { run, kind: "job", id: job } : null;
  }
  const row = recording.taskRow(number);
  return row < recording.tasks ? { run, kind: "task", id: row } : null;
}

/** @param {View} view */
export function addressOf(view) {
  const parts = [`t=${+(view.time / 1000).toFixed(3)}`];
  if (view.selection) parts.push(`sel=${selectionWord(view.selection, view)}`);
  if (view.to - view.from < view.end * 0.999)
    parts.push(`zoom=${+(view.from / 1000).toFixed(4)}-${+(view.to / 1000).toFixed(4)}`);
  parts.push(`speed=${view.speed}`);
  if (view.step) parts.push(`step=${view.step}`);
  parts.push(`run=${view.recordings.map((one) => encodeURIComponent(`${one.policy}.${one.header.seed}`)).join("+")}`);
  return `#${parts.join("&")}`;
}

/** What an address says, by name. @param {string} address */
export const partsOf = (address) =>
  new Map(
    address
      .replace(/^#/, "")
      .split("&")
      .map((part) => /** @type {[string, string]} */ ([part.split("=")[0], part.split("=")[1] ?? ""])),
  );

/**
 * @param {View} view
 * @param {string} address
 */
export function readAddress(view, address) {
  const given = partsOf(address);
  const speed = Number(given.get("speed"));
  if (speed > 0) view.setSpeed(speed);
  const time = Number(given.get("t"));
  if (given.has("t") && Number.isFinite(time)) view.seek(time * 1000);
  const [from, to] = (given.get("zoom") ?? "").split("-").map(Number);
  if (to > from && from >= 0) view.window(from * 1000, to * 1000);
  const selection = selectionOf(given.get("sel") ?? "", view);
  if (selection) view.select(selection);
}

/** Where `history` may not be used (in a sandbox) the address itself may; else nothing is kept. @param {string} address */
export function writeAddress(address) {
  if (location.hash === address) return;
  try {
    history.replaceState(null, "", address);
  } catch {
    try {
      location.hash = address;
    } catch {
      // Nothing holds it here.
    }
  }
}
