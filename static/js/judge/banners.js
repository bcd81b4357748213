// Notices below the query. Each has a name, so that it is shown only once and can be removed.

import { make } from "./dom.js";
import { t } from "../words.js";

export class Banners {
  constructor(box) {
    this.box = box;
    this.shown = new Map();
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
    else this.box.append(banner);
    this.shown.set(name, banner);
  }

  hide(name) {
    this.shown.get(name)?.remove();
    this.shown.delete(name);
  }
}
