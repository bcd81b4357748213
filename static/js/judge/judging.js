// The judging page as a whole: which document is on it, what a press does, what the server's answers change.

import { Refused, SignedOut, Unreachable } from "./api.js";
import { Clock } from "./clock.js";
import { gradeName } from "./bar.js";
import { afterPaint, announce, byId, make, uuid } from "./dom.js";
import { DocumentView } from "./document_view.js";
import { paint } from "./highlight.js";
import { label } from "./keyboard.js";
import { part } from "./lazy.js";

const AT_ONCE = new Set(["paused", "closed", "deadline_passed", "excluded", "draft", "refused"]); // stop whatever is on the page
const GATES = new Set(["guideline_changed", "consent_needed", "target_reached", "daily_limit"]); // stop before the next document
const OVER = new Set(["closed", "deadline_passed", "excluded", "draft", "refused"]); // nothing can be changed any more
const POLLED = new Set(["nothing_now", "paused", "draft", "daily_limit"]);
const WORTH_SAYING = new Set(["extra", "too fast", "excluded"]);
const FRESH_MS = 3000; // a document on the page for less may be taken away again
const WARM = 3; // documents built ahead

// Where passages are not marked.
const NO_SPANS = { units: [], points: [], cursor: null, show() {}, hide() {}, repaint() {}, removeNear() {}, cancel: () => false, step: () => announce("Passages are not marked in this campaign.") };

export class Judging {
  constructor({ api, outbox, leases, bar, head, settings, memory, banners, askNote, askSignIn }) {
    Object.assign(this, { api, outbox, leases, bar, head, settings, memory, banners, askNote, askSignIn });
    this.spans = NO_SPANS;
    this.mode = "loading"; // loading, judging, waiting, state, checking
    this.serverState = "judging";
    this.lastAnswer = null;
    this.gate = null;
    this.trail = []; // own judgements, oldest first: {pair, key, judgement, grade, reason, note, spans, at}
    this.review = null; // place in the trail of the judgement that is open again
    this.view = null;
    this.clock = null;
    this.veil = null; // "idle" or "user-pause"
    this.warm = new Map();
    this.device = "keyboard";
    this.pendingGrade = null; // chosen, but a passage or a confirmation is missing
    this.stopped = false;
    leases.addEventListener("arrived", () => this.#arrived());
    outbox.addEventListener("change", () => this.#outboxChanged());
    outbox.addEventListener("sent", ({ detail }) => this.#sent(detail));
    outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    outbox.addEventListener("signed-out", () => this.signedOut());
    outbox.addEventListener("unreachable", () => this.reach(false));
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
      this.spans.addEventListener("change", () => this.#spansChanged());
      this.spans.addEventListener("cursor", () => this.#tellCursor());
    }
    if (setup.messages.length + this.outbox.refused.length) this.#notify((notices) => {
      for (const message of setup.messages) notices.message(this, message);
      for (const entry of this.outbox.refused) notices.refused(this, entry);
    });
    this.react(setup, { quiet: true });
    this.#outboxChanged();
    this.outbox.flush({ now: true });
    if (AT_ONCE.has(setup.state)) {
      this.#showState(setup.state, setup);
      return;
    }
    await this.check();
    if (open) this.openJudgement(open);
  }

  /** Asks the server for pairs and shows what there is. */
  async check() {
    try {
      const answer = await this.leases.topUp();
      this.reach(true);
      this.react(answer);
      if (!this.stopped && ["loading", "waiting", "state"].includes(this.mode) && !AT_ONCE.has(answer.state)) this.advance({ asked: answer });
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
    } else if (error instanceof Unreachable) {
      this.reach(false);
      if (["loading", "waiting"].includes(this.mode)) this.#showState("unreachable", {});
      this.#pollIn(4000);
    } else throw error;
  }

  // What is on the page.

  /** Shows the next document, or says why there is none. */
  advance({ asked = null } = {}) {
    if (this.stopped) return;
    this.review = null;
    this.#dropCurrentView();
    if (AT_ONCE.has(this.serverState)) return void this.#showState(this.serverState, this.lastAnswer);
    if (this.gate) return void this.#openGate();
    if (this.outbox.size > this.outboxLimit) return void this.#showState("full", {});
    const pair = this.leases.current ?? this.leases.next();
    if (pair) {
      this.show(pair);
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

  show(pair, { record = null } = {}) {
    const view = this.warm.get(pair.pair) ?? new DocumentView(pair);
    this.warm.set(pair.pair, view);
    const isNew = this.topicId !== undefined && this.topicId !== pair.topic.id && !record;
    this.topicId = pair.topic.id;
    this.mode = "judging";
    this.view = view;
    this.pair = pair;
    this.veil = null;
    const draft = record ? null : this.memory.draft(pair.lease);
    const before = record ?? pair.previous ?? {};
    this.note = draft?.note ?? before.note ?? "";
    byId("panel").hidden = true;
    const box = byId("document");
    box.hidden = false;
    box.setAttribute("aria-busy", "false");
    box.replaceChildren(view.element);
    const testing = this.serverState === "qualification" && !record;
    this.head.showTopic(pair.topic, { isNew, label: record ? "Judged earlier" : testing ? "Query (practice)" : isNew ? "New query" : "Query" });
    this.head.showNeed(this.settings.get("need"));
    this.spans.show(view, draft?.spans ?? before.spans ?? []);
    this.#paintTerms();
    this.bar.leaveReason();
    this.bar.select(record ? record.grade : pair.previous?.grade ?? null);
    this.bar.enable(true);
    this.bar.say("");
    this.#labelNote();
    this.pendingGrade = null;
    this.banners.hide("expired");
    this.banners.hide("review");
    if (pair.expired) this.#tellExpired();
    if (pair.skipped_before && !record) this.banners.show("later", { tone: "info", text: "You put this one aside before." });
    else this.banners.hide("later");
    scrollTo(0, 0);
    view.heading.focus({ preventScroll: true });
    const clock = new Clock({ limitMs: (pair.document.idle_limit_s ?? this.setup.campaign.idle_seconds ?? 60) * 1000, saved: record ? null : this.memory.clock(pair.lease) });
    this.clock = clock;
    const pressedAt = this.pressedAt;
    this.pressedAt = null;
    afterPaint((now) => {
      if (this.clock !== clock) return;
      clock.start({ seen: this.looking });
      this.shownAt = now;
      if (pressedAt) performance.measure("assay:next", { start: pressedAt, end: now });
      this.watchIdle();
      this.finder?.search();
      if (view.later.length) view.complete().then((added) => added && this.#paintTerms());
      setTimeout(() => this.#warmUp(), 0);
    });
    const { judged, target } = this.head.progress ?? {};
    announce(`${isNew ? `New query: ${pair.topic.text}. ` : ""}${view.heading.textContent}${target ? `. ${judged + this.#pending()} of ${target}` : ""}`);
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
    this.bar.hideToast();
    this.bar.enable(false, { undo: !OVER.has(state) && !this.stopped });
    byId("document").hidden = true;
    for (const name of ["review", "expired", "later"]) this.banners.hide(name);
    scrollTo(0, 0);
    void this.drawPanel({ fresh: true });
    if (POLLED.has(state)) this.#pollIn((answer?.retry_after_s ?? 30) * 1000);
  }

  async drawPanel({ fresh = false } = {}) {
    const state = this.stateShown;
    const { drawState } = await part("states");
    if (state !== this.stateShown || (this.mode !== "state" && !this.veil)) return; // overtaken
    const campaign = this.setup?.campaign ?? {};
    drawState(byId("panel"), this.stateShown, this.stateAnswer, {
      now: this.api.serverNow(), deadline: campaign.deadline, grace: campaign.grace_minutes, waiting: this.outbox.size, online: navigator.onLine, noTopic: this.topicId === undefined,
      feedbackGiven: this.feedbackGiven || this.setup?.feedback_given,
      sendFeedback: async (feedback) => {
        try {
          await this.api.post("feedback", feedback);
          this.feedbackGiven = true;
          return true;
        } catch {
          return false;
        }
      },
    });
    if (!fresh) return;
    const title = byId("panel-title");
    title.focus({ preventScroll: true });
    announce(title.textContent, { urgent: true });
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

  /** A grade was pressed. */
  grade(place, device) {
    const grade = this.bar.gradeAt(place);
    if (!grade || !this.ready) return;
    this.device = device;
    const again = this.pendingGrade === grade.value;
    this.pendingGrade = null;
    if (this.#lacksSpan(grade)) {
      this.pendingGrade = grade.value;
      this.bar.select(grade.value);
      this.bar.say(`“${grade.name}” needs a marked passage: mark the words that make it so, then press Enter.`);
      this.bar.bar.classList.add("urgent");
      announce(`${grade.name} needs a marked passage. Mark it in the text, then press Enter.`, { urgent: true });
      scrollTo(0, 0);
      this.view.heading.focus({ preventScroll: true });
      return;
    }
    if (this.settings.get("confirm") && !again) {
      this.pendingGrade = grade.value;
      this.bar.select(grade.value);
      this.bar.say(`${grade.name} is chosen. Enter, or the same grade again, sends it.`);
      announce(`${grade.name} chosen. Press Enter to send.`);
      return;
    }
    this.submit({ grade: grade.value });
  }

  #lacksSpan(grade) {
    const { spans, spans_from: from } = this.setup.campaign;
    return spans === "required" && grade.value >= from && this.spans.units.length === 0;
  }

  confirm(device) {
    if (this.spans.cursor) return void this.spans.step();
    if (this.pendingGrade === null || this.mode !== "judging") return;
    const place = this.bar.scale.findIndex((grade) => grade.value === this.pendingGrade);
    this.grade(place, device);
  }

  #spansChanged() {
    this.#keepDraft();
    const pending = this.pendingGrade === null ? null : this.bar.named(this.pendingGrade);
    if (pending && this.spans.units.length) {
      this.bar.bar.classList.remove("urgent");
      this.bar.say(`Passage marked. Enter, or ${pending.name} again, sends it.`);
      announce(`Passage marked. Press Enter to send ${pending.name}.`);
    }
  }

  #tellCursor() {
    const { cursor } = this.spans;
    if (!cursor && this.pendingGrade !== null) return; // what is said about it stays
    this.bar.say(!cursor ? "" : cursor.anchor === null
      ? `Word cursor: ← → move, ${label(this.settings.keys.span)} or Enter starts the passage, Esc ends.`
      : "← → extend the passage, Enter closes it, Esc cancels.");
  }

  cannot(reason, device) {
    if (!this.ready) return;
    this.device = device;
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
      ? { key, kind: "revise", pair: pair.pair, of: this.outbox.has(reviewed.key) ? reviewed.key : null, judgement: this.outbox.has(reviewed.key) ? null : reviewed.judgement, label: name, body }
      : { key, kind: "judge", pair: pair.pair, lease: pair.lease, label: name, body: { ...body, lease: pair.lease } };
    this.outbox.add(entry);
    const undoKey = label(this.settings.keys.undo);
    if (reviewed) {
      const was = gradeName(this.setup.scale, reviewed.grade, reviewed.reason);
      Object.assign(reviewed, { key, grade, reason, note: this.note, spans });
      this.bar.toast(was === name ? `Kept ${name}` : `Changed to ${name} (was ${was})`);
      announce(`Changed to ${name}.`);
      this.review = null;
      this.advance();
      return;
    }
    this.trail.push({ pair, key, judgement: null, grade, reason, note: this.note, spans, at: now });
    if (this.trail.length > 60) this.trail.shift();
    this.leases.finish(pair.lease);
    this.memory.forget(pair.lease);
    this.warm.delete(pair.pair);
    this.head.showProgress(null, this.#pending());
    this.bar.bar.classList.remove("urgent");
    if (this.serverState === "qualification") {
      this.#dropCurrentView();
      this.#showWaiting();
      this.mode = "checking";
      announce(`Judged ${name}.`);
      return;
    }
    this.bar.toast(reason ? name : `Judged ${name}`, { undo: undoKey });
    this.advance();
  }

  later(device) {
    if (!this.ready) return;
    this.device = device;
    if (this.review !== null) return void this.leaveReview();
    const { pair } = this;
    this.outbox.add({ key: uuid(), kind: "skip", pair: pair.pair, lease: pair.lease, label: "judge later", body: { lease: pair.lease } });
    this.leases.finish(pair.lease);
    this.memory.forget(pair.lease);
    this.bar.toast("Put aside; it comes back when nothing else is left.");
    announce("Put aside for later.");
    this.advance();
  }

  openNote({ needed = false } = {}) {
    if (!this.ready) return;
    void this.askNote({ text: this.note, needed, done: (text) => {
      this.note = text;
      this.#labelNote();
      this.#keepDraft();
      if (needed && text.trim()) this.cannot("other", this.device);
      else if (this.review !== null) {
        const { grade, reason } = this.trail[this.review];
        this.submit({ grade, reason });
      } else announce("Note kept.");
    } });
  }

  #labelNote() { byId("note-label").textContent = this.note.trim() ? "Note •" : "Note"; byId("note-label").parentElement.classList.toggle("has-note", Boolean(this.note.trim())); }

  #keepDraft() {
    if (this.review !== null || !this.pair?.lease) return;
    this.memory.keepDraft(this.pair.lease, { note: this.note, spans: this.spans.points });
  }

  // Earlier judgements: review.js.

  undo() {
    const over = this.mode === "state" && OVER.has(this.stateShown);
    if (this.stopped || over || this.mode === "loading" || this.mode === "checking") return;
    this.openReview((this.review ?? this.trail.length) - 1);
  }

  openReview(place) { this.#open((review) => review.openReview(this, place)); }
  openJudgement(id) { this.#open((review) => review.openJudgement(this, id)); }

  /** Until it is open, no press may land on the document that is still on the page. */
  #open(work) {
    this.opening = true;
    part("review").then(work).finally(() => { this.opening = false; });
  }

  setAside() {
    if (this.review === null && this.pair?.lease && this.clock) {
      this.#keepDraft();
      this.memory.keepClock(this.pair.lease, this.clock.save());
    }
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
    const { standing, late, after_deadline: afterDeadline, message } = answer.judgement ?? {};
    if (afterDeadline) this.banners.show("standing", { text: "Saved. It was judged before the deadline and arrived after it; it is marked so.", closes: true });
    else if (message && !answer.feedback && (late || WORTH_SAYING.has(standing))) {
      this.banners.show("standing", { tone: standing === "counted" ? "info" : "warn", text: message, closes: true });
    }
    this.leases.accept(answer.pairs);
    this.react(answer);
    if (this.reloadWanted && this.outbox.size === 0 && performance.now() - (this.shownAt ?? 0) < FRESH_MS) return void location.reload(); // a newer page is installed
    if (this.mode === "checking" && entry.kind === "judge") {
      if (answer.feedback) void part("guideline").then(({ explain }) => explain(answer.feedback, { scale: this.setup.scale, done: () => this.advance() }));
      else this.advance();
    } else if (this.mode === "waiting" && this.outbox.size === 0) this.leases.queue.length || answer.state === "done" ? this.advance({ asked: answer }) : void this.check(); // perhaps stale
    else if (this.mode === "state" && this.stateShown === "full" && this.outbox.size <= this.outboxLimit) this.advance();
    else if (this.mode === "judging") this.#topUpSoon();
  }

  #notify(tell) { part("notices").then(tell); }

  #refused({ entry, error }) {
    this.#notify((notices) => notices.refused(this, entry));
    if (error.body?.state) this.react(error.body);
    if (this.mode === "checking") this.advance();
    if (this.mode === "waiting") void this.check();
  }

  /** Takes over state, progress and times of an answer, unless it was asked for before the last judgement was answered. */
  react(answer, { quiet = false } = {}) {
    if (!answer?.state || (answer.sentAt < this.answeredAt && !AT_ONCE.has(answer.state))) return; // stale
    this.lastAnswer = answer;
    if (answer.progress) this.head.showProgress(answer.progress, this.#pending());
    const before = this.serverState;
    this.serverState = answer.state;
    if (answer.deadline) this.head.showDeadline(this.setup.campaign.deadline = answer.deadline, this.api.serverNow());
    this.gate = GATES.has(answer.state) && !(answer.state === "target_reached" && this.leases.onward) ? answer : null;
    if (quiet || this.stopped) return;
    if (AT_ONCE.has(answer.state)) {
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
    } else if (this.mode === "state" && (AT_ONCE.has(this.stateShown) || GATES.has(this.stateShown) || this.stateShown === "unreachable") && before !== answer.state) {
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

  /** What stood in the way is done. */
  resume(answer) {
    this.drawGuidelines();
    this.gate = null;
    this.react(answer, { quiet: true });
    this.mode = "waiting";
    return this.check();
  }

  get guidelineVersion() { return this.setup.guideline?.acknowledged || this.setup.guideline?.number || 0; }

  consent() {
    return this.api.post("consent").then((answer) => this.resume(answer), (error) => this.failed(error));
  }

  onward() {
    this.leases.onward = true;
    this.gate = null;
    this.serverState = "judging";
    this.advance();
  }

  // Connection, session, leases.

  #outboxChanged() {
    this.head.showChip(this.outbox.status, this.outbox.size);
    this.head.showProgress(null, this.#pending());
    if (!this.outbox.durable) this.banners.show("storage", { tone: "bad", text: "This browser does not let us keep your answers on it. Do not close this page while the sign at the top does not say Saved." });
    if (this.mode === "state" && ["full", "unreachable", "deadline_passed"].includes(this.stateShown)) {
      void this.drawPanel();
      if (this.stateShown === "full" && this.outbox.size <= this.outboxLimit) this.advance();
    }
    this.#tellConnection();
  }

  /** What a request told about the connection. */
  reach(ok) {
    if (ok) this.misses = 0;
    else this.misses = (this.misses ?? 0) + 1;
    this.#tellConnection();
  }

  #tellConnection() {
    const here = this.leases.queue.length + (this.pair && this.review === null ? 1 : 0);
    const counts = `${this.outbox.size ? `${this.outbox.size} ${this.outbox.size === 1 ? "answer waits" : "answers wait"} here and will be sent. ` : ""}${here ? `You can judge ${here} more.` : ""}`;
    if (!navigator.onLine) this.banners.show("connection", { tone: "warn", text: `You are offline. ${counts}` });
    else if ((this.misses ?? 0) > 2) this.banners.show("connection", { tone: "warn", text: `The server does not answer; we keep trying. ${counts}`, actions: [{ label: "Try now", action: "retry" }] });
    else this.banners.hide("connection");
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

  async heartbeat() {
    if (this.stopped || this.veil || document.visibilityState !== "visible" || this.outbox.held || this.mode !== "judging") return;
    try {
      const { lost, answer } = await this.leases.renew();
      this.reach(true);
      if (answer) this.react(answer);
      if (lost && this.review === null) this.#tellExpired();
    } catch (error) {
      if (error instanceof Unreachable) {
        this.reach(false);
        const pair = this.leases.current;
        if (pair && Date.parse(pair.expires_at) < this.api.serverNow()) { pair.expired = true; if (this.review === null) this.#tellExpired(); }
      } else this.failed(error);
    }
  }

  #tellExpired() {
    this.banners.show("expired", { tone: "warn", text: "This document was offered to someone else, because it was open for long. Your answer still counts if its place is free; else it is kept as an extra one." });
  }

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
    this.veil = why;
    if (why === "user-pause") this.clock?.watch(false);
    part("veil").then((veil) => veil.cover(this, why));
  }

  uncover() {
    if (this.veil === "idle") this.clock?.sign();
    this.veil = null;
    this.clock?.watch(this.looking);
    part("veil").then((veil) => veil.uncover(this));
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

  async leave() {
    this.setAside();
    try {
      await this.leases.release();
    } catch { /* they come back by themselves when their time is over */ }
  }
}
