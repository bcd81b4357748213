// The annotator's own pace: documents judged today, typical time per document, and estimated time
// left. It is computed and stored only in this browser and never sent to the server. Also an
// optional reminder to take a break.

import { byId, make } from "./dom.js";
import { tn } from "../plurals.js";
import { locale, number, t } from "../words.js";

const KEPT = 50,
  FEWEST = 5,
  GAP_MS = 300000;

export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b),
    middle = sorted.length >> 1;
  return sorted.length % 2
    ? sorted[middle]
    : (sorted[middle - 1] + sorted[middle]) / 2;
};

const about = (ms) => {
  const minutes = Math.round(ms / 60000);
  if (minutes < 1) return t("less than a minute");
  return minutes < 90
    ? t("{n} min", { n: minutes })
    : t("{n} h", {
        n: (minutes / 60).toLocaleString(locale, {
          maximumFractionDigits: minutes < 600 ? 1 : 0,
        }),
      });
};

/**
 * Returns one or two sentences. paces: active milliseconds of the last judgements. activeToday: sum
 * of active milliseconds.
 */
export function sentence({ paces, activeToday = 0, today, judged, target }) {
  const n = number(today ?? 0);
  const told = activeToday
    ? t("Today: {n} judged, {time} on this device.", {
        n,
        time: about(activeToday),
      })
    : t("Today: {n} judged.", { n });
  if (paces.length < FEWEST)
    return `${told} ${tn("Your pace is shown after {n} document.", "Your pace is shown after {n} documents.", FEWEST)}`;
  const pace = median(paces),
    left = target ? Math.max(0, target - judged) : 0;
  const each =
    pace < 90000 ? t("{n} s", { n: Math.round(pace / 1000) }) : about(pace);
  return `${told} ${left ? t("About {each} per document, about {rest} to your target.", { each, rest: about(Math.max(left * pace, 60000)) }) : t("About {each} per document.", { each })}`;
}

export class Rhythm {
  /**
   * name: of the stored value in this browser. progress(): the latest progress from the server.
   * now, storage: for tests.
   */
  constructor({
    outbox,
    reader,
    settings,
    banners,
    name,
    progress,
    now = () => Date.now(),
    storage = localStorage,
  }) {
    Object.assign(this, {
      settings,
      banners,
      name,
      progress,
      now,
      storage,
      since: null,
      last: null,
    });
    outbox.addEventListener("sent", ({ detail: { entry, answer } }) => {
      if (
        entry.kind === "judge" &&
        !answer.feedback &&
        answer.judgement?.status !== "too fast"
      )
        this.judged(entry.body.active_ms);
    });
    reader.addEventListener("covered", () => {
      this.since = null;
    });
    this.line = make("p.menu-label", {
      id: "rhythm",
      title: t("Stored only in this browser. Only you can see it."),
    });
    byId("menu").querySelector(".menu-list").prepend(this.line);
    byId("menu").addEventListener("toggle", () => this.tell());
    this.tell();
  }

  get paces() {
    try {
      return JSON.parse(this.storage.getItem(this.name) ?? "[]");
    } catch {
      return [];
    }
  }

  /** Active milliseconds of today's judgements in this browser. */
  get activeToday() {
    try {
      const [day, ms] = JSON.parse(
        this.storage.getItem(`${this.name}:today`) ?? "[]",
      );
      return day === this.#day ? ms : 0;
    } catch {
      return 0;
    }
  }

  get #day() {
    return new Date(this.now()).toDateString();
  }

  judged(activeMs) {
    try {
      this.storage.setItem(
        `${this.name}:today`,
        JSON.stringify([this.#day, this.activeToday + activeMs]),
      );
      this.storage.setItem(
        this.name,
        JSON.stringify([...this.paces, activeMs].slice(-KEPT)),
      );
    } catch {
      /* private mode */
    }
    const now = this.now();
    if (this.since === null || now - this.last > GAP_MS)
      this.since = now - activeMs;
    this.last = now;
    this.#remind(now);
  }

  #remind(now) {
    const minutes = Number(this.settings.get("break_minutes") ?? 0);
    if (!minutes || now - this.since < minutes * 60000) return;
    this.since = now; // and not again until the same time has passed
    this.banners.show("break", {
      text: tn(
        "You have been judging for {n} minute. A short break rests your eyes.",
        "You have been judging for {n} minutes. A short break rests your eyes.",
        minutes,
      ),
      actions: [{ label: t("Pause"), action: "pause" }],
      closes: true,
    });
  }

  tell() {
    const { paces, activeToday } = this;
    this.line.textContent = sentence({
      paces,
      activeToday,
      ...this.progress(),
    });
  }
}
