// The document of a pair. It is built in advance, off the page, so that showing it is a single
// replacement. All text is inserted as text: nothing in a document is parsed as HTML, fetched or
// executed.

import { here, part } from "./lazy.js";
import { StoredText, paragraphs, pieces } from "./text.js";
import { number, t } from "../words.js";

const FIRST_UNITS = 40000; // of a very long text, painted immediately; the rest follows when the browser is idle

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export class DocumentView {
  /** isMarkdown: the collection declares its texts as Markdown. */
  constructor(pair, isMarkdown) {
    Object.assign(this, { pair, isMarkdown });
    this.stored = new StoredText(pair.document.text ?? "");
    this.pieces = pieces(this.stored.text, {
      shownEnd: pair.document.shown_words
        ? this.stored.toUnit(pair.document.shown_end)
        : null,
      rotateAt: this.stored.toUnit(pair.document.rotation ?? 0),
    });
    this.blocks = []; // text nodes in display order: {node, start, end, piece, whole}; whole: the length differs from the stored text
    this.later = [];
    this.element = this.#build();
  }

  #build() {
    const { document: doc } = this.pair;
    const article = element("article", "doc");
    article.lang = doc.lang ?? ""; // the page's own language must not apply if the document's is unknown
    const title = doc.title || t("Document {id}", { id: doc.id });
    this.heading = element("h2", "doc-title", here.typeset ? "" : title);
    here.typeset?.fill(this.heading, title, { start: 0, end: title.length });
    this.heading.dir = doc.dir;
    this.heading.tabIndex = -1;
    article.append(this.heading);
    const fields = Object.entries(doc.fields ?? {}).filter(
      ([, value]) => value !== null && value !== "",
    );
    if (fields.length) article.append(this.#fields(fields));
    this.body = element("div", "doc-body");
    article.append(this.body);
    if (this.pieces[1]?.rest === false)
      this.body.append(
        element("p", "seam", t("The beginning is further down.")),
      );
    let room = FIRST_UNITS;
    this.pieces.forEach((piece, index) => {
      if (piece.rest) return;
      if (index === 1)
        this.body.append(
          element("p", "seam", t("Start of document (the end is shown above)")),
        );
      for (const block of this.#paragraphs(piece)) {
        if (room > 0) this.body.append(this.block(block, index));
        else this.later.push([block, index]);
        room -= block.end - block.start;
      }
    });
    if (!this.stored.text.trim())
      this.body.append(
        element(
          "p",
          "doc-empty",
          t(
            "This document has no text. If that is wrong, choose “Cannot judge” (0), then “Document broken”.",
          ),
        ),
      );
    this.rest = this.pieces.find((piece) => piece.rest);
    if (this.rest) article.append(this.#cut(doc));
    return article;
  }

  #fields(fields) {
    const list = element("dl", "doc-fields");
    for (const [name, value] of fields) {
      const row = element("div");
      const text = element(
        "dd",
        "",
        typeof value === "string" ? value : JSON.stringify(value),
      );
      text.dir = "auto";
      row.append(element("dt", "", name), text);
      list.append(row);
    }
    return list;
  }

  #paragraphs(piece) {
    return (this.isMarkdown && here.typeset ? here.typeset.blocks : paragraphs)(
      this.stored.text,
      piece,
    );
  }

  block({ start, end, kind }, piece) {
    const level = /^heading-(\d)/.exec(kind)?.[1];
    const made = element(
      level ? `h${Math.min(6, Number(level) + 2)}` : "p",
      kind,
    );
    made.dir = this.pair.document.dir;
    if (kind === "fixed") {
      made.tabIndex = 0; // can be scrolled sideways with the keyboard
      made.setAttribute("role", "group");
      made.setAttribute("aria-label", t("Table or code"));
    }
    if (here.typeset && kind !== "fixed")
      this.blocks.push(
        ...here.typeset
          .fill(made, this.stored.text, { start, end }, this.isMarkdown)
          .map((part) => ({ ...part, piece })),
      );
    else {
      made.textContent = this.stored.text.slice(start, end);
      this.blocks.push({ node: made.firstChild, start, end, piece });
    }
    return made;
  }

  #cut(doc) {
    const box = element("div", "doc-cut");
    const total = doc.n_words;
    box.append(
      element(
        "p",
        "",
        t(
          "Showing the first {n} of {total} words. Base your judgement on them unless the guidelines say otherwise.",
          { n: number(doc.shown_words), total: number(total) },
        ),
      ),
    );
    const button = element(
      "button",
      "button small",
      t("Show all {n} words", { n: number(total) }),
    );
    button.type = "button";
    button.dataset.action = "show-rest";
    box.append(button);
    this.cutBox = box;
    return box;
  }

  get title() {
    return this.heading.textContent;
  }

  /** Whether nothing of a very long text waits to be painted. */
  get isWhole() {
    return !this.later.length;
  }

  /** Whether the truncated part has been shown. */
  get showsAll() {
    return Boolean(this.rest && !this.cutBox);
  }

  /** Shows the truncated part. */
  showRest() {
    if (!this.rest || !this.cutBox) return;
    this.cutBox.remove();
    this.cutBox = null;
    this.body.append(element("p", "seam", t("The text below was hidden.")));
    for (const block of this.#paragraphs(this.rest))
      this.body.append(this.block(block, this.pieces.indexOf(this.rest)));
    this.termRanges = null;
  }

  /** Paints the rest of a very long text. Resolves to whether anything was added. */
  async complete() {
    return (await part("whole_text")).complete(this);
  }

  /**
   * Returns ranges of the page for [start, end) of the stored text, several if a span crosses
   * blocks.
   */
  ranges(start, end) {
    const found = [];
    for (const block of this.blocks) {
      const from = Math.max(start, block.start),
        to = Math.min(end, block.end);
      if (from >= to) continue;
      const [first, last] = block.whole
        ? [0, block.node.length]
        : [from - block.start, to - block.start];
      found.push(
        new StaticRange({
          startContainer: block.node,
          startOffset: first,
          endContainer: block.node,
          endOffset: last,
        }),
      );
    }
    return found;
  }

  /**
   * Returns the occurrences of the query's words as ranges. Empty until the module that finds them
   * is loaded.
   */
  terms() {
    return (this.termRanges ??= here.highlight?.rangesOf(this)) ?? [];
  }
}
