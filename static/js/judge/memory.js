// What must survive a reload of this tab: the clock and the draft (note, passages) of a pair, by its lease.

export class Memory {
  constructor({ prefix, storage = sessionStorage }) {
    this.prefix = prefix;
    this.storage = storage;
  }

  #get(kind, lease) {
    try {
      return JSON.parse(this.storage.getItem(`${this.prefix}${kind}:${lease}`));
    } catch {
      return null;
    }
  }

  #set(kind, lease, value) {
    try {
      this.storage.setItem(`${this.prefix}${kind}:${lease}`, JSON.stringify(value));
    } catch { /* full: the page works on, only a reload would lose the draft */ }
  }

  clock(lease) { return lease ? this.#get("clock", lease) : null; }
  draft(lease) { return lease ? this.#get("draft", lease) : null; }
  keepClock(lease, value) { this.#set("clock", lease, value); }
  keepDraft(lease, value) { this.#set("draft", lease, value); }

  forget(lease) {
    this.storage.removeItem(`${this.prefix}clock:${lease}`);
    this.storage.removeItem(`${this.prefix}draft:${lease}`);
  }
}
