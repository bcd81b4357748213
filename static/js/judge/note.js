// The note on a document.

import { byId } from "./dom.js";

export class Note {
  constructor() {
    this.dialog = byId("note-dialog");
    this.dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.dialog.close("save");
      this.#keep(); // the close event comes later, perhaps after the next key: a grade given at once must have the note
    });
    this.dialog.addEventListener("close", () => { if (this.dialog.returnValue === "save") this.#keep(); });
  }

  #keep() {
    const done = this.done;
    this.done = null;
    done?.(byId("note-text").value);
  }

  ask({ text, needed, done }) {
    this.done = done;
    byId("note-text").value = text;
    byId("note-hint").textContent = needed ? "Please say why it cannot be judged." : "Kept with your judgement; the manager can read it.";
    this.dialog.returnValue = "";
    this.dialog.showModal();
    byId("note-text").focus();
  }
}
