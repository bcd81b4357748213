// The pair on the page: its query, document, marked passages and note.

import { afterPaint, announce, byId, paint } from "./dom.js";
import { part } from "./lazy.js";
import { t } from "../words.js";

// For campaigns without marked passages.
const NO_SPANS = {
  units: [],
  points: [],
  cursor: null,
  show() {},
  hide() {},
  repaint() {},
  removeNear() {},
  undo: () => false,
  cancel: () => false,
  guide() {},
  step: () => announce(t("Passages can't be marked in this campaign.")),
};

/** Emits "painted" when a document is shown, and "marked" and "cursor" as in spans.js. */
export class OpenPair extends EventTarget {
  constructor({ reader, memory, views, bar, head, settings, steps }) {
    super();
    Object.assign(this, {
      reader,
      memory,
      views,
      bar,
      head,
      settings,
      steps,
      spans: NO_SPANS,
      note: "",
    });
    Object.assign(this, {
      pair: null,
      view: null,
      record: null,
      topic: null,
      ahead: null,
      paintedAt: null,
    }); // record: the annotator's judgement that is open for revision
  }

  /** In a campaign with marked passages. */
  async markPassages() {
    const { Spans } = await part("marking");
    this.spans = new Spans({ list: byId("marks"), markButton: byId("mark") });
    this.spans.addEventListener("change", () => {
      this.keepDraft();
      this.bar.refresh();
      this.dispatchEvent(new Event("marked"));
    });
    this.spans.addEventListener("cursor", () =>
      this.dispatchEvent(new Event("cursor")),
    );
  }

  /**
   * Shows a pair. practice: {judged, total} in the qualification test. atEnd: begin with the last
   * question of the record. Returns whether the query has changed.
   */
  show(
    pair,
    {
      record = null,
      practice = null,
      atEnd = false,
      idleLimitMs,
      pressedAt = null,
    },
  ) {
    const view = this.views.of(pair),
      draft = record ? null : this.memory.draft(pair.lease);
    const before = record ?? pair.previous ?? {};
    const isNew =
      Boolean(this.topic) && this.topic.id !== pair.topic.id && !record;
    Object.assign(this, {
      pair,
      view,
      record,
      topic: pair.topic,
      ahead: null,
      paintedAt: null,
    });
    const clock = this.reader.open({
      view,
      lease: record ? null : pair.lease,
      limitMs: idleLimitMs,
    });
    const box = byId("document");
    box.hidden = false;
    box.setAttribute("aria-busy", "false");
    const stands = view.element.isConnected ? view.stands : null; // already placed by first.js
    view.stands = null;
    if (!stands) box.replaceChildren(view.element);
    this.head.showTopic(pair.topic, {
      isNew,
      label: nameOf({ isNew, practice, record }),
    });
    this.head.showNeed(this.settings.get("need"));
    this.head.showLeft(record || practice ? null : pair.left_in_topic);
    this.spans.show(view, draft?.spans ?? before.spans ?? []);
    this.repaintTerms();
    this.#name(draft?.note ?? record?.unsaved ?? before.note ?? "");
    this.bar.leaveReason();
    this.steps.open({
      record: record ?? pair.previous,
      draft: draft?.answers,
      atEnd,
    });
    this.bar.enable(true);
    this.bar.say("");
    if (!stands)
      this.reader.toPlace().then((grown) => {
        if (grown) this.repaint();
      });
    view.heading.focus({ preventScroll: true });
    afterPaint((now) => {
      if (this.reader.clock !== clock) return;
      this.reader.start(stands?.since);
      this.paintedAt = this.shownAt = now;
      if (pressedAt)
        performance.measure("assay:next", { start: pressedAt, end: now });
      if (!view.isWhole)
        view.complete().then((grown) => grown && this.repaintTerms());
      this.dispatchEvent(new Event("painted"));
    });
    return isNew;
  }

  /** Shows the query of the next pair before its document. */
  introduce({ topic }) {
    this.ahead = topic;
    this.head.showTopic(topic, { isNew: true, label: t("New query") });
    this.head.showNeed(false); // shown on the card
  }

  /**
   * Returns whether the annotator has just seen a query: that of the last document, or of the card
   * before this one.
   */
  knows(topic) {
    return !this.topic || [this.topic.id, this.started].includes(topic);
  }
  get topicShown() {
    return this.ahead ?? this.topic;
  }

  drop() {
    this.view = this.pair = this.record = null;
    this.#name("");
    this.steps.open();
    this.reader.close();
    this.spans.hide();
    for (const name of ["term", "find", "found"]) paint(name, []);
  }

  /** Keeps the answered document while its answer is explained. */
  freeze() {
    this.reader.close();
    this.spans.enabled = false;
  }

  cover() {
    byId("marks").hidden = true;
    this.bar.enable(false);
  }

  uncover() {
    byId("document").hidden = false;
    this.bar.enable(true);
    this.spans.repaint();
    this.focus();
  }

  repaintTerms() {
    paint(
      "term",
      this.settings.get("highlight") && this.view ? this.view.terms() : [],
    );
  }

  repaint() {
    this.repaintTerms();
    this.spans.repaint();
  }

  showRest() {
    this.view?.showRest();
    this.repaint();
  }

  get title() {
    return this.view?.title ?? "";
  }
  focus() {
    this.view?.heading.focus({ preventScroll: true });
  }

  setNote(text) {
    this.#name(text);
    if (this.record) this.record.unsaved = text;
    this.keepDraft();
  }

  #name(note) {
    this.note = note;
    const has = Boolean(note.trim()),
      name = byId("note-label");
    name.textContent = has ? `${t("Note")} •` : t("Note");
    name.parentElement.classList.toggle("has-note", has);
  }

  keepDraft() {
    if (this.reader.lease)
      this.memory.keepDraft(this.reader.lease, {
        note: this.note,
        spans: this.spans.points,
        answers: this.steps.draft,
      });
  }

  setAside() {
    if (!this.reader.lease) return;
    this.keepDraft();
    this.reader.keep();
  }
}

function nameOf({ isNew, practice, record }) {
  if (record) return t("Judged earlier");
  if (practice)
    return t("Query (test {n} of {total})", {
      n: practice.judged + 1,
      total: practice.total,
    });
  return isNew ? t("New query") : t("Query");
}
