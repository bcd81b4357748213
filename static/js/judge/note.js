// The note on a document. Input is saved immediately, and "Put back" restores the previous note.

import { announce, byId } from "./dom.js";
import { t } from "../words.js";

export class Note {
  constructor() {
    this.dialog = byId("note-dialog");
    this.field = byId("note-text");
    this.field.addEventListener("input", () => {
      this.#complain("");
      this.keep(this.field.value);
    });
    this.dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.#save();
    });
    this.dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    this.dialog.addEventListener("close", () => this.left());
    byId("note-back").addEventListener("click", () => {
      this.keep(this.before);
      this.dialog.close();
    });
  }

  #complain(text) {
    byId("note-error").textContent = text;
    byId("note-error").hidden = !text;
    this.field.setAttribute("aria-invalid", String(Boolean(text)));
  }

  #save() {
    if (this.needed && !this.field.value.trim()) {
      this.#complain(
        t(
          "Briefly explain why the document can't be judged. Esc takes you back to it.",
        ),
      );
      this.field.focus();
      return;
    }
    this.dialog.close();
    this.done(this.field.value); // not by the close event, which is later: a grade given immediately must include the note
  }

  /**
   * needed: the note is the reason why the document cannot be judged. keep(text): called on each
   * change. done(text): called when it is saved. left(): called at the end.
   */
  ask(text, { needed, keep, done, left }) {
    Object.assign(this, { before: text, needed, keep, done, left });
    this.field.value = text;
    byId("note-hint").textContent = needed
      ? t("Enter why the document can't be judged.")
      : t(
          "Saved with your judgement. Managers can read it. Esc closes the note and keeps what you typed.",
        );
    this.#complain("");
    this.dialog.showModal();
    this.field.focus();
  }
}
