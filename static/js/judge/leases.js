// The pairs that are reserved for this annotator: the one on screen and those behind it.

import { AHEAD } from "./request.js";

export class Leases extends EventTarget {
  constructor({ api, outbox }) {
    super();
    this.api = api;
    this.outbox = outbox;
    this.ahead = AHEAD;
    this.queue = [];
    this.current = null;
    this.done = new Set(); // leases judged or put aside in this page: never shown again
    this.asking = null;
    this.onward = false; // continue after the target
  }

  get want() {
    return this.ahead + 1;
  }

  /** Tokens of the pair on screen and of those behind it. */
  get tokens() {
    return [this.current, ...this.queue].flatMap((pair) => pair?.lease ?? []);
  }

  /** Tokens of the pairs in this page, also of those whose answer is still on its way. */
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

  /** Takes those out of the queue whose answer is on its way. */
  drop(leases) {
    this.queue = this.queue.filter(({ lease }) => !leases.includes(lease));
  }

  /** The next pair, which becomes the current one; null when none is here. */
  next() {
    this.current = this.queue.shift() ?? null;
    return this.current;
  }

  /** A pair that was put aside comes before the current one, which waits behind it. */
  comeBack(pair) {
    this.done.delete(pair.lease);
    this.queue = this.queue.filter(({ lease }) => lease !== pair.lease);
    if (this.current) this.queue.unshift(this.current);
    this.current = pair;
  }

  /** The current pair is answered. */
  finish(lease) {
    this.done.add(lease);
    if (this.current?.lease === lease) this.current = null;
    this.queue = this.queue.filter((pair) => pair.lease !== lease);
  }

  /** What goes with an answer: only behind the last of several that wait is anything asked for. */
  request({ last = true } = {}) {
    return {
      want: last ? this.want : 0,
      held: this.held(),
      continue_after_target: this.onward,
    };
  }

  /** Asks for more; one request at a time. Resolves to the answer. */
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

  /** Keeps the leases alive. Resolves to true when the lease of the pair on screen is lost. */
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
    // An expired pair that nobody has looked at goes back; the server offers it again if it is still wanted.
    this.queue = this.queue.filter((pair) => !pair.expired);
    return { lost, answer };
  }

  async release() {
    if (this.tokens.length)
      await this.api.post("leases/release", { leases: this.tokens });
  }
}
