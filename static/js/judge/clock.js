// The time of one judgement (METHODS 3), from first paint. A stretch without input is active up to the idle limit, then idle; hidden,
// unfocused or paused is hidden. Parts survive a reload; while the page is gone it is hidden.

export class Clock {
  /** `now` gives milliseconds since 1970. `limitMs`: idle limit of this document. */
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

  /** The document is painted and visible, since `at`: start, or go on after a reload. */
  start({ seen = true, at = this.now() } = {}) {
    this.startedAt ??= at;
    this.at = at;
    this.lastSign = at;
    this.seen = seen;
  }

  /** The reader moved, scrolled, touched or typed. Ends an idle stretch. */
  sign() {
    this.#settle();
    this.lastSign = this.at;
  }

  /** The page became visible and focused, or ceased to be (also: paused). */
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
  /** Milliseconds until the document is idle; Infinity while nobody looks at it. */
  get untilIdle() {
    return this.running && this.seen
      ? Math.max(0, this.limitMs - (this.now() - this.lastSign))
      : Infinity;
  }

  #settle() {
    if (!this.running) return;
    const now = Math.max(this.now(), this.at); // a clock set back makes no negative time
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

  /** {active_ms, idle_ms, hidden_ms, wall_ms}: the three parts add up to the wall time. */
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
