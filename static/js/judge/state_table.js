// What the states of the server (and of the page) do to the document that is on it. Their words are in states.js.

/**
 * stops: whatever is on the page. gates: only the next document. over: nothing can be changed any more. polled: the page asks again by
 * itself. A state without a row comes when there is no document anyway.
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

/** What the server said last, and what that does to the page. */
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

  /** An answer to a judgement: what was asked for earlier is stale from now on. */
  answered(answer, now) {
    answer.sentAt = this.answeredAt = now;
  }

  /** Takes an answer over, unless it has no state or is stale; says whether it did. `onward`: the target is no gate any more. */
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

  /** The gate is open. */
  pass() {
    this.gate = null;
  }

  /**
   * What the page does about it: "stop" (whatever is on it), "gate", "go on", or "" for nothing. `mode`: of the page; `shown`: the state on it;
   * `isFresh`: its document came a moment ago, and may be taken away again.
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
