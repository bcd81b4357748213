// The panel shown instead of the document: a state of the server or of the page.

import { announce, byId, make } from "./dom.js";
import { part } from "./lazy.js";
import { t } from "../words.js";

export class Panel {
  /** context(): returns the values for the texts of a state (states.js). */
  constructor({ context }) {
    Object.assign(this, { context, state: null, answer: null, isOpen: false });
  }

  /** told(): returns the text before its title. */
  async show(state, answer, { told = () => "" } = {}) {
    Object.assign(this, { state, answer, isOpen: true });
    byId("document").hidden = true;
    if (!(await this.draw()) || this.answer !== answer) return;
    const title = byId("panel-title");
    title.focus({ preventScroll: true });
    announce(
      `${told()}${state === "card" ? `${t("New query")}: ` : ""}${title.textContent}`,
      { urgent: state !== "card" },
    );
  }

  hide() {
    this.isOpen = false;
    byId("panel").hidden = true;
  }

  /** Shows that a document is loading. */
  wait() {
    this.hide();
    const box = byId("document");
    box.hidden = false;
    box.setAttribute("aria-busy", "true");
    box.replaceChildren(
      make(
        "div.doc",
        { "aria-hidden": "true" },
        make("div.skeleton.title"),
        ...Array.from({ length: 8 }, () => make("div.skeleton.line")),
      ),
    );
  }

  /** Redraws the state after its values have changed. Resolves to whether it is still shown. */
  async draw() {
    const { state } = this;
    const { drawState } = await part("states");
    if (state !== this.state || !this.isOpen) return false; // replaced in the meantime
    drawState(byId("panel"), state, this.answer, this.context());
    return true;
  }
}
