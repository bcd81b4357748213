// Two documents side by side, in campaigns of preferences. On a phone they are swiped. They scroll
// together with the page, so both stay at the same height.

import { make } from "./dom.js";
import { t } from "../words.js";

/**
 * Returns the class of views of a pair: that of its left document, which also holds the right one.
 * DocumentView: given, because its module leads to this one.
 */
export const battleView = (DocumentView) => class extends DocumentView {
  constructor(pair, isMarkdown) {
    super(pair, isMarkdown);
    this.right = new DocumentView({ ...pair, document: pair.other }, isMarkdown);
    const sides = [
      [t("Left"), this.element],
      [t("Right"), this.right.element],
    ];
    this.element = make(
      "div.battle",
      {
        dir: "ltr", // in every script, the left document is on the left
        tabindex: "0",
        role: "group",
        "aria-label": t("Two documents"),
      },
      ...sides.map(([name, article]) =>
        make(
          "section.side",
          { "aria-label": name },
          make("p.side-name", {}, name),
          article,
        ),
      ),
    );
    this.blocks.push(...this.right.blocks);
  }

  get title() {
    return `${super.title} / ${this.right.title}`;
  }

  get isWhole() {
    return super.isWhole && this.right.isWhole;
  }

  get showsAll() {
    return super.showsAll || this.right.showsAll;
  }

  showRest() {
    super.showRest();
    this.right.showRest();
    this.#join();
  }

  async complete() {
    const grown = await Promise.all([super.complete(), this.right.complete()]);
    this.#join();
    return grown.some(Boolean);
  }

  /** Lets searches find the text that the right document has gained. */
  #join() {
    const known = new Set(this.blocks);
    this.blocks.push(...this.right.blocks.filter((block) => !known.has(block)));
  }
};
