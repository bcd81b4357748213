// The questions about the document: which one is asked now, and what was answered. The first is the
// primary question, answered with a grade. Most campaigns have no other.

import { announce, make } from "./dom.js";
import { shape } from "./shapes.js";
import { t } from "../words.js";

export const PRIMARY = "relevance";
const NO_ANSWER = "none"; // an optional question was left out

/** Whether a question is asked after this grade (null: cannot judge, undefined: none yet). */
const isAsked = ({ asked_from: from }, grade) =>
  Number.isInteger(grade) && grade >= (from ?? grade);

/** Returns the answers by key as the server stores them: null for "cannot judge". */
const stored = (given) =>
  Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== NO_ANSWER),
  );

export class Steps {
  /** bar: Bar. box, prompt: elements for the steps and the question, null if there are none. */
  constructor({ bar, box = null, prompt = null }) {
    Object.assign(this, { bar, box, prompt, further: [], place: 0, given: {} });
    this.primary = { key: PRIMARY, scale: bar.scale }; // until the setup arrives
  }

  /** setup: {scale, further_questions, campaign: {spans, spans_from}}. */
  begin({ scale, further_questions: further = [], campaign = {} }) {
    const { spans, spans_from: from, task } = campaign;
    const spansFrom = spans === "required" ? from : undefined; // lowest grade that requires a passage
    Object.assign(this, { further, spansFrom });
    this.primary = {
      key: PRIMARY,
      title: t("Relevance"),
      prompt: t("How relevant is this document to the query?"),
      scale:
        task === "preferences"
          ? scale.map((one) => ({ ...one, isApart: true }))
          : scale,
    };
    this.#draw();
  }

  get questions() {
    return [this.primary, ...this.further];
  }
  get current() {
    return this.questions[this.place];
  }
  get onPrimary() {
    return this.place === 0;
  }
  /** The grade, or undefined. */
  get grade() {
    return this.given[PRIMARY];
  }
  /** The answer to the current question, or null. */
  get selected() {
    return this.given[this.current.key] ?? null;
  }
  #isAsked(place) {
    return place === 0 || isAsked(this.further[place - 1], this.grade);
  }
  #isAnswered({ key }) {
    return key in this.given;
  }

  /** The answers to further questions that are asked, undefined in a campaign without them. */
  get answers() {
    if (!this.further.length) return undefined;
    const asked = this.further.filter((one) => isAsked(one, this.grade));
    return stored(
      Object.fromEntries(
        asked
          .filter((one) => this.#isAnswered(one))
          .map(({ key }) => [key, this.given[key]]),
      ),
    );
  }

  /** The answers of a judgement that has none: "cannot judge". */
  get none() {
    return this.further.length ? {} : undefined;
  }

  /** The unfinished answers for a draft, null if there are none. */
  get draft() {
    return this.further.length && Number.isInteger(this.grade)
      ? this.given
      : null;
  }

  /**
   * Starts a document. record: {grade, answers} of an earlier judgement. draft: unfinished answers.
   * atEnd: whether to begin with the last question of the record.
   */
  open({ record = null, draft = null, atEnd = false } = {}) {
    this.isRecord = Boolean(record);
    this.given = { ...draft };
    if (record && Number.isInteger(record.grade)) {
      this.given = { [PRIMARY]: record.grade };
      for (const one of this.further.filter((f) => isAsked(f, record.grade)))
        if (one.key in (record.answers ?? {}))
          this.given[one.key] = record.answers[one.key];
        else if (one.required === false) this.given[one.key] = NO_ANSWER;
    }
    const next = this.#nextOpen();
    this.#go(atEnd ? this.#last : draft && next >= 0 ? next : 0);
  }

  get #last() {
    return this.questions.findLastIndex((one, place) => this.#isAsked(place));
  }
  #nextOpen() {
    return this.questions.findIndex(
      (one, place) => this.#isAsked(place) && !this.#isAnswered(one),
    );
  }

  /** Stores the answer to the current question. Returns whether all questions are answered. */
  answer(value) {
    const { title } = this.current;
    this.given = { ...this.given, [this.current.key]: value };
    const next = this.#nextOpen();
    if (next < 0) return true;
    const name = this.nameOf(this.current, value);
    this.#go(next);
    announce(
      `${t("{question}: {answer}", { question: title, answer: name })}. ${this.#told}`,
    );
    return false;
  }

  /** Returns the next (1) or previous (-1) question that is asked, -1 if there is none. */
  neighbour(by) {
    for (
      let place = this.place + by;
      place >= 0 && place < this.questions.length;
      place += by
    )
      if (this.#isAsked(place)) return place;
    return -1;
  }

  /** Moves to a question. Returns whether it is asked. */
  to(place) {
    if (place < 0 || !this.#isAsked(place)) return false;
    this.#go(place);
    announce(this.#told);
    return true;
  }

  /**
   * Goes back to the previous question, and unless the judgement was sent before, removes its
   * answer. Returns whether there is one.
   */
  undo() {
    if (!this.to(this.neighbour(-1))) return false;
    if (!this.isRecord) {
      const { [this.current.key]: _, ...rest } = this.given;
      this.given = rest;
    }
    this.#draw();
    return true;
  }

  get #told() {
    return `${this.current.title}: ${this.current.prompt}`;
  }

  nameOf({ scale }, value) {
    if (value === null) return t("Cannot judge");
    if (value === NO_ANSWER) return t("No answer");
    return scale.find((one) => one.value === value)?.name ?? String(value);
  }

  /** Returns the names of the answers to further questions, empty if there are none. */
  namesOf(answers) {
    return this.further
      .filter(({ key }) => key in (answers ?? {}))
      .map((one) => this.nameOf(one, answers[one.key]));
  }

  #go(place) {
    this.place = place;
    this.#draw();
  }

  #draw() {
    const { scale, required = true } = this.current;
    const shown = required
      ? scale
      : [...scale, { value: NO_ANSWER, name: t("No answer"), isApart: true }];
    if (this.bar.scale !== scale || !required)
      this.bar.setScale(shown, this.onPrimary ? this.spansFrom : undefined);
    this.bar.select(this.selected);
    if (this.box && this.further.length) this.#drawSteps();
  }

  #drawSteps() {
    this.box.hidden = this.prompt.hidden = false;
    this.box.replaceChildren(
      ...this.questions.map((question, place) =>
        make("li", {}, this.#button(question, place)),
      ),
    );
    this.box.querySelector("[aria-current]")?.scrollIntoView?.({
      block: "nearest",
      inline: "nearest",
    });
    this.prompt.textContent = this.current.prompt;
    this.bar.bar.setAttribute("aria-label", this.current.title);
    document.body.dataset.question = this.current.key;
    for (const part of document.querySelectorAll("#guidelines [data-guide]"))
      part.hidden = part.dataset.guide !== this.current.key;
  }

  #button(question, place) {
    const isNow = place === this.place,
      asked = this.#isAsked(place);
    const isDone = asked && !isNow && this.#isAnswered(question);
    const value = this.given[question.key];
    const at = question.scale.findIndex((one) => one.value === value);
    const state = isNow
      ? "is-current"
      : isDone
        ? "is-answered"
        : !asked && Number.isInteger(this.grade)
          ? "is-left-out"
          : "";
    return make(
      "button.step",
      {
        type: "button",
        class: `step ${state}`,
        "aria-current": isNow ? "step" : null,
        disabled: !asked || null,
        dataset: { step: place },
      },
      isDone && at >= 0 ? shape(question.scale[at].shape, at) : null,
      make("span", { dir: "auto" }, question.title),
      isDone
        ? make("span.value", { dir: "auto" }, this.nameOf(question, value))
        : null,
    );
  }
}
