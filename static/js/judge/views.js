// Views of the next documents, built in advance so that showing one is a single replacement.

import { DocumentView } from "./document_view.js";
import { here, part } from "./lazy.js";

const WARM = 3;

export class Views {
  constructor({
    build = (pair) =>
      new (pair.other ? this.BattleView : DocumentView)(pair, this.isMarkdown),
  } = {}) {
    this.build = build;
    this.built = new Map(); // by pair
  }

  /** The class of views of two documents. Its part is loaded. */
  get BattleView() {
    return (this.battleView ??= here.battle.battleView(DocumentView));
  }

  /** Resolves when the parts are loaded that show two documents or typeset text, if needed. */
  async prepare(queue) {
    if (queue.some(({ other }) => other)) await part("battle");
    if (
      !here.typeset &&
      (this.isMarkdown ||
        queue.some(({ document: { text, title }, other }) =>
          /&[#\w]+;|\\[([]|\$\S/.test(
            title + text + (other ? other.title + other.text : ""),
          ),
        ))
    ) {
      await part("typeset");
      this.built.clear();
    }
  }

  of(pair) {
    if (!this.built.has(pair.pair)) this.built.set(pair.pair, this.build(pair));
    return this.built.get(pair.pair);
  }

  drop({ pair }) {
    this.built.delete(pair);
  }

  /** Builds the views of the next documents and keeps that of the `open` one. */
  warmUp(queue, open) {
    const wanted = queue.slice(0, WARM);
    for (const pair of wanted)
      if (!this.built.has(pair.pair)) this.of(pair).terms();
    const keep = new Set(
      [...wanted, ...open].filter(Boolean).map(({ pair }) => pair),
    );
    for (const id of this.built.keys())
      if (!keep.has(id)) this.built.delete(id);
  }
}
