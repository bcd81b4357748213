// Opening one's own earlier judgements: those of this page first, then those that the server has.

import { Refused } from "./api.js";
import { announce } from "./dom.js";
import { gradeName } from "./grades.js";
import { locale, t } from "../words.js";

export class Review {
  /** `open`: OpenPair. `show(pair, {record})`: on the page; `advance()`: to the next document; `onFail(error)`: the server could not be asked.
   * Also `trail`, `api`, `outbox`, `leases`, `bar`, `banners`, `scale`. */
  constructor({ open, ...parts }) {
    Object.assign(this, { page: open, ...parts });
  }

  back() {
    return this.open(this.trail.before);
  }
  forward() {
    return this.open(this.trail.place + 1);
  }

  /** Opens the judgement at a place of the trail; -1: the one before all of them. */
  async open(place) {
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
      this.#show(place);
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

  /** A pair that was put aside, by a new lease, unless others judge it meanwhile. */
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

  /** Undo of Later: the document is there again, and the one on the page waits behind it. */
  async #comeBack({ pair, key }) {
    if (await this.outbox.cancel(key))
      this.#showAgain(pair); // the server has not heard of it
    else await this.takeUp(pair.pair);
  }

  /** Puts judgements from the server before those of the trail. Resolves to how many. */
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

  #show(place) {
    this.page.setAside();
    this.trail.place = place;
    this.bar.hideToast();
    const { grade, reason, at, pair } = this.trail.open;
    this.show(pair, { record: this.trail.open });
    const name = gradeName(this.scale, grade, reason);
    const time = new Date(at).toLocaleTimeString(locale, {
      hour: "2-digit",
      minute: "2-digit",
    });
    this.banners.show("review", {
      tone: "info",
      text: `${grade === null ? t("You answered “{answer}” at {time}.", { answer: name, time }) : t("You judged this as {grade} at {time}.", { grade: name, time })} ${t("Press a grade to change it. The earlier grade is kept as a version.")}`,
      actions: [
        { label: t("Back to the current document"), action: "leave-review" },
      ],
    });
    announce(
      `${t("Reopened.")} ${grade === null ? t("You answered {answer}.", { answer: name }) : t("You judged this as {grade}.", { grade: name })} ${t("Press a grade to change it, or Esc to go back.")}`,
    );
  }

  /** What was put aside is there again. */
  #showAgain(pair) {
    this.page.setAside();
    this.trail.leave();
    this.leases.comeBack(pair);
    this.show(pair);
    this.bar.toast(t("Reopened. The other document comes next."));
  }
}
