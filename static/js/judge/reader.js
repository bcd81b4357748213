// The reading of the current document: clock, veil and scroll position. Emits "covered" and
// "uncovered".

import { Clock } from "./clock.js";

export class Reader extends EventTarget {
  /** isReading: whether a document is on the page. mayLook: whether no dialog or gate covers it. */
  constructor({ memory, isReading, mayLook = () => true }) {
    super();
    Object.assign(this, {
      memory,
      isReading,
      mayLook,
      view: null,
      lease: null,
      clock: null,
      veil: null,
    }); // veil: "idle" or "user-pause"
  }

  get looking() {
    return (
      document.visibilityState === "visible" &&
      document.hasFocus() &&
      !this.veil &&
      this.mayLook()
    );
  }

  /**
   * Opens a document. lease: identifies the stored clock and position, null for an earlier
   * judgement.
   */
  open({ view, lease, limitMs }) {
    Object.assign(this, {
      view,
      lease,
      veil: null,
      clock: new Clock({ limitMs, saved: this.memory.clock(lease) }),
    });
    return this.clock;
  }

  /**
   * Starts the clock when the document is painted. at: the time of the paint, if it was earlier.
   */
  start(at) {
    this.clock.start({ seen: this.looking, at });
    this.#watchIdle();
  }

  close() {
    clearTimeout(this.timer);
    Object.assign(this, { view: null, lease: null, clock: null, veil: null });
  }

  /** Updates the clock after visibility or focus may have changed. */
  watch() {
    this.clock?.watch(this.looking);
    this.keep();
    this.#watchIdle();
  }

  sign() {
    if (!this.clock?.running || this.veil) return;
    this.clock.sign();
    this.#watchIdle();
  }

  /** Stores the position for a later display or reload. */
  keep() {
    this.keepPlace();
    if (this.clock?.running && this.lease)
      this.memory.keepClock(this.lease, this.clock.save());
  }

  keepPlace() {
    if (this.lease && this.view.element.isConnected && !this.veil)
      this.memory.keepPlace(this.lease, {
        y: Math.round(scrollY),
        all: this.view.showsAll,
      });
  }

  /**
   * Restores the scroll position when enough of the text is painted. Resolves to whether the
   * document has grown for that.
   */
  async toPlace() {
    const { view } = this,
      place = this.memory.place(this.lease);
    if (place?.all) view.showRest();
    scrollTo(0, place?.y ?? 0);
    if (place && scrollY < place.y - 1) await view.complete();
    if (!place || this.view !== view) return false;
    scrollTo(0, place.y);
    return true;
  }

  #watchIdle() {
    clearTimeout(this.timer);
    if (!this.isReading() || !this.clock || this.veil) return;
    const wait = this.clock.untilIdle;
    if (wait === Infinity) return;
    this.timer = setTimeout(() => {
      if (this.clock?.isIdle) this.cover("idle");
      else this.#watchIdle();
    }, wait + 5);
  }

  /** why: "idle" or "user-pause". */
  cover(why) {
    if (!this.isReading() || this.veil) return;
    this.keepPlace();
    this.coveredAt = scrollY;
    this.veil = why;
    if (why === "user-pause") this.clock?.watch(false);
    this.keep();
    this.dispatchEvent(new Event("covered"));
  }

  uncover() {
    if (!this.veil) return;
    if (this.veil === "idle") this.clock?.sign();
    this.veil = null;
    this.clock?.watch(this.looking);
    this.dispatchEvent(new Event("uncovered"));
    scrollTo(0, this.coveredAt);
    this.#watchIdle();
  }
}
