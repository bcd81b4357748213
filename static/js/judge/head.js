// The header: campaign, progress, deadline, and whether all answers are saved.

import { byId, make } from "./dom.js";
import { locale, number, t } from "../words.js";

const CHIP = {
  loading: () => t("Loading"),
  saved: () => t("Saved"),
  saving: () => t("Saving"),
  waiting: (n) => t("{n} waiting", { n: number(n) }),
  failed: (n) => t("{n} not sent, retrying", { n: number(n) }),
  "signed-out": (n) => t("{n} waiting for sign-in", { n: number(n) }),
};

const FRESH_MS = 1500;

function distance(ms) {
  const minutes = Math.round(ms / 60000);
  if (minutes < 1) return t("less than a minute");
  if (minutes < 100) return t("{n} min", { n: minutes });
  const hours = Math.round(minutes / 60);
  return hours < 48
    ? t("{n} h", { n: hours })
    : t("{n} d", { n: Math.round(hours / 24) });
}

export class Head {
  constructor() {
    this.deadline = null;
    this.progress = null;
    this.part = Infinity; // number of pairs that one annotator can judge, the upper limit of every target
  }

  showProgress(progress, pending) {
    if (progress)
      this.progress = {
        ...progress,
        target:
          progress.target &&
          Math.min(progress.target, Math.max(this.part, progress.judged)),
      };
    if (!this.progress) return;
    const { judged, target, today, daily_limit: limit } = this.progress;
    const done = judged + pending;
    byId("progress-text").textContent = target
      ? `${number(done)}/${number(target)}`
      : t("{n} judged", { n: number(done) });
    const bar = byId("progress-bar");
    bar.hidden = !target;
    if (target)
      Object.assign(bar, { max: target, value: Math.min(done, target) });
    bar.title = limit
      ? t("{n} of {limit} today", { n: today + pending, limit })
      : "";
  }

  /** Returns how many documents of this query follow, null if unknown. */
  showLeft(n) {
    byId("place").textContent =
      n > 0 ? t("{n} more for this query", { n: number(n) }) : "";
  }

  showDeadline(deadline, now) {
    this.deadline = deadline ? new Date(deadline) : null;
    const due = byId("due");
    if (!this.deadline) {
      due.textContent = "";
      return Infinity;
    }
    const left = this.deadline - now;
    const zone =
      new Intl.DateTimeFormat(locale, { timeZoneName: "short" })
        .formatToParts(this.deadline)
        .find((part) => part.type === "timeZoneName")?.value ?? "";
    const when = this.deadline.toLocaleString(locale, {
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      ...(left > 6 * 86400000 ? { day: "numeric", month: "short" } : {}),
    });
    due.textContent =
      left > 0
        ? t("due {when} ({distance})", { when, distance: distance(left) })
        : t("closed {when}", { when });
    due.title = `${this.deadline.toLocaleString(locale)} ${zone}`;
    due.classList.toggle("soon", left < 3600000);
    return left;
  }

  showChip(status, size) {
    const chip = byId("chip");
    clearTimeout(this.timer);
    delete chip.dataset.fresh;
    if (status === "saved" && chip.dataset.status === "saving") {
      chip.dataset.fresh = ""; // phones show the word until the timer ends
      this.timer = setTimeout(() => delete chip.dataset.fresh, FRESH_MS);
    }
    chip.dataset.status = status;
    byId("chip-text").textContent = CHIP[status](size);
    chip.setAttribute(
      "aria-label",
      status === "failed"
        ? `${CHIP.failed(size)}. ${t("Press to try now.")}`
        : CHIP[status](size),
    );
  }

  showTopic(topic, { isNew, label }) {
    byId("query-label").textContent = label;
    const text = byId("query-text");
    text.textContent = topic.text;
    this.showWhole(false);
    const need = byId("need");
    const parts = [
      [t("Description"), topic.description],
      [t("Narrative"), topic.narrative],
    ].filter(([, part]) => part?.trim());
    need.replaceChildren(
      ...parts.flatMap(([name, part]) => [
        make("h3", {}, name),
        make("p", { dir: "auto" }, part),
      ]),
    );
    byId("need-button").hidden = parts.length === 0;
    const strip = text.closest(".query");
    strip.classList.remove("is-new");
    if (isNew) {
      void strip.offsetWidth; // restarts the animation
      strip.classList.add("is-new");
    }
  }

  /** A query that is too long for its lines has a button. */
  measureQuery() {
    const text = byId("query-text"),
      button = byId("query-more");
    if (button.getAttribute("aria-expanded") === "false")
      button.hidden = text.scrollHeight <= text.clientHeight + 1;
  }

  showWhole(whole) {
    const text = byId("query-text"),
      button = byId("query-more");
    text.closest(".query").classList.toggle("whole", whole);
    button.setAttribute("aria-expanded", String(whole));
    button.textContent = whole ? t("Less") : t("More");
    text.tabIndex = whole && text.scrollHeight > text.clientHeight ? 0 : -1; // can be scrolled with the keyboard
    this.measureQuery();
  }

  showNeed(open) {
    const button = byId("need-button");
    byId("need").hidden = !open || button.hidden;
    button.setAttribute("aria-expanded", String(open && !button.hidden));
  }
}
