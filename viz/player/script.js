/** The acts of a run's script, in words; runs of one policy are named by them. */

import { counted, moment, plain } from "./words.js";

/** @typedef {import("./recording.js").Recording} Recording */
/**
 * A table of a script, as in a scenario file.
 * @typedef {{at_s: number, act: string, node?: number, job?: number, task?: number, device?: string, factor?: number}} Act
 */
/** @typedef {Act & {entry: number, done: boolean, why_not: string}} Outcome */

/**
 * The acts of a recording, in the order of their times; what is none is left out.
 * @param {Recording} recording
 * @returns {Outcome[]}
 */
export function actsOf(recording) {
  const given = recording.header.summary?.acts;
  if (!Array.isArray(given)) return [];
  return given.filter(
    (one) => one && Number.isFinite(one.at_s) && typeof one.act === "string" && Number.isInteger(one.entry),
  );
}

/**
 * An act in words: "node 18 fails".
 * @param {Act} act
 * @param {(node: number) => string} nameOf
 */
export function actWords(act, nameOf) {
  const node = act.node === undefined ? "" : nameOf(act.node);
  const device = { cpu: "the CPU", link: "the links" }[act.device ?? ""] ?? "the disk";
  const words = {
    fail: `${node} fails`,
    drain: `${node} drains`,
    recover: `${node} recovers`,
    slow: `${device} of ${node} ${act.device === "link" ? "have" : "has"} ${plain(100 * (act.factor ?? 1))} % of the speed`,
    kill: `job ${act.job} is killed`,
    send: `task ${act.task} is offered to ${node}`,
    arrivals: `jobs arrive ${plain(act.factor ?? 1)} times as fast`,
  };
  return /** @type {Record<string, string>} */ (words)[act.act] ?? act.act;
}

/**
 * How the runs are called that are seen: by their policies, of the same policy by their acts.
 * @param {Recording[]} recordings
 */
export function namesOf(recordings) {
  if (recordings.length < 2 || recordings[0].policy !== recordings[1].policy)
    return recordings.map((one) => one.policy);
  return recordings.map((one) => {
    const acts = actsOf(one).length;
    return `${one.policy}, ${acts ? `with ${counted(acts, "act")}` : "without acts"}`;
  });
}

/**
 * When two runs of one policy part: at the first act that one of them has and the other has not [ms].
 * @param {Recording[]} recordings
 * @returns {number | null} null: there is none
 */
export function firstAct(recordings) {
  const [one, other] = recordings.map((recording) => {
    const acts = actsOf(recording).filter((act) => act.done);
    return new Map(acts.map((act) => [JSON.stringify({ ...act, entry: 0 }), act.at_s * 1000]));
  });
  const differ = [...[...one].filter(([key]) => !other.has(key)), ...[...other].filter(([key]) => !one.has(key))].map(
    ([, at]) => at,
  );
  return differ.length ? Math.min(...differ) : null;
}

/** @param {number} time [ms] */
export const firstWords = (time) => `First different event at ${moment(time)}`;

/**
 * Why a task was killed: by an act of the script or of an agent, or because it found no memory.
 * @param {Recording} recording
 * @param {number} task row
 */
export function killedBy(recording, task) {
  const job = recording.jobNumber(recording.tables.tasks.columns.job[task]);
  const isDone = actsOf(recording).some((act) => act.act === "kill" && act.job === job && act.done);
  if (isDone) return "by an act of the script";
  const { jobs_killed: killed } = recording.header;
  return Array.isArray(killed) && killed.includes(job) ? "by an act of an agent" : "for want of memory";
}
