// Opening of the annotator's earlier judgements: first those of this page, then those on the server.

import { Refused } from "./api.js";
import { announce } from "./dom.js";
import { gradeName } from "./grades.js";
import { locale, t } from "../words.js";

export class Review {
  /**
   * open: OpenPair. show(pair, {record}): shows a pair. advance(): continues with the next
   * document. onFail(error): called if the server cannot be reached. Also `trail`, `api`, `outbox`,
   * `leases`, `bar`, `banners`, `scale`.
   */
  constructor({ open, ...parts }) {
    Object.assign(this, { page: open, ...parts });
  }

  /** Opens the previous judgement at its last question. */
  back() {
    return this.open(this.trail.before, { atEnd: true });
  }
  forward() {
    return this.open(this.trail.place + 1);
  }

  /** Opens the judgement at a position of the trail, -1 for the one before all of them. */
  async open(place, { atEnd = false } = {}) {
    const { records } = this.trail;
    if (place >= records.length) return void this.advance();
    if (place < 0) {
      const n = await this.#fetchOlder();
      if (!n) return void this.bar.toast(t("No earlier document."));
      place += n;
    }
    if (records[place].later)
      return void (await this.#comeBack(records.splice(place, 1)[0]));
    if (!records[place].stub || (await this.#fill(records[place])))
      this.#show(place, { atEnd });
  }

  async openJudgement(id) {
    const { records } = this.trail;
    const place = records.findIndex(
      ({ judgement }) => String(judgement) === String(id),
    );
    if (place >= 0) return void (await this.open(place));
    const record = { judgement: Number(id), stub: true };
    if (!(await this.#fill(record))) return;
    records.unshift(record);
    this.#show(0);
  }

  /** Resumes a skipped pair with a new lease, unless its slots are taken by others. */
  async takeUp(id) {
    try {
      const {
        pairs: [pair],
      } = await this.api.post(`skipped/${id}/resume`);
      this.#showAgain(pair);
    } catch (error) {
      if (error instanceof Refused)
        this.bar.toast(error.said, { tone: "warn" });
      else this.onFail(error);
    }
  }

  /** Undoes a skip: the document is shown again before the current one. */
  async #comeBack({ pair, key }) {
    if (await this.outbox.cancel(key))
      this.#showAgain(pair); // not sent to the server yet
    else await this.takeUp(pair.pair);
  }

  /** Adds judgements from the server before those of the trail. Resolves to their number. */
  async #fetchOlder() {
    const { trail } = this;
    const [first] = trail.records;
    if (first && !first.judgement) return 0; // it has not reached the server yet
    try {
      const { items } = await this.api.get(
        `history?limit=10${first ? `&before=${first.judgement}` : ""}`,
      );
      const stubs = items
        .filter((item) => item.may_revise)
        .map(({ judgement }) => ({ judgement, stub: true }));
      trail.records.unshift(...stubs.reverse());
      trail.isWhole = !stubs.length;
      this.bar.refresh();
      return stubs.length;
    } catch (error) {
      this.onFail(error);
      return 0;
    }
  }

  async #fill(record) {
    try {
      const { pair, judgement } = await this.api.get(
        `history/${record.judgement}`,
      );
      Object.assign(record, {
        pair: { ...pair, lease: null },
        stub: false,
        judgement: judgement.judgement,
        grade: judgement.grade,
        reason: judgement.cannot_reason,
        answers: judgement.answers,
        note: judgement.note,
        spans: judgement.spans,
        at: judgement.judged_at,
      });
      return true;
    } catch (error) {
      this.onFail(error);
      return false;
    }
  }

  #show(place, { atEnd = false } = {}) {
    this.page.setAside();
    this.trail.place = place;
    this.bar.hideToast();
    const { grade, reason, answers, at, pair } = this.trail.open;
    this.show(pair, { record: this.trail.open, atEnd });
    const name = [
      gradeName(this.scale, grade, reason),
      ...this.page.steps.namesOf(answers),
    ].join(" · ");
    const time = new Date(at).toLocaleTimeString(locale, {
      hour: "2-digit",
      minute: "2-digit",
    });
    this.banners.show("review", {
      tone: "info",
      text: `${grade === null ? t("You answered “{answer}” at {time}.", { answer: name, time }) : t("You judged this as {grade} at {time}.", { grade: name, time })} ${t("Press another grade to change it. The earlier one stays in your history.")}`,
      actions: [
        { label: t("Back to the current document"), action: "leave-review" },
      ],
    });
    announce(
      `${t("Reopened.")} ${grade === null ? t("You answered {answer}.", { answer: name }) : t("You judged this as {grade}.", { grade: name })} ${t("Press another grade to change it, or Esc to go back.")}`,
    );
  }

  /** A skipped pair is shown again. */
  #showAgain(pair) {
    this.page.setAside();
    this.trail.leave();
    this.leases.comeBack(pair);
    this.show(pair);
    this.bar.toast(t("Reopened. The other document comes next."));
  }
}
