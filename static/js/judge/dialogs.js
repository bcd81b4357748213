// Dialogs of the page, created on first use.

import { byId } from "./dom.js";
import { Finder } from "./finder.js";
import { History } from "./history.js";
import { Note } from "./note.js";
import { Preferences } from "./preferences.js";
import { SignIn } from "./sign_in.js";

export class Dialogs {
  /**
   * open: OpenPair. signIn: {url, username}. openJudgement, takeUp: show a judged or a skipped
   * pair.
   */
  constructor({ api, settings, open, signIn, openJudgement, takeUp }) {
    Object.assign(this, { api, settings, open, signIn, openJudgement, takeUp });
  }

  /** Opens the search, unless a card or another state covers the document. */
  find() {
    if (!byId("panel").hidden) return;
    if (!this.finder) {
      this.finder = new Finder({
        view: () => this.open.view,
        onClose: () => this.open.focus(),
      });
      this.open.addEventListener("painted", () => this.finder.search());
    }
    this.finder.open();
  }

  /** Shows the annotator's own judgements, all of them or those of one query. */
  history(setup, topic) {
    const dialog = byId("history-dialog");
    const close = (then) => (what) => {
      dialog.close();
      then(what);
    };
    this.list ??= new History({
      api: this.api,
      box: byId("history-list"),
      open: close(this.openJudgement),
      takeUp: close(this.takeUp),
    });
    dialog.showModal();
    return this.list.show(setup, topic);
  }

  get preferences() {
    return (this.sheet ??= new Preferences(this.settings));
  }
  askSignIn(question) {
    (this.door ??= new SignIn({ api: this.api, ...this.signIn })).ask(question);
  }
  askNote(...about) {
    (this.note ??= new Note()).ask(...about);
  }
}
