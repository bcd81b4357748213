// Comparison of two documents, side by side or, on a phone, one below the other. Words that occur
// in only one of them are highlighted.

import { differences } from "./differences.js";
import { make, paint } from "./dom.js";
import { gradeName } from "./grades.js";
import { keyName } from "./key_presses.js";
import { shape } from "./shapes.js";
import { tn } from "../plurals.js";
import { t } from "../words.js";

export class Comparison {
  constructor({ open, settings, setup, openJudgement }) {
    Object.assign(this, { open, settings, scale: setup.scale, openJudgement });
    this.choice = make("select", { id: "compare-with" });
    this.field = make(
      "div.field.wide",
      {},
      make("label", { for: "compare-with" }, t("Compared with")),
      this.choice,
    );
    this.hint = make("p.hint");
    this.columns = make("div.compared");
    this.reopen = make(
      "button.button",
      { type: "button", onclick: () => this.#reopen() },
      t("Open"),
    );
    this.dialog = make(
      "dialog.dialog.comparison",
      { id: "compare-dialog", "aria-labelledby": "compare-title" },
      make(
        "h2",
        { id: "compare-title", tabindex: "-1", autofocus: true },
        t("Near-duplicates"),
      ),
      this.hint,
      this.field,
      this.columns,
      make(
        "div.dialog-foot",
        {},
        this.reopen,
        make(
          "button.button.primary",
          { type: "button", dataset: { close: "" } },
          t("Close"),
        ),
      ),
    );
    this.choice.addEventListener("change", () =>
      this.#draw(Number(this.choice.value)),
    );
    this.dialog.addEventListener("close", () => this.#closed());
    this.dialog.addEventListener("keydown", (event) => this.#press(event));
    document.body.append(this.dialog);
  }

  /** items: near-duplicates from the server. The most similar one is shown first. */
  show(pair, items) {
    Object.assign(this, { pair, items, place: scrollY });
    const named = ({ document: { id, title }, judgement }) =>
      `${gradeName(this.scale, judgement.grade)}: ${title || id}`;
    this.choice.replaceChildren(
      ...items.map((item, at) => make("option", { value: at }, named(item))),
    );
    this.field.hidden = items.length < 2;
    this.dialog.showModal();
    this.#draw(0);
  }

  #draw(at) {
    const item = this.items[at],
      { grade, judgement } = item.judgement;
    const place = this.scale.findIndex(({ value }) => value === grade);
    const views = [this.pair.document, item.document].map((one) =>
      this.#view(one),
    );
    const alone = differences(...views.map(({ text }) => text));
    const many = (n) => tn("{n} word only here", "{n} words only here", n);
    this.judgement = judgement;
    this.reopen.setAttribute(
      "aria-label",
      t("Open the judgement of {document}", {
        document: item.document.title || item.document.id,
      }),
    );
    this.hint.textContent =
      alone.one.n + alone.other.n
        ? t("Words that occur in only one of them are highlighted.")
        : t("Both have the same words in the same order.");
    const column = (view, head, { n }) =>
      make(
        "section",
        {},
        make(
          "p.compared-head",
          {},
          ...head,
          n ? make("span.faint", {}, many(n)) : null,
        ),
        view.element,
      );
    this.columns.replaceChildren(
      column(
        views[0].view,
        [make("strong", {}, t("This document"))],
        alone.one,
      ),
      column(
        views[1].view,
        [
          make(
            "strong.grade",
            {},
            place < 0 ? null : shape(this.scale[place].shape, place),
            t("You judged this as {grade}.", {
              grade: gradeName(this.scale, grade),
            }),
          ),
        ],
        alone.other,
      ),
    );
    this.dialog.scrollTop = 0;
    this.#paint(views, alone);
    for (const { view } of views)
      if (view.later.length)
        void view
          .complete()
          .then(
            (grown) =>
              grown &&
              this.judgement === judgement &&
              this.#paint(views, alone),
          );
  }

  /**
   * Documents start at their beginning even if the campaign rotates texts. Truncated parts are not
   * compared.
   */
  #view(document) {
    const view = this.open.views.build({
      topic: this.pair.topic,
      document: { ...document, rotation: 0 },
    });
    const { stored } = view;
    return {
      view,
      text: document.shown_words
        ? stored.text.slice(0, stored.toUnit(document.shown_end))
        : stored.text,
    };
  }

  #paint([one, other], alone) {
    const ranges = ({ view }, { places }) =>
      places.flatMap(([start, end]) => view.ranges(start, end));
    paint(
      "differs",
      [...ranges(one, alone.one), ...ranges(other, alone.other)],
      6,
    );
  }

  /** The key that opens the dialog also closes it. */
  #press(event) {
    if (
      event.target === this.choice ||
      event.repeat ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      !this.settings.get("shortcuts")
    )
      return;
    if (keyName(event) !== this.settings.keys.compare) return;
    event.preventDefault(); // otherwise the same key press would open it again
    this.dialog.close();
  }

  #reopen() {
    const { judgement } = this;
    this.dialog.close();
    this.openJudgement(judgement);
  }

  #closed() {
    this.judgement = null;
    paint("differs", []);
    this.columns.replaceChildren();
    scrollTo(0, this.place); // the mouse wheel may have scrolled the document behind the dialog
    this.open.focus();
  }
}
