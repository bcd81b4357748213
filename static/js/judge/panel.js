// What stands in place of the document: a state of the server or of the page.

import { announce, byId, make } from "./dom.js";
import { part } from "./lazy.js";
import { t } from "../words.js";

export class Panel {
  /** `context()`: what the words of a state are made with (states.js). */
  constructor({ context }) {
    Object.assign(this, { context, state: null, answer: null, isOpen: false });
  }

  /** `told()`: what is said before its title. */
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

  /** A document is on its way. */
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

  /** Again, because what it tells has changed. Resolves to whether it is still this state. */
  async draw() {
    const { state } = this;
    const { drawState } = await part("states");
    if (state !== this.state || !this.isOpen) return false; // overtaken
    drawState(byId("panel"), state, this.answer, this.context());
    return true;
  }
}
