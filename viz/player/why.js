/** What is selected: the move and why, a task's life, a node's life, a job. */

import { el, fill } from "./dom.js";
import { didNotPay, factsOf, lossesOf } from "./facts.js";
import { endOfTask, nodeWords, partsOfTask, stepsOfTask, timeBar } from "./lives.js";
import { FILTERS } from "./happenings.js";
import { KIND, OUTCOME } from "./recording.js";
import { ageWords, fateWords, kindWords, payWords, ruleWords, whatHappens, whyWords } from "./sentences.js";
import { duration, measured, moment, plain } from "./words.js";

/** @typedef {import("./colours.js").Palette} Palette */
/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./view.js").View} View */

const MOST_TASKS = 60;

export class Why {
  /**
   * @param {View} view
   * @param {import("./events.js").Events} events
   * @param {import("./tally.js").Tally} tally
   * @param {import("./acts.js").Acting | null} acting
   */
  constructor(view, events, tally, acting) {
    this.acting = acting;
    this.view = view;
    this.tally = tally;
    this.events = events;
    this.body = el("div", { class: "body", tabindex: "0", role: "group", "aria-label": "What is selected" });
    this.element = el("section", { class: "panel why", "aria-label": "What is selected and why" }, this.body);
  }

  /** @param {Palette} palette */
  draw(palette) {
    const { view } = this;
    const { selection } = view;
    this.palette = palette;
    this.body.scrollTop = 0;
    // A link that is pressed here is replaced: the focus stays in the panel.
    const root = /** @type {ShadowRoot | Document} */ (this.body.getRootNode());
    const isHere = this.body.contains(root.activeElement);
    if (!selection) fill(this.body, ...this.#nothing());
    else if (selection.kind === "decision") fill(this.body, ...this.#decision(selection.run, selection.id, palette));
    else if (selection.kind === "task") fill(this.body, ...this.#task(selection.run, selection.id, palette));
    else if (selection.kind === "job") fill(this.body, ...this.#job(selection.run, selection.id));
    else fill(this.body, ...this.#node(selection.id, palette));
    if (this.acting) this.body.append(this.acting.element(view));
    if (isHere) this.body.focus({ preventScroll: true });
  }

  #nothing() {
    const first = FILTERS.filter(([word]) => word && this.events.count(word));
    return [
      el("h2", { text: "Nothing is selected" }),
      el("p", {
        text: first.length
          ? "Click a dot, a bar, a node or an event. The key n goes to the next move."
          : "No task moves in this run. Click a bar or a node.",
      }),
      first.length ? el("p", { text: "Or begin with the first one of a kind:" }) : null,
      el(
        "div",
        { class: "first" },
        ...first.map(([word, name]) =>
          el("button", {
            type: "button",
            class: "plain",
            text: `${name} (${this.events.count(word).toLocaleString("en")})`,
            onclick: () => this.events.first(word),
          }),
        ),
      ),
      this.tally.element,
      ...this.view.recordings.map((one) =>
        el(
          "p",
          { class: "about" },
          el("b", { text: `${one.policy}: ` }),
          String(one.header.policy?.summary ?? ""),
          one.header.policy?.source ? el("span", { class: "paper", text: ` ${one.header.policy.source}` }) : null,
        ),
      ),
    ];
  }

  /**
   * @param {number} run
   * @param {number} row
   * @param {Palette} palette
   */
  #decision(run, row, palette) {
    const { view } = this;
    const recording = view.recordings[run];
    const facts = factsOf(recording, row);
    const kind = kindWords(facts);
    const lost = facts.task < recording.tasks && lossesOf(recording, facts.task).length > 0;
    const tags = [el("span", { class: `tag ${kind.replace(/ /g, "-")}`, text: kind })];
    if (didNotPay(recording, row)) tags.push(el("span", { class: "tag unpaid", text: "did not pay" }));
    if (lost)
      tags.push(
        el("span", {
          class: "tag lost",
          text: recording.taskOf(facts.task).outcome === OUTCOME.lost ? "lost" : "its node failed",
        }),
      );
    const pays = payWords(recording, facts);
    const { job } = facts.fate ?? { job: -1 };
    return [
      el("div", { class: "tags" }, ...tags, el("span", { class: "when", text: moment(facts.time) }), this.#run(run)),
      el("h2", { text: whatHappens(recording, facts) }),
      el("p", { class: "because", text: whyWords(recording, facts) }),
      el(
        "p",
        { class: pays.includes("did not") ? "fate bad" : "fate" },
        fateWords(recording, facts),
        pays ? ` ${pays}` : "",
      ),
      facts.kind === KIND.stays ? null : this.#table(recording, facts),
      el("h3", { text: "Rule and answer" }),
      el(
        "p",
        {},
        el("b", { text: facts.rule }),
        ruleWords(recording, facts) ? `: ${ruleWords(recording, facts)}. ` : ". ",
        el("span", { class: "paper", text: facts.lines || String(recording.header.policy?.source ?? "") }),
      ),
      facts.kind === KIND.stays ? null : el("p", { text: this.#answer(recording, facts) }),
      el("h3", { text: "The task's life" }),
      ...(facts.fate
        ? [
            timeBar(partsOfTask(recording, facts.task), palette, "Where its time went"),
            stepsOfTask(view, run, facts.task),
          ]
        : []),
      el(
        "p",
        { class: "more" },
        this.#link(`Job ${recording.jobNumber(job)}`, () => view.select({ run, kind: "job", id: job })),
        " ",
        this.#link(recording.nodeName(facts.source), () => view.select({ run, kind: "node", id: facts.source })),
        " ",
        this.#link(recording.nodeName(facts.target), () => view.select({ run, kind: "node", id: facts.target })),
      ),
    ];
  }

  /**
   * What the manager believed, and what was true.
   * @param {Recording} recording
   * @param {Facts} facts
   */
  #table(recording, facts) {
    const { index, believed, here, there, age, staying, moving, cost, saves } = facts;
    const [words, unit] = recording.indexWords(index);
    const [from, to] = [recording.nodeName(facts.source), recording.nodeName(facts.target)];
    const body = el("tbody");
    /** @param {string} name @param {number} one @param {number} other @param {string} of @param {string} [how] */
    const row = (name, one, other, of, how = "") => {
      if (!Number.isFinite(one) && !Number.isFinite(other)) return;
      body.append(
        el(
          "tr",
          { class: how },
          el("th", { scope: "row", text: name }),
          el("td", { text: measured(one, of) }),
          el("td", { text: measured(other, of) }),
        ),
      );
    };
    row(`believed: ${words || "load"}`, believed.here, believed.there, unit, "believed");
    row(`true: ${words}`, here.index, there.index, unit, "true");
    if (index !== "tasks") row("true: tasks", here.tasks, there.tasks, "tasks");
    if (index !== "cpu_ms") row("true: CPU work waiting", here.cpu_ms, there.cpu_ms, "ms");
    if (index !== "io_ms") row("true: disk work waiting", here.io_ms, there.io_ms, "ms");
    if (index !== "page_ms" && (here.page_ms || there.page_ms))
      row("true: paging work waiting", here.page_ms, there.page_ms, "ms");
    if (index !== "memory_mb") row("true: memory demand", here.memory_mb, there.memory_mb, "MB");
    row("estimate: time to its end", staying, moving, "ms", "estimate");
    const notes = [ageWords(recording, facts)];
    const gap = Math.max(Math.abs(believed.there - there.index), Math.abs(believed.here - here.index));
    if (Number.isFinite(gap))
      notes.push(
        gap > 0.005 * Math.max(1, Math.abs(there.index))
          ? "What it believed was not what was true."
          : "What it believed was true.",
      );
    if (Number.isFinite(cost))
      notes.push(
        `The move costs ${duration(cost)}${Number.isFinite(saves) ? ` and saves ${duration(saves)} by the estimate` : ""}.`,
      );
    if (Number.isFinite(facts.enters)) notes.push(`The way took ${duration(facts.enters - facts.leaves)}.`);
    if (!Number.isFinite(age) && !Number.isFinite(believed.there)) notes.shift();
    return el(
      "div",
      {},
      el(
        "table",
        { class: "loads" },
        el(
          "thead",
          {},
          el("tr", {}, el("td"), el("th", { scope: "col", text: from }), el("th", { scope: "col", text: to })),
        ),
        body,
      ),
      el("p", { class: "note", text: notes.join(" ") }),
    );
  }

  /**
   * @param {Recording} recording
   * @param {Facts} facts
   */
  #answer(recording, { target, accepted, reason, leaves, enters }) {
    const to = recording.nodeName(target);
    if (!accepted) return `Answer: ${to} refused${reason ? `: ${reason}` : ""}.`;
    if (!Number.isFinite(leaves)) return `Answer: ${to} accepted.`;
    return `Answer: ${to} accepted; the task set out at ${moment(leaves)}${Number.isFinite(enters) ? ` and was there at ${moment(enters)}` : " and never got there"}.`;
  }

  /**
   * @param {number} run
   * @param {number} task row
   * @param {Palette} palette
   */
  #task(run, task, palette) {
    const { view } = this;
    const recording = view.recordings[run];
    const found = recording.taskOf(task);
    const { start, rows } = recording.decisionsOfTask;
    const about = [...rows.subarray(start[task], start[task + 1])];
    const moving = about.filter((row) => recording.decisions.kind[row] !== KIND.stays);
    const losses = lossesOf(recording, task);
    return [
      el(
        "div",
        { class: "tags" },
        el("span", { class: "tag", text: `task ${found.task}` }),
        losses.length
          ? el("span", { class: "tag lost", text: found.outcome === OUTCOME.lost ? "lost" : "its node failed" })
          : null,
        this.#run(run),
      ),
      el("h2", { text: endOfTask(view, run, task) }),
      timeBar(partsOfTask(recording, task), palette, "Where its time went"),
      stepsOfTask(view, run, task),
      moving.length ? el("h3", { text: "Decisions to move it" }) : null,
      ...moving.slice(0, 20).map((row) => {
        const facts = factsOf(recording, row);
        return el(
          "p",
          { class: "decision" },
          this.#link(`${moment(facts.time)} ${whatHappens(recording, facts)}`, () =>
            view.select({ run, kind: "decision", id: row }, facts.time),
          ),
          " ",
          whyWords(recording, facts),
        );
      }),
      el(
        "p",
        { class: "more" },
        this.#link(`Job ${recording.jobNumber(found.job)}`, () => view.select({ run, kind: "job", id: found.job })),
        " ",
        this.#link("Its events", () => this.events.filter(`task ${found.task}`)),
      ),
    ];
  }

  /**
   * @param {number} run
   * @param {number} job row
   */
  #job(run, job) {
    const { view } = this;
    const recording = view.recordings[run];
    const { columns } = recording.tables.jobs;
    const tasks = [...Array(recording.tasks).keys()].filter((row) => recording.tables.tasks.columns.job[row] === job);
    const demands = [
      `${duration(columns.cpu_ms[job])} of CPU each`,
      `${plain(columns.io_per_ms[job])} disk requests per ms of CPU`,
      `${plain(columns.memory_mb[job])} MB`,
    ];
    return [
      el(
        "div",
        { class: "tags" },
        el("span", { class: "tag", text: `job ${recording.jobNumber(job)}` }),
        this.#run(run),
      ),
      el("h2", {
        text: `Job ${recording.jobNumber(job)} was submitted on ${recording.nodeName(columns.home[job])} at ${moment(columns.arrival[job] * recording.tick)}.`,
      }),
      el("p", { text: `${tasks.length === 1 ? "1 task" : `${tasks.length} tasks`}: ${demands.join(", ")}.` }),
      el(
        "ol",
        { class: "steps" },
        ...tasks.slice(0, MOST_TASKS).map((row) => {
          const task = recording.taskOf(row);
          return el(
            "li",
            {},
            this.#link(`task ${task.task}`, () => view.select({ run, kind: "task", id: row }, task.arrival)),
            el("span", {
              class: "long",
              text: `${duration(task.response)} on ${recording.nodeName(task.node)}${task.migrations ? `, migrated ${task.migrations === 1 ? "once" : `${task.migrations} times`}` : ""}`,
            }),
          );
        }),
        tasks.length > MOST_TASKS ? el("li", { text: `and ${tasks.length - MOST_TASKS} more` }) : null,
      ),
      el(
        "p",
        { class: "more" },
        this.#link("Its events", () => this.events.filter(`job ${recording.jobNumber(job)}`)),
      ),
    ];
  }

  /**
   * @param {number} node
   * @param {Palette} palette
   */
  #node(node, palette) {
    const { view } = this;
    const { recordings } = view;
    if (node >= recordings[0].nodes) return this.#nothing();
    return [
      el("div", { class: "tags" }, el("span", { class: "tag", text: "node" })),
      el("h2", { text: recordings[0].nodeName(node) }),
      ...recordings.flatMap((recording, run) => {
        const { sums, text } = nodeWords(recording, node);
        return [
          recordings.length > 1 ? el("h3", { text: this.view.names[run] }) : null,
          el("p", { text }),
          timeBar(sums.times, palette, "Where the time of its tasks went"),
        ];
      }),
      el(
        "p",
        { class: "more" },
        this.#link("Its events", () => this.events.filter(`node ${node}`)),
      ),
    ];
  }

  /** @param {number} run */
  #run(run) {
    return this.view.recordings.length > 1 ? el("span", { class: "of-run", text: this.view.names[run] }) : null;
  }

  /** @param {string} text @param {() => void} go */
  #link(text, go) {
    return el("button", { type: "button", class: "link", text, onclick: go });
  }
}
