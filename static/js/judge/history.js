// The list of the annotator's judgements with their revisions.

import { make } from "./dom.js";
import { gradeName } from "./grades.js";
import { shape } from "./shapes.js";
import { locale, number, t } from "../words.js";

function moment(iso) {
  return new Date(iso).toLocaleString(locale, {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}

/** Number of judgements loaded at once: on a phone, fewer fit on a page. */
const PAGE_SIZE = matchMedia("(max-width: 48rem)").matches ? 15 : 50;
const STATUS = {
  extra: [
    "warn",
    t("extra"),
    t("This document already had enough judgements. Saved, but not counted."),
  ],
  "too fast": [
    "warn",
    t("too fast"),
    t("Faster than the campaign's minimum time. Saved, but not counted."),
  ],
};

export class History {
  /** open: shows a judgement by id. takeUp: shows a skipped pair. Null if they cannot be opened. */
  constructor({ api, box, open, takeUp }) {
    Object.assign(this, { api, box, open, takeUp });
    const dialog = box.closest("dialog");
    document.addEventListener(
      "keydown",
      (event) => dialog?.open && this.#press(event),
    );
  }

  /** setup: {scale, further_questions}. topic: restricts the list to this query. */
  async show(setup, topic = null) {
    const { scale, further_questions: further } = setup;
    Object.assign(this, { setup, scale, further, topic, last: null, counts: new Map() });
    const title = document.getElementById("history-title");
    if (title)
      title.textContent = topic
        ? t("My judgements for this query: {query}", { query: topic.text })
        : t("My judgements");
    this.summary = make("p.muted", { hidden: true });
    this.rows = make("tbody");
    this.more = make(
      "button.button.small",
      { type: "button", hidden: true, onclick: () => this.#load() },
      t("Show more"),
    );
    const table = make(
      `table.table.history${topic ? ".of-query" : ""}`,
      {},
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...[t("When"), t("Query"), t("Document"), t("Grade"), ""].map(
            (head) =>
              make(
                "th",
                {},
                head || make("span.visually-hidden", {}, t("Open")),
              ),
          ),
        ),
      ),
      this.rows,
    );
    this.box.replaceChildren(
      this.summary,
      make(
        "div.table-wrap",
        { tabindex: "0", role: "region", "aria-label": t("My judgements") },
        table,
      ),
      make("p", {}, this.more),
    );
    await this.#load();
    await this.#listPutAside();
  }

  /** A digit opens the judgement marked with it. */
  #press(event) {
    if (
      !/^[1-9]$/.test(event.key) ||
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      event.repeat
    )
      return;
    this.rows?.querySelectorAll("button")[Number(event.key) - 1]?.click();
  }

  #sum(items) {
    for (const { grade } of items)
      this.counts.set(grade, (this.counts.get(grade) ?? 0) + 1);
    const named = [
      ...this.scale.map(({ value, name }) => [name, this.counts.get(value)]),
      [t("Cannot judge"), this.counts.get(null)],
    ].filter(([, n]) => n);
    this.summary.textContent = named
      .map(([name, n]) => `${number(n)} ${name}`)
      .join(" · ");
    this.summary.hidden = !this.topic || !named.length;
  }

  async #listPutAside() {
    const { items: all } = await this.api
      .get("skipped")
      .catch(() => ({ items: [] }));
    const items = this.topic
      ? all.filter(({ topic }) => topic.id === this.topic.id)
      : all;
    if (!items.length) return;
    const row = ({ pair, topic, document: { id, title } }) =>
      make(
        "li",
        {},
        make("span", { dir: "auto" }, title || id),
        make("span.faint", { dir: "auto" }, ` ${topic.text} `),
        this.takeUp
          ? make(
              "button.button.small",
              {
                type: "button",
                onclick: () => this.takeUp(pair),
                "aria-label": t("Judge now: {document}", {
                  document: title || id,
                }),
              },
              t("Judge now"),
            )
          : null,
      );
    this.box.prepend(
      make(
        "section.put-aside",
        { "aria-label": t("Skipped") },
        make("h3", {}, `${t("Skipped")} (${number(items.length)})`),
        make("ul.stack.tight", {}, ...items.map(row)),
      ),
    );
  }

  async #load() {
    let answer;
    try {
      answer = await this.api.get(
        `history?limit=${PAGE_SIZE}${this.topic ? `&topic=${encodeURIComponent(this.topic.id)}` : ""}${this.last ? `&before=${this.last}` : ""}`,
      );
    } catch (error) {
      this.box.replaceChildren(
        make(
          "p.callout.warn",
          {},
          t("Your judgements could not be loaded ({reason}).", {
            reason: error.message,
          }),
          " ",
          make(
            "button.button.small",
            { type: "button", onclick: () => this.show(this.setup) },
            t("Try again"),
          ),
        ),
      );
      return;
    }
    const items = answer.items ?? [];
    for (const item of items) this.rows.append(this.#row(item));
    this.#sum(items);
    this.last = items[items.length - 1]?.judgement ?? this.last;
    this.more.hidden = items.length < PAGE_SIZE;
    if (!this.rows.children.length)
      this.box.replaceChildren(
        make(
          "div.empty",
          {},
          make(
            "p",
            {},
            this.topic
              ? t("You have not judged anything for this query yet.")
              : t("You have not judged anything here yet."),
          ),
        ),
      );
  }

  /** Returns the label of the digit that opens the next row. */
  #key() {
    const n = this.rows.querySelectorAll("button").length + 1;
    return n < 10 && this.rows.closest("dialog")
      ? make("kbd", {}, String(n))
      : null;
  }

  /** Returns the answers to further questions in words. */
  #answers(given) {
    return (this.further ?? [])
      .filter(({ key }) => key in (given ?? {}))
      .map(({ key, title, scale }) =>
        t("{question}: {answer}", {
          question: title,
          answer:
            given[key] === null
              ? t("Cannot judge")
              : gradeName(scale, given[key]),
        }),
      );
  }

  #row(item) {
    const { judgement: id } = item;
    const title = [item.document, item.other]
      .filter(Boolean)
      .map((one) => one.title || one.id)
      .join(" / ");
    const place = this.scale.findIndex((grade) => grade.value === item.grade);
    const status = item.practice
      ? [
          "",
          t("test"),
          t(
            "Part of the qualification test. It does not count as a judgement.",
          ),
        ]
      : STATUS[item.status];
    const said = ({ grade, cannot_reason: reason, answers }) =>
      `${grade} ${reason ?? ""} ${this.#answers(answers).join()}`;
    const earlier = (item.revisions ?? []).filter(
      (row, place, all) =>
        place < all.length - 1 && said(row) !== said(all[place + 1]),
    );
    const open =
      this.open && item.may_revise
        ? make(
            "button.button.small",
            {
              type: "button",
              onclick: () => this.open(id),
              "aria-label": t("Open the judgement of {document}", {
                document: title,
              }),
            },
            t("Open"),
            this.#key(),
          )
        : null;
    return make(
      "tr",
      {},
      make("td.nowrap", {}, moment(item.judged_at)),
      make("td", { dir: "auto" }, item.topic.text),
      make(
        "td",
        { dir: "auto" },
        title,
        item.note
          ? make("div.faint.small", {}, t("Note: {text}", { text: item.note }))
          : null,
      ),
      make(
        "td",
        {},
        make(
          "span.grade",
          {},
          place >= 0 ? shape(this.scale[place].shape, place) : null,
          gradeName(this.scale, item.grade, item.cannot_reason),
        ),
        ...this.#answers(item.answers).map((text) =>
          make("div.small", { dir: "auto" }, text),
        ),
        status
          ? make(
              `span.badge${status[0] && "."}${status[0]}`,
              { title: status[2] },
              status[1],
            )
          : null,
        earlier.length
          ? make(
              "div.faint.small",
              {},
              t("before: {grades}", {
                grades: earlier
                  .map(
                    (one) =>
                      `${[gradeName(this.scale, one.grade, one.cannot_reason), ...this.#answers(one.answers)].join(" · ")} (${moment(one.judged_at)})`,
                  )
                  .join(", "),
              }),
            )
          : null,
      ),
      make("td", {}, open),
    );
  }
}
