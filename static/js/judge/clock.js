// Time of one judgement from the first paint (docs/reference/methods/judging.md). Time without
// input is active up to the inactivity timeout, then idle. Time while the page is hidden, unfocused
// or paused is hidden. The state survives a reload, and the time until the reload completes is
// hidden.

export class Clock {
  /** now: returns milliseconds since 1970. limitMs: inactivity timeout of this document. */
  constructor({ now = () => Date.now(), limitMs = 60000, saved = null } = {}) {
    this.now = now;
    this.limitMs = limitMs;
    this.parts = { active: 0, idle: 0, hidden: 0 };
    this.startedAt = null;
    this.seen = false;
    if (saved) {
      this.parts = {
        active: saved.active,
        idle: saved.idle,
        hidden: saved.hidden,
      };
      this.startedAt = saved.startedAt;
      this.parts.hidden += Math.max(0, now() - saved.savedAt);
    }
  }

  get running() {
    return this.startedAt !== null && this.at !== undefined;
  }

  /** Starts, or continues after a reload. The document is painted and visible since `at`. */
  start({ seen = true, at = this.now() } = {}) {
    this.startedAt ??= at;
    this.at = at;
    this.lastSign = at;
    this.seen = seen;
  }

  /** Records input of the reader (pointer, scroll, touch or key), which ends idle time. */
  sign() {
    this.#settle();
    this.lastSign = this.at;
  }

  /** Records that the page became visible and focused, or stopped being so (also when paused). */
  watch(seen) {
    if (!this.running || seen === this.seen) return;
    this.#settle();
    this.seen = seen;
    this.lastSign = this.at;
  }

  get isIdle() {
    return (
      this.running && this.seen && this.now() - this.lastSign >= this.limitMs
    );
  }
  /** Returns the milliseconds until the document is idle, Infinity while it is hidden. */
  get untilIdle() {
    return this.running && this.seen
      ? Math.max(0, this.limitMs - (this.now() - this.lastSign))
      : Infinity;
  }

  #settle() {
    if (!this.running) return;
    const now = Math.max(this.now(), this.at); // no negative time if the clock was set back
    if (!this.seen) this.parts.hidden += now - this.at;
    else {
      const idleFrom = Math.max(
        this.at,
        Math.min(now, this.lastSign + this.limitMs),
      );
      this.parts.active += idleFrom - this.at;
      this.parts.idle += now - idleFrom;
    }
    this.at = now;
  }

  /** Returns {active_ms, idle_ms, hidden_ms, wall_ms}. The first three add up to the wall time. */
  read() {
    this.#settle();
    const parts = Object.fromEntries(
      Object.entries(this.parts).map(([name, ms]) => [name, Math.round(ms)]),
    );
    return {
      active_ms: parts.active,
      idle_ms: parts.idle,
      hidden_ms: parts.hidden,
      wall_ms: parts.active + parts.idle + parts.hidden,
    };
  }

  save() {
    this.#settle();
    return { ...this.parts, startedAt: this.startedAt, savedAt: this.now() };
  }
}
