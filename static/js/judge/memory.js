// State that survives a reload of this tab, by the pair's lease: clock, draft (note, passages) and
// reading position.

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
      this.storage.setItem(
        `${this.prefix}${kind}:${lease}`,
        JSON.stringify(value),
      );
    } catch {
      /* storage full: the page works, but a reload would lose the draft */
    }
  }

  clock(lease) {
    return lease ? this.#get("clock", lease) : null;
  }
  draft(lease) {
    return lease ? this.#get("draft", lease) : null;
  }
  place(lease) {
    return lease ? this.#get("place", lease) : null;
  }
  keepClock(lease, value) {
    this.#set("clock", lease, value);
  }
  keepDraft(lease, value) {
    this.#set("draft", lease, value);
  }

  keepPlace(lease, value) {
    this.#set("place", lease, value);
  }

  forget(lease) {
    for (const kind of ["clock", "draft", "place"])
      this.storage.removeItem(`${this.prefix}${kind}:${lease}`);
  }
}
