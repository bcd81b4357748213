// Answers waiting to be sent. Each is stored in localStorage under its own key before the next
// document is painted, and removed when the server has accepted or finally refused it. After a
// failed request, a reload, a crash or a new sign-in it is sent again with the same idempotency
// key.
//
// An entry is {key, kind, lease, pair, label, body, of}. `of` is the key of an entry that must
// arrive first, because a revision needs its id.

import { Refused, SignedOut } from "./api.js";

const AT_ONCE = 3; // parallel requests
const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 30000;

export class Outbox extends EventTarget {
  /** send(entry): resolves to the server's answer. prefix: separates campaigns and users. */
  constructor({ prefix, send, storage = localStorage, random = Math.random }) {
    super();
    this.prefix = prefix;
    this.send = send;
    this.storage = storage;
    this.random = random;
    this.entries = [];
    this.refused = [];
    this.inFlight = new Set();
    this.held = false; // signed out: nothing is sent until release()
    this.durable = true;
    this.timer = 0;
    this.load();
  }

  load() {
    const found = [];
    for (let i = 0; i < this.storage.length; i += 1) {
      const name = this.storage.key(i);
      if (!name?.startsWith(this.prefix)) continue;
      try {
        found.push(JSON.parse(this.storage.getItem(name)));
      } catch {
        this.storage.removeItem(name);
      }
    }
    found.sort((a, b) => a.at - b.at || (a.turn ?? 0) - (b.turn ?? 0));
    const known = new Set(this.entries.map((entry) => entry.key));
    this.entries.push(
      ...found
        .filter((entry) => !entry.refused && !known.has(entry.key))
        .map((entry) => ({ ...entry, dueAt: 0 })),
    );
    this.refused = found.filter((entry) => entry.refused);
    this.turn = Math.max(0, ...found.map((entry) => entry.turn ?? 0));
  }

  get size() {
    return this.entries.length;
  }
  get failing() {
    return this.entries.some((entry) => entry.tries > 1);
  }
  get busy() {
    return this.inFlight.size > 0;
  }
  isLast(entry) {
    return this.entries[this.entries.length - 1] === entry;
  }
  has(key) {
    return this.entries.some((entry) => entry.key === key);
  }
  leases() {
    return this.entries.flatMap((entry) => (entry.lease ? [entry.lease] : []));
  }
  find(key) {
    return this.entries.find((entry) => entry.key === key);
  }

  /** The status for display: saved, saving, waiting, failed or signed-out. */
  get status() {
    if (this.size === 0) return "saved";
    if (this.held) return "signed-out";
    if (this.failing) return "failed";
    return this.size > 1 ? "waiting" : "saving";
  }

  add(entry) {
    this.turn += 1;
    const full = {
      tries: 0,
      at: Date.now(),
      dueAt: 0,
      turn: this.turn,
      ...entry,
    };
    this.entries.push(full);
    this.#keep(full);
    this.#changed();
    this.flush();
    return full;
  }

  /** Sends entries that are due and, with `now`, those that wait for their next attempt. */
  flush({ now = false } = {}) {
    clearTimeout(this.timer);
    if (this.held) return;
    const busyPairs = new Set([...this.inFlight].map((entry) => entry.pair));
    let next = Infinity;
    for (const entry of this.entries) {
      if (now) entry.dueAt = 0;
      if (this.inFlight.has(entry)) continue;
      if (busyPairs.has(entry.pair) || (entry.of && !entry.judgement)) {
        busyPairs.add(entry.pair);
        continue;
      }
      busyPairs.add(entry.pair); // answers about one pair remain in order
      if (entry.dueAt > Date.now()) {
        next = Math.min(next, entry.dueAt);
        continue;
      }
      if (this.inFlight.size >= AT_ONCE) break;
      this.#sendOne(entry);
    }
    if (next < Infinity)
      this.timer = setTimeout(
        () => this.flush(),
        Math.max(20, next - Date.now()),
      );
  }

  hold() {
    this.held = true;
    this.#changed();
  }
  release() {
    this.held = false;
    this.flush({ now: true });
    this.#changed();
  }

  /** Removes an entry that has not been sent yet. Returns whether it was still here. */
  async cancel(key) {
    while (this.inFlight.has(this.find(key)))
      await new Promise((resolve) =>
        this.addEventListener("change", resolve, { once: true }),
      );
    const entry = this.find(key);
    if (!entry) return false;
    this.entries = this.entries.filter((other) => other !== entry);
    this.#drop(key);
    this.#changed();
    return true;
  }

  forgetRefused(key) {
    this.refused = this.refused.filter((entry) => entry.key !== key);
    this.#drop(key);
    this.#changed();
  }

  async #sendOne(entry) {
    this.inFlight.add(entry);
    this.#changed();
    const [outcome, detail] = await this.send(entry).then(
      (answer) => ["sent", { entry, answer }],
      (error) => [null, { entry, error }],
    );
    this.inFlight.delete(entry);
    const event = outcome ?? this.#failed(detail);
    if (event === "sent") this.#arrived(detail);
    this.flush(); // before listeners are called, so that they see the next entry as being sent
    this.dispatchEvent(new CustomEvent(event, { detail }));
    this.#changed();
  }

  #arrived({ entry, answer }) {
    this.entries = this.entries.filter((other) => other !== entry);
    for (const other of this.entries) {
      if (other.of === entry.key && answer.judgement) {
        other.judgement = answer.judgement.id;
        this.#keep(other);
      }
    }
    this.#drop(entry.key);
  }

  /** Handles a failure and returns the name of its event. */
  #failed({ entry, error }) {
    if (error instanceof SignedOut) {
      this.held = true;
      return "signed-out";
    }
    if (error instanceof Refused) {
      this.#refuse(entry, error);
      return "refused";
    }
    entry.tries += 1;
    const pause = Math.max(
      error.waitMs ?? 0,
      Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (entry.tries - 1)),
    );
    entry.dueAt = Date.now() + pause * (0.75 + this.random() / 2);
    this.#keep(entry);
    return "unreachable";
  }

  #refuse(entry, error) {
    const lost = [
      entry,
      ...this.entries.filter((other) => other.of === entry.key),
    ];
    this.entries = this.entries.filter((other) => !lost.includes(other));
    for (const one of lost) {
      one.refused = error.message;
      this.#keep(one);
      this.refused.push(one);
    }
  }

  #keep(entry) {
    try {
      this.storage.setItem(this.prefix + entry.key, JSON.stringify(entry));
    } catch {
      this.durable = false; // storage full or forbidden: the page says so and warns before it is closed
    }
  }

  #drop(key) {
    this.storage.removeItem(this.prefix + key);
  }
  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
