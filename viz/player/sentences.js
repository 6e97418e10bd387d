/** Decisions and ends in sentences with their numbers. */

import { KIND, OUTCOME } from "./recording.js";
import { didNotPay, lostWith } from "./facts.js";
import { killedBy } from "./script.js";
import { capital, counted, duration, measured, moment, plain } from "./words.js";

/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./recording.js").Recording} Recording */

/** Loads in ms, of which the one that differs most tells why. @type {["io_ms" | "cpu_ms" | "page_ms", string][]} */
const WORK = [
  ["io_ms", "disk work waiting"],
  ["cpu_ms", "CPU work waiting"],
  ["page_ms", "paging work waiting"],
];

/**
 * What it was, in a word or two.
 * @param {Facts} facts
 */
export function kindWords({ kind, accepted }) {
  if (kind === KIND.stays) return "stays";
  if (!accepted) return "refused";
  return kind === KIND.starts ? "remote start" : kind === KIND.migrates ? "migration" : "starts again";
}

/**
 * Which task, from where to where, and how.
 * @param {Recording} recording
 * @param {Facts} facts
 */
export function whatHappens(recording, facts) {
  const [from, to] = [recording.nodeName(facts.source), recording.nodeName(facts.target)];
  const who = `Task ${facts.number}`;
  if (facts.kind === KIND.stays) return `${who} stays on ${from}.`;
  if (!facts.accepted) {
    const wish =
      facts.kind === KIND.migrates
        ? "would have migrated"
        : facts.kind === KIND.recovers
          ? "would have started again"
          : "would have started";
    return `${capital(to)} refuses task ${facts.number}: it ${wish} there from ${from}.`;
  }
  if (facts.kind === KIND.starts) return `${who} starts on ${to}, not on its home, ${from}.`;
  if (facts.kind === KIND.migrates) return `${who} migrates while it runs, from ${from} to ${to}.`;
  return `${who} starts again on ${to}: its node has failed.`;
}

/**
 * Why, with the numbers.
 * @param {Recording} recording
 * @param {Facts} facts
 */
export function whyWords(recording, facts) {
  const [from, to] = [recording.nodeName(facts.source), recording.nodeName(facts.target)];
  if (facts.kind === KIND.stays) return staysWords(recording, facts, from);
  const { cost, saves } = facts;
  const loads = loadWords(recording, facts, from, to);
  /** @type {string[]} */
  const worth = [];
  if (Number.isFinite(cost)) worth.push(`moving costs ${duration(cost)}`);
  if (Number.isFinite(saves)) worth.push(saves >= 0 ? `saves ${duration(saves)}` : `loses ${duration(-saves)}`);
  if (!worth.length && Number.isFinite(facts.enters))
    worth.push(`the way takes ${duration(facts.enters - facts.leaves)}`);
  return capital([loads, worth.join(" and ")].filter(Boolean).join("; ")) + ".";
}

/**
 * @param {Recording} recording
 * @param {Facts} facts
 * @param {string} from
 * @param {string} to
 */
function loadWords(recording, { index, believed, here, there }, from, to) {
  const [words, unit] = recording.indexWords(index);
  if (unit && Number.isFinite(believed.here) && Number.isFinite(believed.there)) {
    return `${from} has ${amount(believed.here, unit, words)}, ${to} has ${measured(believed.there, unit)}`;
  }
  let best = WORK[0];
  for (const one of WORK)
    if (Math.abs(here[one[0]] - there[one[0]]) > Math.abs(here[best[0]] - there[best[0]])) best = one;
  if (Number.isFinite(here[best[0]]))
    return `${from} has ${amount(here[best[0]], "ms", best[1])}, ${to} has ${measured(there[best[0]], "ms")}`;
  if (Number.isFinite(here.tasks))
    return `${from} has ${counted(here.tasks, "task")}, ${to} has ${here.tasks === there.tasks ? "as many" : there.tasks}`;
  return "";
}

/** "9.8 s of disk work waiting", "5 tasks", "no disk work waiting".
 * @param {number} value
 * @param {string} unit
 * @param {string} words
 */
function amount(value, unit, words) {
  if (unit === "tasks") return words === "tasks" ? counted(value, "task") : `${plain(value)} ${words}`;
  return unit === "ms" && value === 0 ? `no ${words}` : `${measured(value, unit)} of ${words}`;
}

/**
 * @param {Recording} recording
 * @param {Facts} facts
 * @param {string} from
 */
function staysWords(recording, facts, from) {
  const [words, unit] = recording.indexWords(facts.index);
  const parts = [facts.reason || "No other node is better"];
  if (unit && Number.isFinite(facts.believed.here))
    parts.push(`${from} has ${amount(facts.believed.here, unit, words)}`);
  if (Number.isFinite(facts.staying) && Number.isFinite(facts.moving)) {
    parts.push(
      `staying takes ${duration(facts.staying)}, moving ${duration(facts.moving + (Number.isFinite(facts.cost) ? facts.cost : 0))}`,
    );
  }
  return `${capital(parts.join("; "))}.`;
}

/**
 * The rule's words; "busiest" gets its number.
 * @param {Recording} recording
 * @param {Facts} facts
 */
export function ruleWords(recording, { ruleWords: words, believed, index, reason }) {
  const [, unit] = recording.indexWords(index);
  const most = Number.isFinite(believed.here) && unit ? ` (${measured(believed.here, unit)})` : "";
  const said = words.replace(
    /home's (CPU|disk) is busiest/,
    (_, device) => `home has the most ${device} work waiting of all ${recording.nodes} nodes${most}`,
  );
  return said || reason;
}

/**
 * How old what the manager knew of the target was.
 * @param {Recording} recording
 * @param {Facts} facts
 */
export function ageWords(recording, { age, target, time }) {
  const to = recording.nodeName(target);
  if (!Number.isFinite(age)) return `${capital(to)} had not reported before ${moment(time)}.`;
  if (age === 0) return `The manager knew the loads of this moment.`;
  return `The report of ${to} was ${duration(age)} old.`;
}

/**
 * What became of the task.
 * @param {Recording} recording
 * @param {Facts} facts
 */
export function fateWords(recording, { fate, time, task }) {
  if (!fate) return "Nothing is known of the task.";
  const after = duration(fate.finish - time);
  const where = recording.nodeName(fate.node);
  if (fate.outcome === OUTCOME.open) return `It is still running at the end of the recording, ${after} later.`;
  if (fate.outcome === OUTCOME.killed) return `It was killed ${killedBy(recording, task)} ${after} later, on ${where}.`;
  if (fate.outcome === OUTCOME.lost) return `It was lost ${lostWith(recording, task)}, ${after} later.`;
  const again = fate.restarts
    ? ` It had to start again ${fate.restarts === 1 ? "once" : `${fate.restarts} times`}, as its node failed.`
    : "";
  return `It finished ${after} later, at ${moment(fate.finish)} on ${where}; slowdown ${plain(fate.slowdown)}.${again}`;
}

/**
 * Whether the move paid, by the decision's own estimate; "" where there is none.
 * @param {Recording} recording
 * @param {Facts} facts
 */
export function payWords(recording, facts) {
  const { fate, staying, time, row } = facts;
  if (
    !fate ||
    facts.kind === KIND.stays ||
    !facts.accepted ||
    !Number.isFinite(staying) ||
    fate.outcome === OUTCOME.open
  )
    return "";
  const took = fate.finish - time;
  if (didNotPay(recording, row)) {
    return `The move did not pay: staying was estimated at ${duration(staying)}, the task took ${duration(took)}, ${duration(took - staying)} more.`;
  }
  return `The move paid: staying was estimated at ${duration(staying)}, the task took ${duration(took)}.`;
}

/**
 * One line for lists.
 * @param {Facts} facts
 * @param {Recording} recording
 */
export function shortWords(recording, facts) {
  if (!facts.accepted || facts.kind === KIND.stays) return facts.reason || facts.rule;
  if (didNotPay(recording, facts.row)) return "did not pay";
  if (Number.isFinite(facts.saves)) return `saves ${duration(facts.saves)}`;
  const [, unit] = recording.indexWords(facts.index);
  if (Number.isFinite(facts.believed.here))
    return `${measured(facts.believed.here, unit)} against ${measured(facts.believed.there, unit)}`;
  return facts.rule;
}
