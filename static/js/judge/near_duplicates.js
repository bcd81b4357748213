// Notice of near-duplicates: if the document is very similar to one that the annotator has graded
// in the topic, a line in the bar says so, and both can be compared. The request is sent after the
// document is shown and all answers have been received, and nothing waits for it. The bar grows
// upwards, so no text moves.

import { Refused, SignedOut, Unreachable } from "./api.js";
import { announce, byId, make } from "./dom.js";
import { gradeName } from "./grades.js";
import { label } from "./keyboard.js";
import { tn } from "../plurals.js";
import { t } from "../words.js";

export class NearDuplicates {
  /** open: OpenPair. openJudgement: shows the judged document by id. */
  constructor({ api, open, outbox, bar, settings, setup, openJudgement }) {
    Object.assign(this, {
      api,
      open,
      outbox,
      settings,
      setup,
      openJudgement,
      asked: null,
      items: null,
    });
    this.words = make("span");
    this.key = make("kbd", { dataset: { key: "compare" } });
    this.line = make(
      "p.near-line",
      { hidden: true },
      this.words,
      make(
        "button.button.small",
        { type: "button", dataset: { action: "compare" } },
        t("Compare"),
        " ",
        this.key,
      ),
    );
    bar.bar.prepend(this.line);
    open.addEventListener("painted", () => void this.#ask());
    outbox.addEventListener("change", () => void this.#ask());
    new MutationObserver(() => this.#forget()).observe(byId("document"), {
      childList: true,
    }); // another document, or none
    void this.#ask();
  }

  #forget() {
    Object.assign(this, { asked: null, items: null });
    this.line.hidden = true;
  }

  async #ask() {
    const { pair, paintedAt } = this.open;
    if (!pair || !paintedAt || this.asked === pair || this.outbox.size) return; // the document graded last may be a near-duplicate
    this.asked = pair;
    try {
      const { items = [] } = await this.api.get(
        `pairs/${pair.pair}/near-duplicates`,
      );
      const found = items.length ? await import("./comparison.js") : null;
      if (this.asked !== pair) return;
      this.items = items;
      if (found) this.#tell(found.Comparison);
    } catch (error) {
      if (
        !(
          error instanceof Refused ||
          error instanceof SignedOut ||
          error instanceof Unreachable
        )
      )
        throw error; // judging continues without it
    }
  }

  #tell(Comparison) {
    this.comparison ??= new Comparison(this);
    const {
      items,
      setup: { scale },
    } = this;
    const grades = items
      .map(({ judgement }) => gradeName(scale, judgement.grade))
      .join(", ");
    this.words.textContent = tn(
      "Very similar to a document you graded: {grades}",
      "Very similar to {n} documents you graded: {grades}",
      items.length,
      { grades },
    );
    this.key.textContent = label(this.settings.keys.compare);
    this.line.hidden = false;
    announce(this.words.textContent);
  }

  /** Opens the comparison by key or button. */
  compare() {
    if (!this.asked || this.open.pair !== this.asked) return;
    if (this.items?.length) this.comparison.show(this.open.pair, this.items);
    else if (this.items)
      announce(
        t("You have not graded a document that is very similar to this one."),
      );
  }
}
