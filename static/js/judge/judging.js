// The judging page as a whole: which document is on it, what a press does, what the server's answers change.

import { Refused, SignedOut, Unreachable } from "./api.js";
import { Clock } from "./clock.js";
import { Connection } from "./connection.js";
import { gradeName } from "./bar.js";
import { afterPaint, announce, byId, make, paint, uuid } from "./dom.js";
import { DocumentView } from "./document_view.js";
import { label } from "./keyboard.js";
import { part } from "./lazy.js";
import { gates, isOver, isPolled, stops } from "./state_table.js";

const FRESH_MS = 3000; // a document on the page for less may be taken away again
const DOUBLE_MS = 300; // the same press again, sooner after a document was painted, was not meant for it
const WARM = 3; // documents built ahead
const RECENT = 5; // judgements ago: a query is still in mind

// Where passages are not marked.
const NO_SPANS = { units: [], points: [], cursor: null, show() {}, hide() {}, repaint() {}, removeNear() {}, undo: () => false, cancel: () => false, step: () => announce("Passages are not marked in this campaign.") };

export class Judging {
  constructor({ api, outbox, leases, bar, head, settings, memory, banners, askNote, askSignIn }) {
    Object.assign(this, { api, outbox, leases, bar, head, settings, memory, banners, askNote, askSignIn });
    this.connection = new Connection();
    this.spans = NO_SPANS;
    this.mode = "loading"; // loading, judging, waiting, state, checking
    this.serverState = "judging";
    this.lastAnswer = null;
    this.gate = null;
    this.trail = []; // own judgements, oldest first: {pair, key, judgement, grade, reason, note, spans, at}; or put aside: {pair, key, later}
    this.review = null; // place in the trail of the judgement that is open again
    this.view = null;
    this.clock = null;
    this.veil = null; // "idle" or "user-pause"
    this.warm = new Map();
    this.device = "keyboard";
    this.pendingGrade = null; // chosen, but a passage or a confirmation is missing
    this.stopped = false;
    bar.canUndo = () => this.canUndo;
    leases.addEventListener("arrived", () => this.#arrived());
    outbox.addEventListener("change", () => this.#outboxChanged());
    outbox.addEventListener("sent", ({ detail }) => this.#sent(detail));
    outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    outbox.addEventListener("signed-out", () => this.signedOut());
    outbox.addEventListener("unreachable", ({ detail }) => this.#missed(detail.error));
  }

  // Beginning.

  async begin(setup, open) {
    this.setup = setup;
    this.bar.setScale(setup.scale);
    this.leases.ahead = setup.campaign.lease_window ?? 3;
    this.outboxLimit = Math.max(1, this.leases.ahead);
    if (setup.campaign.spans !== "off") {
      const { Spans } = await part("marking");
      this.spans = new Spans({ list: byId("marks"), markButton: byId("mark") });
      this.spans.addEventListener("change", () => { this.keepDraft(); this.bar.refresh(); this.#prompt("marked"); });
      this.spans.addEventListener("cursor", () => this.#prompt("cursor"));
    }
    if (setup.messages.length + this.outbox.refused.length) this.#notify((notices) => {
      for (const message of setup.messages) notices.message(this, message);
      if (this.outbox.refused.length) notices.refused(this);
    });
    this.react(setup, { quiet: true });
    this.#outboxChanged();
    this.outbox.flush({ now: true });
    if (stops(setup.state)) {
      this.#showState(setup.state, setup);
      return;
    }
    await this.check();
    if (open) this.openJudgement(open);
  }

  /** Asks the server for pairs and shows what there is. Where answers are on their way, theirs bring the pairs and decide. */
  async check() {
    if (this.outbox.busy) return;
    try {
      const answer = await this.leases.topUp();
      this.reach(true);
      this.react(answer);
      if (!this.stopped && ["loading", "waiting", "state"].includes(this.mode) && !stops(answer.state)) this.advance({ asked: answer });
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error) {
    if (error instanceof SignedOut) this.signedOut();
    else if (error instanceof Refused) {
      if (error.body?.state) this.react(error.body);
      else if (this.mode !== "judging") this.#showState("refused", { message: error.message });
      else this.banners.show("refused", { tone: "warn", text: error.message });
    } else if (error instanceof Unreachable) this.#missed(error);
    else throw error;
  }

  #missed(error) {
    this.reach(false, error);
    const waits = ["loading", "waiting"].includes(this.mode);
    if (waits && !this.outbox.busy) this.#showState("unreachable", error);
    if (waits || (this.mode === "state" && this.stateShown === "unreachable")) this.#pollIn(Math.max(4000, error.waitMs) * (1 + Math.random() / 4));
  }

  // What is on the page.

  /** Shows the next document, or says why there is none. */
  advance({ asked = null } = {}) {
    if (this.stopped) return;
    this.review = null;
    this.#dropCurrentView();
    if (stops(this.serverState)) return void this.#showState(this.serverState, this.lastAnswer);
    if (this.gate) return void this.#openGate();
    if (this.outbox.size > this.outboxLimit) return void this.#showState("full", {});
    const pair = this.leases.current ?? this.leases.next();
    if (pair) {
      if (this.#isChange(pair)) this.#introduce(pair);
      else this.show(pair);
      this.#topUpSoon();
      return;
    }
    if (!asked) {
      this.#showWaiting();
      void this.check();
      return;
    }
    const { state } = asked;
    if (this.outbox.size) this.#showWaiting(); // the answer on its way decides
    else if (state === "nothing_now" || state === "done" || state === "target_reached" || state === "daily_limit") this.#showState(state, asked);
    else this.#showState("nothing_now", { ...asked, retry_after_s: 5 });
  }

  // A card at a change of the query. Not for one that was on the page a moment ago, before a pair of another one (gold, an undo).

  #isChange({ topic: { id } }) {
    const known = this.topicId === undefined || this.topicId === id || this.trail.slice(-RECENT).some(({ pair }) => pair?.topic.id === id);
    return !known && this.cardOf !== id && this.settings.get("cards") && this.serverState !== "qualification";
  }

  get onCard() { return this.mode === "state" && this.stateShown === "card"; }

  #introduce(pair) {
    this.head.showTopic(pair.topic, { isNew: true, label: "New query" });
    this.head.showNeed(false); // the card has it
    this.topicShown = pair.topic;
    this.#showState("card", pair);
    this.#warmUp();
  }

  /** From the card to the document. */
  start() {
    if (!this.onCard) return;
    const pair = this.leases.current ?? this.leases.next();
    this.pressedAt = null;
    this.cardOf = pair?.topic.id;
    if (pair) this.show(pair);
    else this.advance();
  }

  show(pair, { record = null } = {}) {
    const view = this.warm.get(pair.pair) ?? new DocumentView(pair);
    this.warm.set(pair.pair, view);
    const isNew = this.topicId !== undefined && this.topicId !== pair.topic.id && !record;
    this.topicId = pair.topic.id;
    this.topicShown = pair.topic;
    this.mode = "judging";
    this.view = view;
    this.pair = pair;
    this.veil = null;
    const draft = record ? null : this.memory.draft(pair.lease);
    const before = record ?? pair.previous ?? {};
    const testing = this.serverState === "qualification" && !record;
    this.note = draft?.note ?? record?.unsaved ?? before.note ?? "";
    this.paintedAt = null;
    byId("panel").hidden = true;
    if (testing) this.#notify((notices) => notices.practice(this));
    else this.banners.hide("practice");
    const box = byId("document");
    box.hidden = false;
    box.setAttribute("aria-busy", "false");
    box.replaceChildren(view.element);
    this.head.showTopic(pair.topic, { isNew, label: record ? "Judged earlier" : testing ? `Query (practice ${this.lastAnswer.judged + 1} of ${this.lastAnswer.total})` : isNew ? "New query" : "Query" });
    this.head.showNeed(this.settings.get("need"));
    this.head.showLeft(record || testing ? null : pair.left_in_topic);
    this.spans.show(view, draft?.spans ?? before.spans ?? []);
    this.#paintTerms();
    this.bar.leaveReason();
    this.bar.select(record ? record.grade : pair.previous?.grade ?? null);
    this.bar.enable(true);
    this.bar.say("");
    this.labelNote();
    this.pendingGrade = null;
    this.banners.hide("expired");
    this.banners.hide("review");
    if (pair.expired) this.#tellExpired();
    if (pair.skipped_before && !record) this.banners.show("later", { tone: "info", text: "You put this one aside before." });
    else this.banners.hide("later");
    this.toPlace(record ? null : this.memory.place(pair.lease));
    view.heading.focus({ preventScroll: true });
    const clock = new Clock({ limitMs: (pair.document.idle_limit_s ?? this.setup.campaign.idle_seconds ?? 60) * 1000, saved: record ? null : this.memory.clock(pair.lease) });
    this.clock = clock;
    const pressedAt = this.pressedAt;
    this.pressedAt = null;
    if (!pressedAt) this.lastPress = null; // no press has brought it
    afterPaint((now) => {
      if (this.clock !== clock) return;
      clock.start({ seen: this.looking });
      this.shownAt = this.paintedAt = now;
      if (pressedAt) performance.measure("assay:next", { start: pressedAt, end: now });
      this.watchIdle();
      this.finder?.search();
      if (view.later.length) view.complete().then((added) => added && this.#paintTerms());
      setTimeout(() => this.#warmUp(), 0);
    });
    const { judged, target } = this.head.progress ?? {};
    announce(`${this.told ?? ""}${isNew ? `New query: ${pair.topic.text}. ` : ""}${view.heading.textContent}${target ? `. ${judged + this.#pending()} of ${target}` : ""}`);
    this.told = "";
  }

  repaintTerms() { this.#paintTerms(); }
  refuse(message) { this.#showState("refused", { message }); }

  cancelPending() {
    this.pendingGrade = null;
    this.bar.bar.classList.remove("urgent");
    this.bar.select(this.review === null ? null : this.trail[this.review].grade);
    this.bar.say("");
  }

  #paintTerms() {
    paint("term", this.settings.get("highlight") && this.view ? this.view.terms() : []);
  }

  /** Builds the documents behind this one, so that showing them is one replacement. */
  #warmUp() {
    const wanted = this.leases.queue.slice(0, WARM);
    for (const pair of wanted) {
      if (this.warm.has(pair.pair)) continue;
      const view = new DocumentView(pair);
      view.terms();
      this.warm.set(pair.pair, view);
    }
    const keep = new Set([...wanted, this.pair, this.leases.current].filter(Boolean).map((pair) => pair.pair));
    for (const id of this.warm.keys()) if (!keep.has(id)) this.warm.delete(id);
  }

  #dropCurrentView() {
    this.view = null;
    this.pair = null;
    this.clock = null;
    this.spans.hide();
    paint("term", []);
    paint("find", []);
    paint("found", []);
    clearTimeout(this.idleTimer);
  }

  #showWaiting() {
    this.mode = "waiting";
    this.bar.enable(false);
    byId("panel").hidden = true;
    const box = byId("document");
    box.hidden = false;
    box.setAttribute("aria-busy", "true");
    box.replaceChildren(make("div.doc", { "aria-hidden": "true" }, make("div.skeleton.title"), ...Array.from({ length: 8 }, () => make("div.skeleton.line"))));
  }

  #showState(state, answer) {
    this.mode = "state";
    this.stateShown = state;
    this.stateAnswer = answer;
    this.bar.leaveReason();
    this.bar.say("");
    if (state !== "card") this.bar.hideToast();
    this.head.showLeft(0);
    this.bar.enable(false, { undo: !isOver(state) && !this.stopped });
    byId("document").hidden = true;
    for (const name of ["review", "expired", "later"]) this.banners.hide(name);
    scrollTo(0, 0);
    void this.drawPanel({ fresh: true });
    if (isPolled(state)) this.#pollIn((answer?.retry_after_s ?? 30) * 1000);
  }

  async drawPanel({ fresh = false } = {}) {
    const state = this.stateShown;
    const { drawPanel } = await part("states");
    if (state !== this.stateShown || (this.mode !== "state" && !this.veil)) return; // overtaken
    drawPanel(this);
    if (!fresh) return;
    const title = byId("panel-title");
    title.focus({ preventScroll: true });
    announce(`${this.told ?? ""}${state === "card" ? "New query: " : ""}${title.textContent}`, { urgent: state !== "card" });
    this.told = "";
  }

  #pollIn(ms) {
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(() => {
      if (!this.stopped && this.mode !== "judging" && !this.outbox.held) void this.check();
    }, ms);
  }

  #arrived() {
    this.#prune();
    if (this.stopped) return;
    if (this.mode === "waiting" || (this.mode === "state" && ["nothing_now", "unreachable"].includes(this.stateShown))) this.advance();
    else setTimeout(() => this.#warmUp(), 0);
  }

  #prune() {
    const onTheWay = new Set(this.outbox.leases());
    this.leases.queue = this.leases.queue.filter((pair) => !onTheWay.has(pair.lease));
  }

  #topUpSoon() {
    if (this.leases.queue.length >= this.leases.ahead || this.outbox.size) return; // an answer on its way brings pairs with it
    this.leases.topUp().then((answer) => { this.reach(true); this.react(answer); }, (error) => this.failed(error));
  }

  // Presses.

  /** Whether a press means the document on the page. */
  get ready() { return this.mode === "judging" && !this.veil && !this.opening; }

  /** Whether a press is the second half of a double one, whose first half has brought this document. */
  #isEcho(press) {
    const at = this.pressedAt ?? performance.now();
    const echo = press === this.lastPress && (this.paintedAt === null || at - this.paintedAt < DOUBLE_MS);
    this.lastPress = press;
    return echo;
  }

  /** A grade was pressed. */
  grade(place, device) {
    const grade = this.bar.gradeAt(place);
    if (!grade || !this.ready || this.#isEcho(place)) return;
    this.device = device;
    const again = this.pendingGrade === grade.value;
    this.pendingGrade = null;
    if (this.#lacksSpan(grade)) {
      this.pendingGrade = grade.value;
      this.bar.select(grade.value);
      this.view.heading.focus({ preventScroll: true });
      return this.#prompt("missing");
    }
    if (this.settings.get("confirm") && !again) {
      this.pendingGrade = grade.value;
      this.bar.select(grade.value);
      return this.#prompt("chosen");
    }
    this.submit({ grade: grade.value });
  }

  #lacksSpan(grade) {
    const { spans, spans_from: from } = this.setup.campaign;
    return spans === "required" && grade.value >= from && this.spans.units.length === 0;
  }

  confirm(device) {
    if (this.spans.cursor) return void this.spans.step();
    if (this.onCard) return void this.start();
    this.lastPress = null; // Enter is no echo of the grade that it confirms
    if (this.pendingGrade === null || this.mode !== "judging") return;
    const place = this.bar.scale.findIndex((grade) => grade.value === this.pendingGrade);
    this.grade(place, device);
  }

  #prompt(what) { part("prompts").then((prompts) => prompts[what](this)); }

  cannot(reason, device) {
    if (!this.ready) return;
    this.device = device;
    this.lastPress = this.bar.placeOf(reason);
    if (reason === "") return void this.bar.leaveReason();
    if (reason === "other" && !this.note.trim()) return void this.openNote({ needed: true });
    this.bar.leaveReason();
    this.submit({ grade: null, reason });
  }

  /** Sends a judgement, or a new version of an earlier one, and shows what is next. */
  submit({ grade, reason = "" }) {
    const { pair, clock } = this;
    const times = clock.read();
    const now = new Date().toISOString();
    const spans = reason ? [] : this.spans.points;
    const key = uuid();
    const name = gradeName(this.setup.scale, grade, reason);
    const body = {
      key, grade, cannot_reason: reason, note: this.note, spans, ...times, shown_at: times.shown_at ?? now, judged_at: now,
      guideline_version: this.guidelineVersion, device: this.device,
    };
    const reviewed = this.review === null ? null : this.trail[this.review];
    const entry = reviewed
      ? { key, kind: "revise", pair: pair.pair, title: this.view.heading.textContent, of: this.outbox.has(reviewed.key) ? reviewed.key : null, judgement: this.outbox.has(reviewed.key) ? null : reviewed.judgement, label: name, body }
      : { key, kind: "judge", pair: pair.pair, title: this.view.heading.textContent, lease: pair.lease, label: name, body: { ...body, lease: pair.lease } };
    this.outbox.add(entry);
    const undoKey = label(this.settings.keys.undo);
    if (reviewed) {
      const was = gradeName(this.setup.scale, reviewed.grade, reviewed.reason);
      Object.assign(reviewed, { key, grade, reason, note: this.note, spans, unsaved: undefined });
      this.bar.toast(was === name ? `Kept ${name}` : `Changed to ${name} (was ${was})`);
      announce(`Changed to ${name}.`);
      this.review = null;
      this.advance();
      return;
    }
    const practice = this.serverState === "qualification";
    if (!practice) this.trail.push({ pair, key, judgement: null, grade, reason, note: this.note, spans, at: now }); // its solution is shown: final
    if (this.trail.length > 60) this.trail.shift();
    this.leases.finish(pair.lease);
    this.memory.forget(pair.lease);
    this.warm.delete(pair.pair);
    this.head.showProgress(null, this.#pending());
    this.bar.bar.classList.remove("urgent");
    if (practice) {
      this.pressedAt = null;
      this.mode = "checking"; // the document stays while the answer is explained
      this.clock = null;
      this.spans.enabled = false;
      this.bar.select(grade);
      this.bar.enable(false, { undo: false });
      announce(`Judged ${name}.`);
      return;
    }
    this.told = `Judged ${name}. `; // before what comes next
    this.bar.toast(reason ? name : `Judged ${name}`, { undo: undoKey });
    this.advance();
  }

  later(device) {
    this.pressedAt = performance.now();
    if (!this.ready || this.#isEcho("later")) return;
    this.device = device;
    if (this.review !== null) return void this.leaveReview();
    const { pair } = this, key = uuid();
    this.trail.push({ pair, key, later: true });
    this.outbox.add({ key, kind: "skip", pair: pair.pair, lease: pair.lease, label: "judge later", body: { lease: pair.lease } });
    this.leases.finish(pair.lease);
    this.memory.forget(pair.lease);
    this.bar.toast("Put aside; it comes back when nothing else is left. “My judgements” lists it.", { undo: label(this.settings.keys.undo) });
    announce("Put aside for later.");
    this.advance();
  }

  openNote({ needed = false } = {}) {
    if (this.ready) void this.askNote(this, needed);
  }

  labelNote() { byId("note-label").textContent = this.note.trim() ? "Note •" : "Note"; byId("note-label").parentElement.classList.toggle("has-note", Boolean(this.note.trim())); }

  keepDraft() {
    if (this.review !== null || !this.pair?.lease) return;
    this.memory.keepDraft(this.pair.lease, { note: this.note, spans: this.spans.points });
  }

  // Earlier judgements: review.js.

  /** Whether there is anything to take back: a mark, a judgement of this page before the open one, or one that the server has. */
  get canUndo() {
    return this.spans.before?.length > 0 || (this.review ?? this.trail.length) > 0 || (this.setup?.has_judged && !this.nothingEarlier);
  }

  undo() {
    const over = this.mode === "state" && isOver(this.stateShown);
    if (this.stopped || over || this.mode === "loading" || this.mode === "checking") return;
    if (this.ready && this.spans.undo()) return; // what was done last on this document
    this.openReview((this.review ?? this.trail.length) - 1);
  }

  openReview(place) { this.#open((review) => review.openReview(this, place)); }
  openJudgement(id) { this.#open((review) => review.openJudgement(this, id)); }
  takeUp(pair) { this.#open((review) => review.takeUp(this, pair)); }

  /** Until it is open, no press may land on the document that is still on the page. */
  #open(work) {
    this.opening = true;
    part("review").then(work).finally(() => { this.opening = false; });
  }

  setAside() {
    if (this.review === null && this.pair?.lease && this.clock) {
      this.keepDraft();
      this.keepClock();
    }
  }

  /** How far the document was read, for when it is shown again. */
  keepPlace() {
    if (this.view?.element.isConnected && this.review === null && !this.veil) this.memory.keepPlace(this.pair.lease, { y: Math.round(scrollY), all: this.view.showsAll });
  }

  /** Scrolls to where the reader was, when the text is there that far. */
  async toPlace(place) {
    const { view } = this;
    if (place?.all) view.showRest();
    scrollTo(0, place?.y ?? 0);
    if (place && scrollY < place.y - 1) await view.complete();
    if (!place || this.view !== view) return;
    scrollTo(0, place.y);
    this.#paintTerms();
    this.spans.repaint();
  }

  leaveReview() {
    if (this.review === null) return false;
    this.advance();
    return true;
  }

  // The server's answers.

  #pending() { return this.outbox.entries.filter((entry) => entry.kind === "judge").length; }

  #sent({ entry, answer }) {
    this.reach(true);
    answer.sentAt = this.answeredAt = Date.now();
    const record = this.trail.find((one) => one.key === entry.key);
    if (record && answer.judgement) record.judgement = answer.judgement.id;
    if (entry.kind === "skip") this.leases.done.add(entry.lease);
    if (answer.judgement && !answer.feedback) this.#notify((notices) => notices.outcome(this, entry, answer.judgement));
    this.leases.accept(answer.pairs);
    const explains = this.mode === "checking" && entry.kind === "judge" && answer.feedback;
    this.react(answer, { quiet: Boolean(explains) });
    if (explains) return void this.#explain(answer.feedback);
    if (this.reloadWanted && this.outbox.size === 0 && performance.now() - (this.shownAt ?? 0) < FRESH_MS) return void location.reload(); // a newer page is installed
    if (this.mode === "checking" && entry.kind === "judge") this.advance();
    else if (["loading", "waiting"].includes(this.mode) && !this.outbox.busy) this.leases.queue.length || answer.state === "done" ? this.advance({ asked: answer }) : void this.check(); // perhaps stale
    else if (this.mode === "state" && this.stateShown === "full" && this.outbox.size <= this.outboxLimit) this.advance();
    else if (this.mode === "judging") this.#topUpSoon();
  }

  async #explain(feedback) {
    const { explain } = await part("guideline");
    explain(feedback, { scale: this.setup.scale, done: () => this.advance() });
  }

  #notify(tell) { part("notices").then(tell); }

  #refused({ error }) {
    this.#notify((notices) => notices.refused(this));
    if (error.body?.state) this.react(error.body);
    if (this.mode === "checking") this.advance();
    if (["loading", "waiting"].includes(this.mode)) void this.check();
  }

  /** Takes over state, progress and times of an answer, unless it was asked for before the last judgement was answered. */
  react(answer, { quiet = false } = {}) {
    if (!answer?.state || (answer.sentAt < this.answeredAt && !stops(answer.state))) return; // stale
    this.lastAnswer = answer;
    if (answer.progress) this.head.showProgress(answer.progress, this.#pending());
    const before = this.serverState;
    this.serverState = answer.state;
    if (answer.deadline) this.head.showDeadline(this.setup.campaign.deadline = answer.deadline, this.api.serverNow());
    this.gate = gates(answer.state) && !(answer.state === "target_reached" && this.leases.onward) ? answer : null;
    if (quiet || this.stopped) return;
    if (stops(answer.state)) {
      if (this.mode !== "state" || this.stateShown !== answer.state) {
        this.setAside();
        this.review = null;
        this.#dropCurrentView();
        this.#showState(answer.state, answer);
      }
    } else if (this.gate) {
      const fresh = this.mode === "judging" && this.review === null && performance.now() - (this.shownAt ?? 0) < FRESH_MS;
      if (fresh || ["waiting", "loading"].includes(this.mode) || (this.mode === "state" && this.stateShown !== answer.state)) {
        this.setAside();
        this.#dropCurrentView();
        this.#openGate();
      }
    } else if (this.mode === "state" && (stops(this.stateShown) || gates(this.stateShown) || this.stateShown === "unreachable") && before !== answer.state) {
      this.mode = "waiting";
      this.advance();
    }
  }

  async #openGate() {
    const answer = this.gate;
    if (answer.state !== "guideline_changed") return void this.#showState(answer.state, answer);
    this.#showWaiting();
    this.mode = "state";
    this.stateShown = "guideline_changed";
    (await part("guideline")).readGuideline(this, answer.guideline);
  }

  get guidelineVersion() { return this.setup.guideline?.acknowledged || this.setup.guideline?.number || 0; }

  // Connection, session, leases.

  #outboxChanged() {
    this.head.showChip(this.outbox.status, this.outbox.size);
    this.head.showProgress(null, this.#pending());
    if (!this.outbox.durable) this.#notify((notices) => notices.storage(this));
    if (this.mode === "state" && ["full", "unreachable", "deadline_passed"].includes(this.stateShown)) {
      void this.drawPanel();
      if (this.stateShown === "full" && this.outbox.size <= this.outboxLimit) this.advance();
    }
    this.#tellConnection();
  }

  /** What a request told about the connection. */
  reach(ok, error) {
    this.connection.note(ok, error);
    this.#tellConnection();
  }

  #tellConnection() {
    if (!this.connection.troubled) return this.banners.hide("connection");
    this.#notify((notices) => notices.connection(this.banners, this.connection, {
      waiting: this.outbox.size,
      here: this.leases.queue.length + (this.pair && this.review === null ? 1 : 0),
    }));
  }

  retry() {
    this.outbox.flush({ now: true });
    if (this.mode !== "judging") void this.check();
  }

  signedOut() {
    this.outbox.hold();
    this.signingIn = true;
    void this.askSignIn({ waiting: this.outbox.size, done: () => {
      this.signingIn = false;
      this.outbox.release();
      this.reach(true);
      if (this.mode !== "judging") void this.check();
    } });
  }

  heartbeat(sinceMs = 0) { part("presence").then((presence) => presence.heartbeat(this, sinceMs)); }

  #tellExpired() { this.#notify((notices) => notices.expired(this)); }

  // The reader's presence.

  get looking() { return document.visibilityState === "visible" && document.hasFocus() && !this.veil && !this.signingIn; }

  presence() {
    this.clock?.watch(this.looking);
    this.keepClock();
    this.watchIdle();
  }

  sign() {
    if (this.clock?.running && !this.veil) {
      this.clock.sign();
      this.watchIdle();
    }
  }

  keepClock() {
    this.keepPlace();
    if (this.clock?.running && this.review === null && this.pair?.lease) this.memory.keepClock(this.pair.lease, this.clock.save());
  }

  watchIdle() {
    clearTimeout(this.idleTimer);
    if (this.mode !== "judging" || !this.clock || this.veil) return;
    const wait = this.clock.untilIdle;
    if (wait === Infinity) return;
    this.idleTimer = setTimeout(() => {
      if (this.mode === "judging" && this.clock?.isIdle && !this.veil) this.cover("idle");
      else this.watchIdle();
    }, wait + 5);
  }

  cover(why) {
    if (!this.ready) return;
    this.keepPlace();
    this.coveredAt = scrollY;
    this.veil = why;
    if (why === "user-pause") this.clock?.watch(false);
    part("veil").then((veil) => veil.cover(this, why));
  }

  uncover() {
    if (this.veil === "idle") this.clock?.sign();
    this.veil = null;
    this.clock?.watch(this.looking);
    part("veil").then((veil) => { veil.uncover(this); scrollTo(0, this.coveredAt); });
  }

  /** Another tab took over. */
  stop() {
    this.setAside();
    this.stopped = true;
    this.outbox.hold();
    clearTimeout(this.pollTimer);
    this.#dropCurrentView();
    this.#showState("other-tab", {});
  }
}
