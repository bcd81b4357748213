// Pairs reserved for this annotator: the one on the screen and the following ones.

import { AHEAD } from "./request.js";

const AHEAD_OFFLINE = 10; // the most that the server assigns

export class Leases extends EventTarget {
  constructor({ api, outbox }) {
    super();
    this.api = api;
    this.outbox = outbox;
    this.ahead = AHEAD;
    this.offline = false; // the user wants to judge without a connection
    this.queue = [];
    this.current = null;
    this.done = new Set(); // leases judged or skipped on this page, never shown again
    this.asking = null;
    this.onward = false; // continue after the target
  }

  get want() {
    return (this.offline ? AHEAD_OFFLINE : this.ahead) + 1;
  }

  /** Tokens of the current and the following pairs. */
  get tokens() {
    return [this.current, ...this.queue].flatMap((pair) => pair?.lease ?? []);
  }

  /** Tokens of all pairs on this page, including those whose answer is being sent. */
  held() {
    return [...new Set([...this.tokens, ...this.outbox.leases()])];
  }

  accept(pairs = []) {
    const known = new Set(this.held());
    const fresh = pairs.filter(
      (pair) => !this.done.has(pair.lease) && !known.has(pair.lease),
    );
    if (fresh.length === 0) return;
    this.queue = [...this.queue, ...fresh].sort((a, b) => a.order - b.order);
    this.dispatchEvent(new Event("arrived"));
  }

  /** Removes pairs from the queue whose answer is being sent. */
  drop(leases) {
    this.queue = this.queue.filter(({ lease }) => !leases.includes(lease));
  }

  /** Returns the next pair and makes it the current one, or null if there is none. */
  next() {
    this.current = this.queue.shift() ?? null;
    return this.current;
  }

  /** Puts a skipped pair before the current one, which becomes the next. */
  comeBack(pair) {
    this.done.delete(pair.lease);
    this.queue = this.queue.filter(({ lease }) => lease !== pair.lease);
    if (this.current) this.queue.unshift(this.current);
    this.current = pair;
  }

  /** Removes the current pair after its answer. */
  finish(lease) {
    this.done.add(lease);
    if (this.current?.lease === lease) this.current = null;
    this.queue = this.queue.filter((pair) => pair.lease !== lease);
  }

  /**
   * Returns the request for pairs that accompanies an answer. Only the last of several waiting
   * answers requests any.
   */
  request({ last = true } = {}) {
    return {
      want: last ? this.want : 0,
      held: this.held(),
      continue_after_target: this.onward,
      offline: this.offline,
    };
  }

  /** Requests more pairs, one request at a time. Resolves to the answer. */
  topUp() {
    this.asking ??= this.api
      .post("leases", this.request())
      .finally(() => {
        this.asking = null;
      })
      .then((answer) => {
        this.accept(answer.pairs);
        return answer;
      });
    return this.asking;
  }

  /** Renews the leases. Resolves to true if the lease of the current pair is lost. */
  async renew() {
    const { tokens } = this;
    if (tokens.length === 0) return { lost: false, answer: null };
    const answer = await this.api.post("leases/renew", { leases: tokens });
    let lost = false;
    for (const pair of [this.current, ...this.queue].filter(Boolean)) {
      const found = answer.leases?.[pair.lease];
      if (!found) continue;
      pair.expires_at = found.expires_at ?? pair.expires_at;
      pair.expired = found.state !== "live";
      pair.ended = pair.expired ? found.state : null;
      lost ||= pair.expired && pair === this.current;
    }
    // An expired pair that was never shown is dropped. The server assigns it again if it is still
    // needed.
    this.queue = this.queue.filter((pair) => !pair.expired);
    return { lost, answer };
  }

  async release() {
    if (this.tokens.length)
      await this.api.post("leases/release", { leases: this.tokens });
  }
}
