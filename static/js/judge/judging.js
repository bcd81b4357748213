// The flow of the judging page: which document is shown, the effect of a press, and changes from
// the server's answers. Other modules receive the parts that they need and do not import this one.

import { Refused, SignedOut, Unreachable } from "./api.js";
import { Connection } from "./connection.js";
import { announce } from "./dom.js";
import { part } from "./lazy.js";
import { OpenPair } from "./open_pair.js";
import { Panel } from "./panel.js";
import { Reader } from "./reader.js";
import { ServerState, isOver, isPolled, stops } from "./state_table.js";
import { Trail } from "./trail.js";
import { t } from "../words.js";

const FRESH_MS = 3000; // a document shown for less than this time may be replaced
const ASKED_BY_QUEUE = ["nothing_now", "done", "target_reached", "daily_limit"];

export class Judging {
  constructor({
    api,
    outbox,
    leases,
    bar,
    head,
    settings,
    memory,
    views,
    banners,
    steps,
    askNote,
    askSignIn,
    drawGuidelines,
  }) {
    Object.assign(this, {
      api,
      outbox,
      leases,
      bar,
      head,
      settings,
      memory,
      banners,
      askNote,
      drawGuidelines,
    });
    this.mode = "loading"; // loading, judging, waiting, state, checking
    this.stopped = false;
    this.server = new ServerState();
    this.trail = new Trail();
    this.panel = new Panel({ context: () => this.#context() });
    this.connection = new Connection({
      outbox,
      leases,
      banners,
      askSignIn,
      here: () =>
        leases.queue.length + (this.open.pair && !this.trail.open ? 1 : 0),
      onBack: () => this.#checkUnlessJudging(),
    });
    this.reader = new Reader({
      memory,
      isReading: () => this.mode === "judging" && !this.opening,
      mayLook: () => !this.connection.signingIn,
    });
    this.open = new OpenPair({
      reader: this.reader,
      memory,
      views,
      bar,
      head,
      settings,
      steps,
    });
    this.input = { at: null, last: null, device: "keyboard", pending: null }; // from presses.js
    bar.canUndo = () => this.canUndo;
    leases.addEventListener("arrived", () => this.#arrived());
    outbox.addEventListener("change", () => this.#outboxChanged());
    outbox.addEventListener("sent", ({ detail }) => this.#sent(detail));
    outbox.addEventListener("refused", ({ detail }) => this.#refused(detail));
    outbox.addEventListener("signed-out", () => this.connection.signedOut());
    outbox.addEventListener("unreachable", ({ detail }) =>
      this.#missed(detail.error),
    );
    this.open.addEventListener("painted", () =>
      setTimeout(() => this.#warmUp(), 0),
    );
    this.reader.addEventListener("covered", () => this.#covered());
    this.reader.addEventListener("uncovered", () => this.#uncovered());
  }

  // Start.

  async begin(setup, open) {
    this.setup = setup;
    this.open.steps.begin(setup);
    this.leases.ahead = setup.campaign.lease_window ?? this.leases.ahead;
    this.head.part = setup.part ?? Infinity;
    this.open.views.isMarkdown = setup.campaign.text_format === "markdown";
    if (setup.campaign.spans !== "off") await this.open.markPassages();
    if (setup.campaign.task === "preferences") await part("battle");
    if (setup.messages.length)
      this.#notify((notices) =>
        notices.messages(setup.messages, {
          api: this.api,
          banners: this.banners,
        }),
      );
    if (this.outbox.refused.length) this.#tellRefused();
    this.react(setup, { quiet: true });
    this.#outboxChanged();
    this.outbox.flush({ now: true });
    if (stops(setup.state)) return void this.#showState(setup.state, setup);
    await this.check();
    if (open) this.openJudgement(open);
  }

  /**
   * Asks the server for pairs and shows the result. If answers are being sent, their responses
   * include the pairs and the state.
   */
  async check() {
    if (this.outbox.busy) return;
    try {
      const answer = await this.leases.topUp();
      await this.open.views.prepare(this.leases.queue);
      this.connection.reach(true);
      this.react(answer);
      if (
        !this.stopped &&
        ["loading", "waiting", "state"].includes(this.mode) &&
        !stops(answer.state)
      )
        this.advance({ asked: answer });
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error) {
    if (error instanceof SignedOut) this.connection.signedOut();
    else if (error instanceof Refused) {
      if (error.body?.state) this.react(error.body);
      else if (this.mode !== "judging") this.refuse(error.message);
      else this.banners.show("refused", { tone: "warn", text: error.message });
    } else if (error instanceof Unreachable) this.#missed(error);
    else throw error;
  }

  #missed(error) {
    this.connection.reach(false, error);
    const waits = ["loading", "waiting"].includes(this.mode);
    if (waits && !this.outbox.busy) this.#showState("unreachable", error);
    if (waits || this.#shown === "unreachable")
      this.#pollIn(Math.max(4000, error.waitMs) * (1 + Math.random() / 4));
  }

  // Content of the page.

  /** Unsent answers with which judging goes on. */
  get outboxLimit() {
    return this.leases.want - 1;
  }

  /** The state that is shown instead of a document. */
  get #shown() {
    return this.mode === "state" ? this.panel.state : null;
  }
  get onCard() {
    return this.#shown === "card";
  }

  /** Shows the next document, or why there is none. */
  advance({ asked = null } = {}) {
    if (this.stopped) return;
    const { state, answer, gate } = this.server,
      { outbox } = this;
    this.trail.leave();
    this.open.drop();
    if (stops(state)) return void this.#showState(state, answer);
    if (gate) return void this.#openGate();
    if (outbox.size > this.outboxLimit) return void this.#showState("full", {});
    const pair = this.leases.current ?? this.leases.next();
    if (pair) {
      if (this.#isChange(pair)) {
        this.open.introduce(pair);
        this.#showState("card", pair);
        this.#warmUp();
      } else this.show(pair);
      this.#topUpSoon();
    } else if (!asked) {
      this.#showWaiting();
      void this.check();
    } else if (outbox.size)
      this.#showWaiting(); // the response to the pending answer decides
    else if (ASKED_BY_QUEUE.includes(asked.state))
      this.#showState(asked.state, asked);
    else this.#showState("nothing_now", { ...asked, retry_after_s: 5 });
  }

  // A card announces a new query, except one that was shown a moment ago before a single pair of
  // another query (gold, an undo).

  #isChange({ topic: { id } }) {
    return (
      !this.open.knows(id) &&
      !this.trail.isRecent(id) &&
      this.settings.get("cards") &&
      !this.server.isPractice
    );
  }

  /** Continues from the card to the document. */
  start() {
    if (!this.onCard) return;
    const pair = this.leases.current ?? this.leases.next();
    this.input.at = null;
    this.open.started = pair?.topic.id;
    if (pair) this.show(pair);
    else this.advance();
  }

  /**
   * Shows a pair's document. record: the annotator's judgement that is open for revision. atEnd:
   * begin with its last question.
   */
  show(pair, { record = null, atEnd = false } = {}) {
    const {
      server,
      setup: { campaign },
    } = this;
    const practice = server.isPractice && !record ? server.answer : null;
    const { at: pressedAt, last } = this.input;
    Object.assign(this.input, {
      at: null,
      pending: null,
      last: pressedAt ? last : null,
    }); // if no press led to it, none can be an echo
    this.mode = "judging";
    this.panel.hide();
    this.#tellAbout(pair, { practice, record }); // first, because a notice moves the document, and the scroll position is restored afterwards
    const isNew = this.open.show(pair, {
      record,
      practice,
      atEnd,
      pressedAt,
      idleLimitMs:
        (pair.document.idle_limit_s ?? campaign.idle_seconds ?? 60) * 1000,
    });
    const { judged, target } = this.head.progress ?? {};
    announce(
      `${this.#takeTold()}${isNew ? `${t("New query: {query}", { query: pair.topic.text })}. ` : ""}${this.open.title}${target ? `. ${t("{n} of {total}", { n: judged + this.#pending(), total: target })}` : ""}`,
    );
  }

  /** Notices above a document that is not an ordinary one. */
  #tellAbout(pair, { practice, record }) {
    for (const name of ["expired", "review", ...(practice ? [] : ["practice"])])
      this.banners.hide(name);
    if (practice)
      this.#notify((notices) => {
        if (this.server.isPractice)
          notices.practice(practice, { banners: this.banners });
      });
    if (pair.expired) this.#tellExpired();
    if (pair.skipped_before && !record)
      this.banners.show("later", {
        tone: "info",
        text: t("You skipped this document before."),
      });
    else this.banners.hide("later");
  }

  /** The last action, which screen readers announce before the next document. */
  #takeTold() {
    const { told = "" } = this;
    this.told = "";
    return told;
  }

  refuse(message) {
    this.#showState("refused", { message });
  }
  #warmUp() {
    this.open.views.warmUp(this.leases.queue, [
      this.open.pair,
      this.leases.current,
    ]);
  }

  #showWaiting() {
    this.mode = "waiting";
    this.bar.enable(false);
    this.panel.wait();
  }

  #showState(state, answer) {
    this.mode = "state";
    this.bar.leaveReason();
    this.bar.say("");
    if (state !== "card") this.bar.hideToast();
    this.head.showLeft(0);
    this.bar.enable(false, {
      undo: !isOver(state) && !this.stopped,
      start: state === "card",
    });
    for (const name of [
      "review",
      "expired",
      "later",
      ...(this.server.isPractice ? [] : ["practice"]),
    ])
      this.banners.hide(name);
    scrollTo(0, 0);
    void this.panel.show(state, answer, { told: () => this.#takeTold() });
    if (isPolled(state)) this.#pollIn((answer?.retry_after_s ?? 30) * 1000);
  }

  #context() {
    const { deadline, grace_minutes: grace } = this.setup?.campaign ?? {};
    return {
      now: this.api.serverNow(),
      deadline,
      grace,
      waiting: this.outbox.size,
      online: navigator.onLine,
      noTopic: !this.open.topic,
      feedbackGiven: this.setup?.feedback_given,
      sendFeedback: (feedback) =>
        this.api.post("feedback", feedback).then(
          () => (this.setup.feedback_given = true),
          () => false,
        ),
    };
  }

  #pollIn(ms) {
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(() => {
      if (!this.stopped && !this.outbox.held) this.#checkUnlessJudging();
    }, ms);
  }

  #arrived() {
    this.leases.drop(this.outbox.leases());
    if (this.stopped) return;
    if (
      this.mode === "waiting" ||
      ["nothing_now", "unreachable"].includes(this.#shown)
    )
      this.advance();
    else setTimeout(() => this.#warmUp(), 0);
  }

  #topUpSoon() {
    if (this.leases.queue.length >= this.leases.want - 1 || this.outbox.size)
      return; // the response to a pending answer includes pairs
    this.leases.topUp().then(
      (answer) => {
        this.connection.reach(true);
        this.react(answer);
      },
      (error) => this.failed(error),
    );
  }

  // Presses.

  /** Whether a press applies to the document on the page. */
  get ready() {
    return this.mode === "judging" && !this.reader.veil && !this.opening;
  }

  /** Handles Enter. */
  confirm(device) {
    if (this.open.spans.cursor) this.open.spans.step();
    else if (this.onCard) this.start();
    else this.press("confirm", device);
  }

  /** Passes a press on to presses.js. */
  async press(what, ...details) {
    (await this.preparePresses())[what](...details);
  }

  /**
   * Loads presses.js. Called when the first document is shown, and an earlier press waits for it.
   */
  async preparePresses() {
    const { Presses } = await part("presses");
    const { bar, settings, open, input, setup, trail, outbox, askNote } = this;
    return (this.presses ??= new Presses({
      bar,
      settings,
      open,
      input,
      setup,
      trail,
      outbox,
      askNote,
      isReady: () => this.ready,
      isPractice: () => this.server.isPractice,
      onFinish: (pair) => this.#finish(pair),
      onPractice: (grade) => this.#awaitSolution(grade),
      advance: (told) => {
        this.told = told;
        this.advance();
      },
    }));
  }

  #finish(pair) {
    this.leases.finish(pair.lease);
    this.memory.forget(pair.lease);
    this.open.views.drop(pair);
    this.head.showProgress(null, this.#pending());
  }

  /** The document of a qualification answer remains while the answer is explained. */
  #awaitSolution(grade) {
    this.input.at = null;
    this.mode = "checking";
    this.open.freeze();
    this.bar.say(""); // its request has been fulfilled
    this.open.steps.to(0);
    this.bar.select(grade);
    this.bar.enable(false, { undo: false });
  }

  /**
   * Whether there is anything to undo: the action in the bar's message, a mark, an earlier
   * judgement of this page, or one on the server.
   */
  get canUndo() {
    return (
      this.bar.back ||
      this.open.spans.before?.length > 0 ||
      !this.open.steps.onPrimary ||
      this.trail.before >= 0 ||
      (this.setup?.has_judged && !this.trail.isWhole)
    );
  }

  undo() {
    const { back } = this.bar;
    if (back) {
      this.bar.hideToast();
      return back();
    }
    if (
      this.stopped ||
      isOver(this.#shown) ||
      this.mode === "loading" ||
      this.mode === "checking"
    )
      return;
    if (this.ready && this.open.spans.undo()) return; // the last action on this document
    if (this.ready && this.open.steps.undo()) {
      this.input.pending = null;
      this.bar.say("");
      return this.open.keepDraft();
    }
    this.review((review) => review.back());
  }

  openJudgement(id) {
    this.review((review) => review.openJudgement(id));
  }

  /**
   * Opens an earlier judgement. Until it is shown, presses must not apply to the previous document.
   */
  async review(work) {
    this.opening = true;
    const { Review } = await part("review");
    const {
      trail,
      api,
      outbox,
      leases,
      bar,
      banners,
      open,
      setup: { scale },
    } = this;
    this.reviewer ??= new Review({
      trail,
      api,
      outbox,
      leases,
      bar,
      banners,
      open,
      scale,
      show: (...what) => this.show(...what),
      advance: () => this.advance(),
      onFail: (error) => this.failed(error),
    });
    await work(this.reviewer).finally(() => {
      this.opening = false;
    });
  }

  leaveReview() {
    if (!this.trail.open) return false;
    this.advance();
    return true;
  }

  // Answers of the server.

  #pending() {
    return this.outbox.entries.filter((entry) => entry.kind === "judge").length;
  }
  #notify(tell) {
    part("notices").then(tell);
  }
  #tellRefused() {
    this.#notify((notices) =>
      notices.refused({ outbox: this.outbox, banners: this.banners }),
    );
  }

  #sent({ entry, answer }) {
    const { outbox, leases, banners } = this;
    this.connection.reach(true);
    this.server.answered(answer, Date.now());
    this.trail.stored(entry.key, answer.judgement);
    if (entry.kind === "skip") leases.done.add(entry.lease);
    if (answer.judgement && !answer.feedback)
      this.#notify(({ outcome }) =>
        outcome(entry, answer.judgement, {
          banners,
          reopen: (id) => this.openJudgement(id),
        }),
      );
    leases.accept(answer.pairs);
    const isChecked = this.mode === "checking" && entry.kind === "judge";
    this.react(answer, { quiet: Boolean(isChecked && answer.feedback) });
    if (isChecked && answer.feedback)
      return void this.#explain(answer.feedback);
    if (
      this.reloadWanted &&
      outbox.size === 0 &&
      performance.now() - (this.open.shownAt ?? 0) < FRESH_MS
    )
      return void location.reload(); // a newer version of the page is installed
    if (this.mode === "checking" && isChecked) this.advance();
    else if (["loading", "waiting"].includes(this.mode) && !outbox.busy)
      leases.queue.length || answer.state === "done"
        ? this.advance({ asked: answer })
        : void this.check();
    // possibly outdated
    else if (this.#shown === "full" && outbox.size <= this.outboxLimit)
      this.advance();
    else if (this.mode === "judging") this.#topUpSoon();
  }

  async #explain(feedback) {
    const { explain } = await part("guideline");
    explain(feedback, {
      scale: this.setup.scale,
      view: this.open.view,
      done: () => this.advance(),
    });
  }

  #refused({ error }) {
    this.#tellRefused();
    if (error.body?.state) this.react(error.body);
    if (this.mode === "checking") this.advance();
    if (["loading", "waiting"].includes(this.mode)) void this.check();
  }

  /**
   * Applies state, progress and times of an answer, and carries out the effect of the state unless
   * `quiet`.
   */
  react(answer, { quiet = false } = {}) {
    if (!this.server.take(answer, { onward: this.leases.onward })) return;
    if (answer.progress)
      this.head.showProgress(answer.progress, this.#pending());
    if (answer.deadline)
      this.head.showDeadline(
        (this.setup.campaign.deadline = answer.deadline),
        this.api.serverNow(),
      );
    if (quiet || this.stopped) return;
    const isFresh =
      this.mode === "judging" &&
      !this.trail.open &&
      performance.now() - (this.open.shownAt ?? 0) < FRESH_MS;
    const effect = this.server.effect({
      mode: this.mode,
      shown: this.#shown,
      isFresh,
    });
    if (effect === "go on") {
      this.mode = "waiting";
      this.advance();
    } else if (effect) {
      this.open.setAside();
      this.advance(); // to the state or the gate
    }
  }

  async #openGate() {
    const answer = this.server.gate;
    if (answer.state !== "guideline_changed")
      return void this.#showState(answer.state, answer);
    this.#showWaiting();
    this.mode = "state";
    this.panel.state = "guideline_changed";
    (await this.#gatekeeper()).read(answer.guideline);
  }

  async consent() {
    await (await this.#gatekeeper()).consent();
  }

  async #gatekeeper() {
    const { Gate } = await part("guideline");
    return (this.gatekeeper ??= new Gate({
      api: this.api,
      setup: this.setup,
      onPass: (answer) => this.#resume(answer),
      onFail: (error) => this.failed(error),
    }));
  }

  /** The gate has been passed. */
  #resume(answer) {
    this.drawGuidelines();
    this.server.pass();
    this.react(answer, { quiet: true });
    this.mode = "waiting";
    void this.check();
  }

  /** Continues beyond the target. */
  onward() {
    this.leases.onward = true;
    this.server.pass();
    this.server.state = "judging";
    this.advance();
  }

  // Connection, session and leases.

  #outboxChanged() {
    const { outbox, banners } = this;
    this.head.showChip(outbox.status, outbox.size);
    this.head.showProgress(null, this.#pending());
    if (!outbox.durable)
      this.#notify((notices) => notices.storage({ banners }));
    if (["full", "unreachable", "deadline_passed"].includes(this.#shown))
      void this.panel.draw();
    if (this.#shown === "full" && outbox.size <= this.outboxLimit)
      this.advance();
    this.connection.tell();
  }

  retry() {
    this.outbox.flush({ now: true });
    this.#checkUnlessJudging();
  }

  #checkUnlessJudging() {
    if (this.mode !== "judging") void this.check();
  }
  /**
   * Renews the leases while the annotator reads. sinceMs: skip if an answer in this time has
   * renewed them.
   */
  async heartbeat(sinceMs = 0) {
    const isThere =
      (this.mode === "judging" || this.onCard) &&
      !this.reader.veil &&
      document.visibilityState === "visible";
    if (
      !isThere ||
      this.stopped ||
      this.outbox.held ||
      Date.now() - (this.server.answeredAt ?? 0) < sinceMs
    )
      return;
    await this.connection.renew({
      serverNow: () => this.api.serverNow(),
      onAnswer: (answer) => this.react(answer),
      onFail: (error) => this.failed(error),
      onLost: () => this.#lost(),
    });
  }

  #lost() {
    const {
      open: { pair, title },
      leases: { current },
    } = this;
    if (this.trail.open) return;
    if (current?.ended !== "submitted") return void this.#tellExpired();
    if (current !== pair) return;
    this.bar.toast(
      t("You judged “{document}” on another device. Here is the next one.", {
        document: title,
      }),
    );
    this.#finish(pair);
    this.advance();
  }

  #tellExpired() {
    this.#notify((notices) => {
      if (
        this.mode === "judging" &&
        this.open.pair?.expired &&
        !this.trail.open
      )
        notices.expired({ banners: this.banners });
    });
  }

  // The veil during a pause or inactivity.

  pause() {
    if (this.ready) this.reader.cover("user-pause");
  }

  #covered() {
    this.open.cover();
    void this.panel.show(this.reader.veil, {});
  }

  #uncovered() {
    this.panel.hide();
    this.open.uncover();
    announce(t("Resumed."));
    void this.heartbeat();
  }

  /** Stops because another tab took over. */
  stop() {
    this.open.setAside();
    this.stopped = true;
    this.outbox.hold();
    clearTimeout(this.pollTimer);
    this.open.drop();
    this.#showState("other-tab", {});
  }
}
