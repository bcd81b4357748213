// Marked passages of the document: by mouse (select), by touch (select, then press Mark), by
// keyboard (a sentence, then its ends). On the page they are [start, end) in UTF-16 units of the stored text, and
// they are sent as code points.

import { announce, paint } from "./dom.js";
import {
  between,
  joined,
  onWords,
  placeOf,
  sentenceAt,
  sentencesOf,
  tellingSentence,
  wordAt,
  wordsOf,
} from "./marking.js";
import { stage } from "./stage.js";
import { tn } from "../plurals.js";
import { t } from "../words.js";

export class Spans extends EventTarget {
  constructor({ list, markButton }) {
    super();
    this.list = list;
    this.markButton = markButton;
    this.enabled = false;
    this.view = null;
    this.units = [];
    this.cursor = null; // {anchor, word, tapped}: first and last word of the passage that is being chosen, by keys or by taps
    this.guided = false; // words can be tapped: "needed" by a waiting grade, or "asked" for by the user
    this.pointer = "mouse";
    this.isClicked = false;
    this.before = [];
    document.addEventListener("selectionchange", () => this.#offer());
    document.addEventListener("pointerup", (event) => {
      this.pointer = event.pointerType;
    });
    document.addEventListener("mouseup", (event) => {
      if (
        this.pointer !== "mouse" ||
        !this.enabled ||
        !this.view?.body.contains(event.target)
      )
        return;
      this.isClicked = event.detail > 1; // a double click may select only to copy, so marking is offered
      if (this.isClicked) this.#offer();
      else if (this.#selected()?.length)
        setTimeout(() => this.markSelection(), 0); // a click on a selection clears it
    });
    document.addEventListener("pointerdown", ({ target }) => {
      this.isPressed = Boolean(this.view?.body.contains(target));
    }); // otherwise it lifted the veil
    document.addEventListener("click", (event) => this.#tap(event));
    markButton.addEventListener("click", () => this.markSelection());
    list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-span]");
      if (button) this.remove(Number(button.dataset.span));
    });
  }

  get points() {
    return this.units.map(([start, end]) => [
      this.view.stored.toPoint(start),
      this.view.stored.toPoint(end),
    ]);
  }

  show(view, points) {
    this.view = view;
    this.enabled = true;
    this.cursor = null;
    this.guided = false;
    this.before = []; // the marks before each change, for undo
    this.last = -1; // the word at which the last passage ended
    this.units = points.map(([start, end]) => [
      view.stored.toUnit(start),
      view.stored.toUnit(end),
    ]);
    this.markButton.hidden = true;
    this.repaint();
  }

  hide() {
    this.view = null;
    this.enabled = false;
    this.units = [];
    this.cursor = null;
    this.markButton.hidden = true;
    this.list.hidden = true;
    for (const name of ["span", "cursor", "draft"]) paint(name, []);
  }

  repaint() {
    if (!this.view) return;
    paint(
      "span",
      this.units.flatMap(([start, end]) => this.view.ranges(start, end)),
      1,
    );
    paint("cursor", this.cursor ? this.#rangesOf([this.#word]) : [], 3);
    paint("draft", this.cursor ? this.#rangesOf(this.#draft()) : [], 2);
    this.list.hidden = this.units.length === 0;
    const items = this.units.map(([start, end], index) => {
      const item = document.createElement("li");
      const text = document.createElement("q");
      const passage = this.view.stored.text
        .slice(start, end)
        .replace(/\s+/g, " ");
      text.textContent =
        passage.length > 160
          ? `${[...passage].slice(0, 150).join("")} …`
          : passage;
      text.dir = "auto";
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button small quiet";
      button.dataset.span = String(index);
      button.textContent = t("Remove");
      button.setAttribute(
        "aria-label",
        t("Remove marked passage {number}", { number: index + 1 }),
      );
      item.append(text, button);
      return item;
    });
    this.list.querySelector("ul").replaceChildren(...items);
    this.list.querySelector(".count").textContent = String(this.units.length);
  }

  add(spans) {
    if (!spans.length) return;
    this.before.push(this.units);
    this.units = joined([...this.units, ...spans]);
    this.repaint();
    announce(
      `${t("Passage marked.")} ${tn("{n} passage marked.", "{n} passages marked.", this.units.length)}`,
    );
    this.dispatchEvent(new Event("change"));
  }

  remove(index) {
    this.before.push(this.units);
    this.units = this.units.filter((_, place) => place !== index);
    this.repaint();
    announce(t("Passage removed."));
    this.dispatchEvent(new Event("change"));
  }

  /** Undoes the last change of marks in this document. Returns false if there is none. */
  undo() {
    if (!this.view || !this.before.length) return false;
    const more = this.before[this.before.length - 1].length > this.units.length;
    this.units = this.before.pop();
    this.repaint();
    announce(more ? t("Passage restored.") : t("Passage unmarked."));
    this.dispatchEvent(new Event("change"));
    return true;
  }

  #selected() {
    const selection = document.getSelection();
    if (
      !this.enabled ||
      !this.view ||
      !selection ||
      selection.isCollapsed ||
      selection.rangeCount === 0
    )
      return null;
    const range = selection.getRangeAt(0);
    const { body } = this.view;
    if (!range.intersectsNode(body)) return null;
    const from = body.contains(range.startContainer)
      ? placeOf(this.view, range.startContainer, range.startOffset)
      : placeOf(this.view, body, 0);
    const to = body.contains(range.endContainer)
      ? placeOf(this.view, range.endContainer, range.endOffset)
      : placeOf(this.view, body, body.childNodes.length);
    return from && to
      ? between(
          this.view,
          ...onWords(this.view, from, this.#backOverGap(from, to)),
        )
      : null;
  }

  // A selection that ends at the start of a block visually ends with the previous block.
  #backOverGap(from, to) {
    const index = this.view.blocks.findIndex(
      (block) => block.piece === to.piece && block.start === to.unit,
    );
    const before = this.view.blocks[index - 1];
    return index > 0 && (before.piece > from.piece || before.end > from.unit)
      ? { piece: before.piece, unit: before.end }
      : to;
  }

  #offer() {
    if (!this.enabled) return;
    const asks =
      this.isClicked ||
      this.pointer !== "mouse" ||
      matchMedia("(pointer: coarse)").matches;
    this.markButton.hidden = !(asks && this.#selected()?.length);
  }

  markSelection() {
    const spans = this.#selected();
    if (!spans?.length) return false;
    document.getSelection().removeAllRanges();
    this.markButton.hidden = true;
    this.add(spans);
    return true;
  }

  // By taps: the first word, then the last.

  /** Enables or disables the tapping of words. */
  guide(on) {
    this.guided = on ? "needed" : false;
    if (!on && this.cursor?.tapped) this.#leaveCursor();
  }

  #tap({ target, clientX, clientY }) {
    if (
      !this.guided ||
      !this.enabled ||
      !this.isPressed ||
      !this.view?.body.contains(target) ||
      this.#selected()?.length
    )
      return;
    const at = wordAt(this.view, clientX, clientY);
    if (at < 0) return;
    if (this.cursor?.tapped) {
      this.cursor.word = at;
      return void this.step("touch");
    }
    this.cursor = { word: at, anchor: at, tapped: true };
    this.repaint();
    this.dispatchEvent(new Event("cursor"));
  }

  /** The text of the first tapped word, "" if there is none. */
  get begun() {
    return this.cursor?.tapped ? this.#textOf(this.#word) : "";
  }

  #leaveCursor() {
    this.cursor = null;
    this.repaint();
    this.dispatchEvent(new Event("cursor"));
  }

  // By keys: a sentence, then its ends.

  get #word() {
    return wordsOf(this.view)[this.cursor.word];
  }
  #rangesOf(spans) {
    return spans.flatMap((span) =>
      Array.isArray(span)
        ? this.view.ranges(...span)
        : this.view.ranges(span.start, span.end),
    );
  }

  #draft() {
    const words = wordsOf(this.view);
    const first = words[Math.min(this.cursor.anchor, this.cursor.word)],
      last = words[Math.max(this.cursor.anchor, this.cursor.word)];
    return between(
      this.view,
      { piece: first.piece, unit: first.start },
      { piece: last.piece, unit: last.end },
    );
  }

  /**
   * S: marks the selection if there is one. Otherwise chooses a sentence, or marks the chosen
   * passage. By mouse or touch: enables the tapping of words.
   */
  step(device = "keyboard") {
    if (!this.view) return;
    if (this.markSelection()) return;
    if (device !== "keyboard" && !this.cursor) this.guided ||= "asked";
    else if (!this.cursor) this.#begin();
    else {
      const spans = this.#draft();
      this.last = Math.max(this.cursor.anchor, this.cursor.word);
      this.cursor = null;
      this.add(spans);
    }
    this.dispatchEvent(new Event("cursor"));
  }

  /** Chooses the sentence after the last passage, or the first visible one with a query word. */
  #begin() {
    const sentences = sentencesOf(this.view);
    if (!sentences.length) return;
    const { top } = stage();
    const visible = sentences.findIndex(
      ({ first }) => this.#boxOf(first)?.top >= top,
    );
    this.#choose(
      this.last < 0
        ? tellingSentence(this.view, Math.max(0, visible))
        : sentenceAt(sentences, this.last) + 1,
    );
    announce(
      `${this.#chosen()} ${t("Press Enter to mark this sentence, the down or up arrow to choose another one, or Esc to cancel.")}`,
    );
  }

  #choose(index) {
    const sentences = sentencesOf(this.view);
    const { first, last } =
      sentences[Math.max(0, Math.min(sentences.length - 1, index))];
    this.cursor = { anchor: first, word: last };
    this.#reveal(first);
  }

  /** The text of the chosen passage. */
  #chosen() {
    return this.#draft()
      .map(([start, end]) => this.view.stored.text.slice(start, end))
      .join(" ");
  }

  #boxOf(word) {
    const [range] = this.#rangesOf([wordsOf(this.view)[word]]);
    if (!range) return null;
    const live = document.createRange();
    live.setStart(range.startContainer, range.startOffset);
    live.setEnd(range.endContainer, range.endOffset);
    return live.getBoundingClientRect();
  }

  #textOf(word) {
    return this.view.stored.text.slice(word.start, word.end);
  }

  /**
   * Handles an arrow key: down and up choose the next or previous sentence, left and right move the
   * end of the passage by a word, or with Shift its start. Left moves forward in right-to-left text.
   */
  move(arrow, { shift = false } = {}) {
    const { cursor } = this;
    if (arrow === "up" || arrow === "down") {
      const at = sentenceAt(
        sentencesOf(this.view),
        Math.min(cursor.anchor, cursor.word),
      );
      this.#choose(at + (arrow === "down" ? 1 : -1));
      this.dispatchEvent(new Event("cursor"));
      return announce(this.#chosen());
    }
    const words = wordsOf(this.view);
    const { parentElement } = this.#word.block.node;
    const forward =
      getComputedStyle(parentElement).direction === "rtl" ? -1 : 1;
    const by = arrow === "right" ? forward : -forward,
      end = shift ? "anchor" : "word";
    cursor[end] = Math.max(0, Math.min(words.length - 1, cursor[end] + by));
    announce(this.#textOf(words[cursor[end]]));
    this.#reveal(cursor[end]);
  }

  #reveal(word) {
    this.repaint();
    const box = this.#boxOf(word);
    if (!box) return;
    const { top, bottom } = stage();
    if (box.top < top + 24) scrollBy(0, box.top - top - 24);
    else if (box.bottom > bottom - 24) scrollBy(0, box.bottom - bottom + 24);
  }

  /**
   * Esc: gives up the chosen passage. Returns whether there was something to cancel.
   */
  cancel() {
    if (!this.cursor) {
      if (this.guided !== "asked") return false;
      this.guided = false;
      this.dispatchEvent(new Event("cursor"));
      return true;
    }
    this.#leaveCursor();
    return true;
  }

  /** Handles Del: removes the span in the chosen passage, or else the last one. */
  removeNear() {
    if (!this.view || !this.units.length) return;
    const chosen = this.cursor ? this.#draft() : null;
    const under = chosen
      ? this.units.findIndex(([start, end]) =>
          chosen.some(([from, to]) => start < to && from < end),
        )
      : this.units.length - 1;
    if (under >= 0) this.remove(under);
  }
}
