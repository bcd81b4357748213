// Search in the document.

import { byId, paint } from "./dom.js";
import { phrases } from "./highlight.js";
import { stage } from "./stage.js";
import { number, t } from "../words.js";

export class Finder {
  constructor({ view, onClose }) {
    this.view = view; // returns the DocumentView or null
    this.form = byId("finder");
    this.input = byId("find-input");
    this.count = byId("find-count");
    this.hits = [];
    this.at = -1;
    this.input.addEventListener("input", () => this.search());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.go(1);
    });
    this.form.addEventListener("click", (event) => {
      const step = event.target.closest("[data-find]")?.dataset.find;
      if (step === "close") {
        this.close();
        onClose();
      }
      if (step === "-1") this.go(-1);
    });
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.preventDefault();
        this.close();
        onClose();
      }
      if (event.key === "Enter" && event.shiftKey) {
        event.preventDefault();
        this.go(-1);
      }
    });
  }

  get isOpen() {
    return !this.form.hidden;
  }

  open() {
    this.form.hidden = false;
    this.input.focus();
    this.input.select();
    this.search();
  }

  close() {
    this.form.hidden = true;
    paint("find", []);
    paint("found", []);
  }

  /** Repeats the search in a new document. */
  search() {
    if (!this.isOpen) return;
    const view = this.view();
    this.hits = view
      ? view.blocks.flatMap((block) =>
          phrases(block.node.data, this.input.value).map(([start, end]) => ({
            node: block.node,
            start,
            end,
          })),
        )
      : [];
    this.at = -1;
    paint(
      "find",
      this.hits.map((hit) => this.#range(hit)),
      4,
    );
    if (this.hits.length) this.go(1);
    else {
      paint("found", []);
      this.count.textContent = this.input.value.trim() ? t("not found") : "";
    }
    const hidden =
      view?.cutBox && this.input.value.trim()
        ? phrases(view.stored.text.slice(view.rest.start), this.input.value)
            .length
        : 0;
    if (hidden)
      this.count.textContent += ` (${t("{n} in hidden text", { n: number(hidden) })})`;
  }

  #range({ node, start, end }) {
    return new StaticRange({
      startContainer: node,
      startOffset: start,
      endContainer: node,
      endOffset: end,
    });
  }

  go(by) {
    if (!this.hits.length) return;
    this.at = (this.at + by + this.hits.length) % this.hits.length;
    const hit = this.hits[this.at];
    paint("found", [this.#range(hit)], 5);
    this.count.textContent = t("{place} of {total}", {
      place: number(this.at + 1),
      total: number(this.hits.length),
    });
    const live = document.createRange();
    live.setStart(hit.node, hit.start);
    live.setEnd(hit.node, hit.end);
    const box = live.getBoundingClientRect();
    const { top, bottom } = stage();
    if (box.top < top + 20 || box.bottom > bottom - 20)
      scrollBy(0, box.top - top - (bottom - top) / 3);
  }
}
