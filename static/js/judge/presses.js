// Effect of a press: a judgement, a grade that waits for a passage or confirmation, or nothing, if
// it was meant for the previous document.

import { announce } from "./dom.js";
import { bodyOf, entryOf, skipOf } from "./entries.js";
import { REASONS, gradeName } from "./grades.js";
import { label } from "./keyboard.js";
import * as prompts from "./prompts.js";
import { t } from "../words.js";

const NO_TIME = { active_ms: 0, idle_ms: 0, hidden_ms: 0, wall_ms: 0 };
const DOUBLE_MS = 300; // an equal press sooner after a paint was meant for the previous document

export class Presses {
  /**
   * open: OpenPair. input: {at, last, device, pending}, shared with the code that shows documents:
   * time of the press that leads to the next document, the last press, its device, and the chosen
   * grade that lacks a passage or confirmation. setup: {scale, campaign, guideline}. isReady():
   * whether a press applies to the document on the page. isPractice(): whether it is a
   * qualification pair. onFinish(pair): called after an answer, followed by onPractice(grade) or
   * advance(told) to the next document. Also `bar`, `settings`, `trail`, `outbox`, `askNote`.
   */
  constructor(parts) {
    Object.assign(this, parts);
    const { bar, input, open, settings } = parts;
    open.addEventListener("marked", () => {
      const { units, guided } = open.spans;
      if (bar.back) bar.hideToast(); // the mark is the last action
      if (input.pending && (units.length || guided))
        this.#prompt(units.length ? "marked" : "missing");
    });
    open.addEventListener("cursor", () => {
      const { cursor, begun, guided } = open.spans;
      if (begun) prompts.begun({ bar, word: begun });
      else if (guided && !cursor && input.pending)
        this.#prompt(open.spans.units.length ? "marked" : "missing");
      else if (guided && !cursor) prompts.tapping({ bar });
      else if (cursor || !input.pending)
        prompts.choosing({
          bar,
          isChoosing: Boolean(cursor),
          key: settings.keys.span,
        }); // otherwise the message about the grade remains
    });
  }

  /**
   * Returns whether a press is the second half of a double press whose first half led to this
   * document.
   */
  #isEcho(press) {
    const {
      input,
      open: { paintedAt },
    } = this;
    const echo =
      press === input.last &&
      (paintedAt === null ||
        (input.at ?? performance.now()) - paintedAt < DOUBLE_MS);
    input.last = press;
    return echo;
  }

  grade(place, device) {
    const { input } = this,
      grade = this.bar.gradeAt(place);
    if (!grade || !this.isReady() || this.#isEcho(place)) return;
    const isAgain = input.pending === grade;
    Object.assign(input, { device, pending: null });
    if (this.open.steps.onPrimary && this.#lacksSpan(grade)) {
      this.open.focus();
      this.open.spans.guide(true);
      this.#wait(grade, "missing");
    } else if (this.settings.get("confirm") && !isAgain)
      this.#wait(grade, "chosen");
    else this.#answer(grade.value);
  }

  /** Answers the current question. The last answer submits the judgement. */
  #answer(value) {
    const { bar, open } = this,
      { steps } = open;
    if (steps.answer(value))
      return void this.#judge({ grade: steps.grade, answers: steps.answers });
    bar.hideToast(); // the answer is the last action
    bar.say("");
    open.paintedAt = performance.now(); // the second half of a double press is no answer
    open.keepDraft();
  }

  /** Moves to another question about the document. */
  goTo(place) {
    if (!this.isReady()) return;
    Object.assign(this.input, { pending: null, last: null });
    this.bar.leaveReason();
    this.bar.say("");
    this.open.steps.to(place);
  }

  #lacksSpan({ value }) {
    const { spans, spans_from: from } = this.setup.campaign;
    return (
      spans === "required" &&
      value >= from &&
      this.open.spans.units.length === 0
    );
  }

  #wait(grade, why) {
    this.input.pending = grade;
    this.bar.select(grade.value);
    this.#prompt(why);
  }

  #prompt(what) {
    prompts[what]({
      bar: this.bar,
      grade: this.input.pending,
      device: this.input.device,
      key: this.settings.keys.span,
    });
  }

  /** Handles Enter. */
  confirm(device) {
    const { input } = this;
    input.last = null; // not an echo of the grade that it confirms
    if (input.pending && this.isReady())
      this.grade(this.bar.scale.indexOf(input.pending), device);
  }

  /** Handles Esc. */
  cancel() {
    this.input.pending = null;
    this.open.spans.guide(false);
    this.bar.select(this.open.steps.selected);
    this.bar.say("");
  }

  askReason() {
    if (!this.isReady()) return;
    if (this.open.steps.onPrimary) return prompts.reasons({ bar: this.bar });
    if (this.#isEcho("cannot")) return;
    this.input.pending = null;
    this.#answer(null);
  }

  cannot(reason, device) {
    if (!this.isReady()) return;
    Object.assign(this.input, {
      device,
      last: REASONS.findIndex(([value]) => value === reason),
    });
    if (reason === "") return void this.bar.leaveReason();
    if (reason === "other" && !this.open.note.trim())
      return void this.note({ needed: true });
    this.bar.leaveReason();
    this.#judge({ grade: null, reason });
  }

  /** needed: the note is the reason why the document cannot be judged. */
  note({ needed = false } = {}) {
    if (!this.isReady()) return;
    const { open } = this,
      { pair, note } = open,
      isHere = () => open.pair === pair && this.isReady();
    const done = (text) => {
      open.setNote(text);
      if (needed) this.cannot("other", this.input.device);
      else if (open.record) this.#judge(open.record); // saved immediately
    };
    const back = () => {
      if (!isHere()) return;
      open.setNote(note);
      announce(t("Restored."));
      open.focus();
    };
    const left = () => {
      if (!isHere() || open.note === note) return;
      this.bar.toast(t("Note saved."), {
        undo: label(this.settings.keys.undo),
        back,
      });
      announce(t("Note saved."));
    };
    void this.askNote(note, {
      needed,
      keep: (text) => open.setNote(text),
      done,
      left,
    });
  }

  /** Returns the names of a judgement's answers. */
  #name({ grade, reason, answers }) {
    return [
      gradeName(this.setup.scale, grade, reason),
      ...this.open.steps.namesOf(answers),
    ].join(" · ");
  }

  /** Sends a judgement or a revision. */
  #judge({ grade, reason = "", answers = this.open.steps.none }) {
    const {
      bar,
      outbox,
      open: { pair, note, title, record, reader },
    } = this;
    const spans = reason ? [] : this.open.spans.points;
    const body = bodyOf({
      grade,
      reason,
      answers,
      note,
      spans,
      times: reader.clock.read(),
      guidelineVersion: this.#guidelineVersion,
      device: this.input.device,
    });
    const name = this.#name({ grade, reason, answers });
    outbox.add(
      entryOf(body, {
        pair,
        reviewed: record,
        title,
        label: name,
        isWaiting: record && outbox.has(record.key),
      }),
    );
    if (record) return void this.#revised(body, name);
    this.onFinish(pair);
    if (this.isPractice()) {
      // final, because its solution is shown
      announce(`${t("Judged {grade}", { grade: name })}.`);
      return void this.onPractice(grade);
    }
    this.trail.add({
      pair,
      key: body.key,
      judgement: null,
      grade,
      reason,
      answers,
      note,
      spans,
      at: body.judged_at,
    });
    bar.toast(reason ? name : t("Judged {grade}", { grade: name }), {
      undo: label(this.settings.keys.undo),
    });
    this.advance(`${t("Judged {grade}", { grade: name })}. `);
  }

  /** Sends a revision of the open judgement. */
  #revised({ key, grade, cannot_reason: reason, answers, note, spans }, name) {
    const {
      bar,
      settings,
      open: { pair, title, record },
    } = this;
    const before = {
      grade: record.grade,
      reason: record.reason,
      answers: record.answers,
      note: record.note ?? "",
      spans: record.spans ?? [],
    };
    const was = this.#name(before),
      isNoted = note !== before.note;
    const isNew =
      was !== name || isNoted || String(spans) !== String(before.spans);
    const told =
      was !== name
        ? t("Changed to {grade} (was {before})", { grade: name, before: was })
        : isNoted
          ? t("Note saved.")
          : t("Unchanged: {grade}", { grade: name });
    Object.assign(record, {
      key,
      grade,
      reason,
      answers,
      note,
      spans,
      unsaved: undefined,
    });
    bar.toast(
      told,
      isNew
        ? {
            undo: label(settings.keys.undo),
            back: () =>
              this.#putBack({ pair, title, record, before, label: was }),
          }
        : {},
    );
    this.advance(`${told.replace(/\.$/, "")}. `);
  }

  /**
   * Undoes a revision: the previous one is sent again as a further revision, with a duration of
   * zero.
   */
  #putBack({ pair, title, record, before, label: name }) {
    const body = bodyOf({
      ...before,
      times: NO_TIME,
      guidelineVersion: this.#guidelineVersion,
      device: this.input.device,
    });
    this.outbox.add(
      entryOf(body, {
        pair,
        reviewed: record,
        title,
        label: name,
        isWaiting: this.outbox.has(record.key),
      }),
    );
    Object.assign(record, before, { key: body.key });
    this.bar.toast(t("Restored."));
    announce(t("Restored."));
  }

  get #guidelineVersion() {
    return (
      this.setup.guideline?.acknowledged || this.setup.guideline?.number || 0
    );
  }

  later(device) {
    const {
      input,
      open: { pair, record },
    } = this;
    input.at = performance.now();
    if (!this.isReady() || this.#isEcho("later")) return;
    input.device = device;
    if (record) return void this.advance("");
    const skip = skipOf(pair);
    this.trail.add({ pair, key: skip.key, later: true });
    this.outbox.add(skip);
    this.onFinish(pair);
    this.bar.toast(
      t(
        "Skipped. It comes back when nothing else is left. “My judgements” lists it.",
      ),
      { undo: label(this.settings.keys.undo) },
    );
    this.advance(`${t("Skipped for now.")} `);
  }
}
