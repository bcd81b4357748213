// Reading controls in the header: font size, line width and height, typeface, and highlighting of
// the query's words. They take effect immediately, and the words at the top of the document stay in
// place.

import { announce, byId } from "./dom.js";
import { label } from "./keyboard.js";
import { STANDARD } from "./settings.js";
import { stage } from "./stage.js";
import { locale, t } from "../words.js";

const OWN = ["text_size", "measure", "leading", "font", "terms", "highlight"];

export class Reading {
  /** open: OpenPair. */
  constructor({ settings, open, bar }) {
    Object.assign(this, {
      settings,
      open,
      bar,
      box: byId("reading"),
      anchor: null,
      scrolledTo: null,
    });
    this.box.addEventListener("input", ({ target }) => this.#set(target));
    addEventListener(
      "scroll",
      () => {
        if (Math.abs(scrollY - this.scrolledTo) > 2) this.anchor = null;
      },
      { passive: true },
    ); // the user's own
    settings.addEventListener("change", () => this.#fill());
    this.#fill();
  }

  /** Handles a key. */
  toggle() {
    this.box.open = !this.box.open;
    if (this.box.open) this.box.querySelector("input").focus();
    else this.open.focus();
  }

  #fill() {
    for (const field of this.box.querySelectorAll("[data-reading]")) {
      const name = field.dataset.reading;
      field.value =
        name === "terms" && !this.settings.get("highlight")
          ? "off"
          : String(this.settings.get(name));
      field.parentElement
        .querySelector("output")
        ?.replaceChildren(say(name, field.value));
      if (field.type === "range")
        field.setAttribute("aria-valuetext", say(name, field.value));
    }
  }

  #set({ dataset: { reading: name }, type, value }) {
    if (name)
      this.#keepingPlace(() =>
        this.settings.set(
          ...(value === "off"
            ? [{ highlight: false }]
            : [
                {
                  [name]: type === "range" ? Number(value) : value,
                  ...(name === "terms" ? { highlight: true } : {}),
                },
              ]),
        ),
      );
  }

  /** The page's undo restores the previous value while the bar shows the message. */
  reset() {
    const before = Object.fromEntries(
      OWN.map((name) => [name, this.settings.get(name)]),
    );
    const changed = OWN.some((name) => before[name] !== STANDARD[name]);
    this.#keepingPlace(() =>
      this.settings.set(
        Object.fromEntries(OWN.map((name) => [name, STANDARD[name]])),
      ),
    );
    if (!changed) return;
    this.bar.toast(t("Reading settings reset."), {
      undo: label(this.settings.keys.undo),
      back: () => {
        this.#keepingPlace(() => this.settings.set(before));
        announce(t("Restored."));
        if (!this.box.open) this.open.focus();
      },
    });
  }

  /** Keeps the same word at the same height, even over many steps of a slider. */
  #keepingPlace(change) {
    this.anchor ??= scrollY > 0 ? this.#first() : null;
    change();
    if (!this.anchor?.node.isConnected) return;
    scrollBy(0, boxOf(this.anchor).top - this.anchor.top);
    this.scrolledTo = scrollY;
  }

  /** Returns the first visible character of the document: {node, offset, top}, or null. */
  #first() {
    const { top } = stage();
    const block = this.open.view?.blocks.find(
      ({ node }) => node.parentElement.getBoundingClientRect().bottom > top + 1,
    );
    if (!block) return null;
    const { node } = block;
    let low = 0,
      high = node.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (boxOf({ node, offset: middle }).bottom > top + 1) high = middle;
      else low = middle + 1;
    }
    return { node, offset: low, top: boxOf({ node, offset: low }).top };
  }
}

function boxOf({ node, offset }) {
  const range = document.createRange();
  range.setStart(node, offset);
  range.setEnd(node, offset + 1);
  return range.getBoundingClientRect();
}

function say(name, value) {
  return (
    {
      text_size: t("{n} px", { n: value }),
      measure: t("{n} characters", { n: value }),
      leading: Number(value).toLocaleString(locale, {
        minimumFractionDigits: 2,
      }),
    }[name] ?? ""
  );
}
