// Effects of the states of the server and the page on the current document. Their texts are in
// states.js.

/**
 * stops: interrupts the current document. gates: applies before the next document. over: nothing
 * can be changed any more. polled: the page asks the server regularly. States without a row occur
 * only when no document is shown.
 */
const TABLE = {
  closed: { stops: true, over: true },
  consent_needed: { gates: true },
  daily_limit: { gates: true, polled: true },
  deadline_passed: { stops: true, over: true },
  draft: { stops: true, over: true, polled: true },
  excluded: { stops: true, over: true },
  guideline_changed: { gates: true },
  nothing_now: { polled: true },
  paused: { stops: true, polled: true },
  refused: { stops: true, over: true },
  target_reached: { gates: true },
};

export const stops = (state) => TABLE[state]?.stops ?? false;
export const gates = (state) => TABLE[state]?.gates ?? false;
export const isOver = (state) => TABLE[state]?.over ?? false;
export const isPolled = (state) => TABLE[state]?.polled ?? false;

/** The last state from the server and its effect on the page. */
export class ServerState {
  constructor() {
    Object.assign(this, {
      state: "judging",
      answer: null,
      gate: null,
      answeredAt: undefined,
      before: null,
    }); // gate: what must be dealt with first
  }

  get isPractice() {
    return this.state === "qualification";
  }

  /** Records an answer to a judgement. Responses to earlier requests are outdated from now on. */
  answered(answer, now) {
    answer.sentAt = this.answeredAt = now;
  }

  /**
   * Applies an answer unless it has no state or is outdated, and returns whether it did. onward:
   * the target is no longer a gate.
   */
  take(answer, { onward = false } = {}) {
    if (
      !answer?.state ||
      (answer.sentAt < this.answeredAt && !stops(answer.state))
    )
      return false;
    Object.assign(this, { answer, before: this.state, state: answer.state });
    this.gate =
      gates(answer.state) && !(answer.state === "target_reached" && onward)
        ? answer
        : null;
    return true;
  }

  /** Opens the gate. */
  pass() {
    this.gate = null;
  }

  /**
   * Returns the effect of the state: "stop" (interrupts the document), "gate", "go on", or "" for
   * none. mode: of the page. shown: the state on the page. isFresh: the document was shown a moment
   * ago and may be replaced.
   */
  effect({ mode, shown, isFresh }) {
    const isShown = mode === "state" && shown === this.state;
    if (stops(this.state)) return isShown ? "" : "stop";
    if (this.gate)
      return !isShown &&
        (isFresh || ["waiting", "loading", "state"].includes(mode))
        ? "gate"
        : "";
    const stood =
      mode === "state" &&
      (stops(shown) || gates(shown) || shown === "unreachable");
    return stood && this.before !== this.state ? "go on" : "";
  }
}
