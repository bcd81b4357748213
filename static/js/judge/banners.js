// Notices below the query. Each has a name, so that it is shown only once and can be removed. Only
// the newest one is visible until the others are opened, because notices move the document down.

import { make } from "./dom.js";
import { tn } from "../plurals.js";
import { t } from "../words.js";

export class Banners {
  constructor(box) {
    this.box = box;
    this.shown = new Map(); // the newest last
    this.isOpen = false;
    this.more = make("button.button.small.quiet", {
      type: "button",
      onclick: () => {
        this.isOpen = true;
        this.#draw();
      },
    });
  }

  #draw() {
    const [newest, ...older] = [...this.shown.values()].reverse();
    this.isOpen &&= older.length > 0;
    if (newest) newest.hidden = false;
    for (const banner of older) banner.hidden = !this.isOpen;
    this.more.remove();
    if (!older.length || this.isOpen) return;
    this.more.textContent = tn(
      "{n} more notice",
      "{n} more notices",
      older.length,
    );
    newest.append(this.more);
  }

  show(name, { tone = "info", text, actions = [], closes = false }) {
    const old = this.shown.get(name);
    if (old?.dataset.text === text) return;
    const banner = make(
      `div.banner.callout.${tone}`,
      { dataset: { name, text } },
      make("p", {}, text),
      ...actions.map(({ label, action, run }) =>
        make(
          "button.button.small",
          {
            type: "button",
            dataset: action ? { action } : {},
            onclick: run
              ? () => {
                  this.hide(name);
                  run();
                }
              : null,
          },
          label,
        ),
      ),
      closes
        ? make(
            "button.button.small.quiet",
            {
              type: "button",
              "aria-label": t("Close this notice"),
              onclick: () => this.hide(name),
            },
            t("Close"),
          )
        : null,
    );
    if (old) old.replaceWith(banner);
    else this.box.prepend(banner);
    this.shown.set(name, banner);
    this.#draw();
  }

  hide(name) {
    this.shown.get(name)?.remove();
    this.shown.delete(name);
    this.#draw();
  }
}
