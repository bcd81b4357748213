// A manager's trial of the judging page. This module replaces the server, and judgements are lost
// when the page is closed.

import { Api, Refused } from "./api.js";
import { uuid } from "./entries.js";
import { t } from "../words.js";

const STILL = 1000; // number of leases the page may request, more than a trial has
const MOST_NEAR = 3;

export class TrialApi extends Api {
  /** trial: URL of the trial's data. */
  constructor({ trial, ...rest }) {
    super(rest);
    this.trial = trial;
  }

  async call(method, path, body) {
    if (path.startsWith("/")) return super.call(method, path, body);
    if (path === "profile") return {}; // settings of a trial are stored only in the browser
    this.beginning ??= this.#begin();
    this.given = await this.beginning; // answers asynchronously, as a server does
    const [address, query = ""] = path.split("?"),
      [what, id, act] = address.split("/");
    const answer =
      this.#answers[`${method} ${what}`]?.(
        id && Number(id),
        body ?? {},
        act ?? query,
      ) ?? {};
    return { ...this.#situation(), pairs: [], ...answer, sentAt: Date.now() };
  }

  async #begin() {
    const given = await super.call("GET", this.trial);
    const now = new Date().toISOString(),
      later = "9999-12-31T23:59:59Z"; // no other annotator waits for them
    this.pairs = given.pairs.map((pair, order) => ({
      ...pair,
      lease: uuid(),
      order,
      served_at: now,
      expires_at: later,
    }));
    for (const pair of this.pairs)
      pair.left_in_topic = this.pairs.filter(
        ({ order, topic, known }) =>
          order > pair.order &&
          topic.id === pair.topic.id &&
          !known === !pair.known,
      ).length;
    this.judged = []; // one list of revisions per pair, in the order of judging
    this.aside = [];
    this.consented = !given.consent_html;
    this.read = !given.guideline;
    return given;
  }

  #of(pairId) {
    return this.judged.find(([{ pair }]) => pair === pairId);
  }
  get #tests() {
    return this.pairs.filter((pair) => pair.known);
  }
  get #open() {
    return this.pairs.filter(({ pair }) => !this.#of(pair));
  }

  #situation() {
    const { guideline, consent_html: consent, needed } = this.given;
    const tests = this.#tests,
      answered = tests.filter(({ pair }) => this.#of(pair));
    const counted = this.judged.filter(
      (versions) =>
        !versions[0].practice && versions.at(-1).status !== "too fast",
    ).length;
    const progress = {
      judged: counted,
      target: this.pairs.length - tests.length,
      today: counted,
      daily_limit: null,
    };
    const says = (state, more = {}) => ({
      state,
      message: "",
      progress,
      server_time: new Date().toISOString(),
      ...more,
    });
    if (!this.consented)
      return says("consent_needed", { consent_html: consent });
    if (!this.read) return says("guideline_changed", { guideline });
    if (answered.length < tests.length)
      return says("qualification", {
        message: t(
          "Start with a short qualification test. Each answer is explained.",
        ),
        judged: answered.length,
        total: tests.length,
        needed,
      });
    return this.#open.length ? says("judging") : says("done", { trial: true });
  }

  #shown({ pair }) {
    const versions = this.#of(pair),
      newest = versions.at(-1);
    const { topic, document, other } = this.pairs.find(
      (one) => one.pair === pair,
    );
    return {
      ...newest,
      judgement: newest.id,
      topic: { id: topic.id, text: topic.text },
      document: { id: document.id, title: document.title },
      ...(other && { other: { id: other.id, title: other.title } }),
      may_revise: !newest.practice,
      revisions: versions,
    };
  }

  #take(pair, body, versions) {
    const before = versions.reduce((sum, { active_ms: ms }) => sum + ms, 0);
    const tooFast =
      !pair.known &&
      body.grade !== null &&
      before + body.active_ms < this.given.min_active_ms;
    const row = {
      id: this.judged.flat().length + 1,
      pair: pair.pair,
      revision: versions.length + 1,
      grade: body.grade,
      cannot_reason: body.cannot_reason,
      answers: body.answers ?? {},
      note: body.note,
      spans: body.spans,
      active_ms: body.active_ms,
      judged_at: body.judged_at,
      practice: Boolean(pair.known),
      late: false,
      after_deadline: false,
      message: "",
      status: tooFast
        ? "too fast"
        : body.grade === null
          ? "cannot judge"
          : "counted",
    };
    versions.push(row);
    this.aside = this.aside.filter((id) => id !== pair.pair);
    if (versions.length === 1) this.judged.push(versions);
    return {
      judgement: row,
      feedback: pair.known ? this.#feedback(pair.known, body.grade) : null,
      ...this.#served(body),
    };
  }

  #feedback({ grade: gold, right, explanation }, grade) {
    const tests = this.#tests,
      { needed } = this.given;
    const answers = tests.flatMap(({ pair, known }) =>
      (this.#of(pair) ?? []).map((row) => known.right.includes(row.grade)),
    );
    const nRight = answers.filter(Boolean).length;
    return {
      right: right.includes(grade),
      grade,
      gold_grade: gold,
      explanation,
      judged: answers.length,
      n_right: nRight,
      total: tests.length,
      needed,
      passed: answers.length < tests.length ? null : nRight >= needed,
    };
  }

  #served({ want = STILL, held = [] }) {
    if (!this.consented || !this.read) return { pairs: [] };
    const practising = this.#tests.some(({ pair }) => !this.#of(pair));
    const free = this.#open.filter(
      (pair) => !held.includes(pair.lease) && (!practising || pair.known),
    );
    const fresh = [
      ...free.filter(({ pair }) => !this.aside.includes(pair)),
      ...free.filter(({ pair }) => this.aside.includes(pair)),
    ];
    return { pairs: fresh.slice(0, Math.max(0, want - held.length)) };
  }

  #again(pairId) {
    const pair = this.pairs.find((one) => one.pair === pairId);
    this.aside = this.aside.filter((one) => one !== pairId);
    return Object.assign(pair, {
      lease: uuid(),
      order: this.pairs.length + this.judged.flat().length + Math.random(),
      skipped_before: true,
    });
  }

  /**
   * Returns up to three near-duplicates among the graded documents of the topic (no too fast or
   * qualification judgements), most similar first, and the last judged first among ties.
   */
  #nearTo(pairId) {
    const found = this.pairs
      .find(({ pair }) => pair === pairId)
      .near.flatMap(({ pair, resemblance }) => {
        const newest = this.#of(pair)?.at(-1);
        if (!newest || newest.grade === null || newest.status === "too fast")
          return [];
        return [
          {
            resemblance,
            document: this.pairs.find((one) => one.pair === pair).document,
            judgement: this.#shown(newest),
            at: newest.id,
          },
        ];
      });
    return found
      .sort((a, b) => b.resemblance - a.resemblance || b.at - a.at)
      .slice(0, MOST_NEAR)
      .map(({ at, ...item }) => item);
  }

  #history(query) {
    const all = query.has("before")
      ? []
      : this.judged.map(([row]) => this.#shown(row)).reverse();
    return query.has("topic")
      ? all.filter(({ topic }) => topic.id === query.get("topic"))
      : all;
  }

  #versionsOf(id) {
    const found = this.judged.find((versions) =>
      versions.some((row) => row.id === id),
    );
    if (!found)
      throw new Refused(
        404,
        "judgement_unknown",
        t("Judgement not found."),
        null,
      );
    return found;
  }

  #answers = {
    "GET setup": () => ({
      ...this.given,
      guideline: this.given.guideline && {
        ...this.given.guideline,
        acknowledged: 0,
      },
      pseudonym: "trial",
      feedback_given: true,
      has_judged: false,
      messages: [],
      pairs: [],
    }),
    "POST consent": () => {
      this.consented = true;
    },
    "POST guideline": () => {
      this.read = true;
    },
    "POST leases": (id, body) =>
      "want" in body ? this.#served(body) : { leases: {} },
    "POST judgements": (id, body, act) => {
      if (!act)
        return this.#take(
          this.pairs.find(({ lease }) => lease === body.lease),
          body,
          [],
        );
      const versions = this.#versionsOf(id);
      return this.#take(
        this.pairs.find(({ pair }) => pair === versions[0].pair),
        body,
        versions,
      );
    },
    "POST skip": (id, body) => {
      const { pair } = this.pairs.find(({ lease }) => lease === body.lease);
      this.#again(pair);
      this.aside.push(pair);
      return this.#served(body);
    },
    "GET pairs": (id) => ({ items: this.#nearTo(id) }),
    "GET questions": () => ({ items: this.questions ?? [] }),
    "POST questions": (id, { pair: pairId, text }) => {
      const { topic, document } = this.pairs.find(
        ({ pair }) => pair === pairId,
      );
      this.questions = [
        {
          id: 0,
          pair: pairId,
          topic,
          document,
          text,
          answer: t("This is a trial. The question was not sent to a manager."),
          answered_at: new Date().toISOString(),
          is_read: true,
        },
        ...(this.questions ?? []),
      ];
      return { items: this.questions };
    },
    "GET skipped": () => ({
      items: this.aside
        .map((id) => this.pairs.find(({ pair }) => pair === id))
        .reverse(),
    }),
    "POST skipped": (id) => ({ pairs: [this.#again(id)] }),
    "GET history": (id, body, query) => {
      if (!id) return { items: this.#history(new URLSearchParams(query)) };
      const [row] = this.#versionsOf(id),
        shown = this.#shown(row);
      return {
        pair: {
          ...this.pairs.find(({ pair }) => pair === row.pair),
          lease: null,
          previous: shown,
        },
        judgement: shown,
      };
    },
  };
}
