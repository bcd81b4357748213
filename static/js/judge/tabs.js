// One tab judges. Web Locks decide where the page is served securely; elsewhere the tabs ask each other.

const CRASHED_MS = 3000; // for so long the browser may keep the lock of a tab that crashed

export class Tabs extends EventTarget {
  constructor(name) {
    super();
    this.name = name;
    this.leading = false;
    this.letGo = null;
    this.channel = new BroadcastChannel(name);
    this.channel.addEventListener("message", ({ data }) => {
      if (data === "anybody?" && this.leading) this.channel.postMessage("me");
      if (data === "me") this.other = true;
      if (data === "yield" && this.leading) this.#lose();
    });
  }

  /** Resolves to whether this tab may judge. With `take`, the other tab is told to stop. */
  async lead({ take = false } = {}) {
    if (take) {
      this.channel.postMessage("yield");
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    this.leading = navigator.locks ? await this.#locked(take) : take || (await this.#ask());
    return this.leading;
  }

  async #locked(take) {
    if (take) return this.#lock({ steal: true });
    if (await this.#lock({ ifAvailable: true })) return true;
    // Somebody holds it. A tab that is alive says so; one that crashed or was closed just now does not, and lets go in a moment.
    return (await this.#ask()) && this.#lock({ signal: AbortSignal.timeout(CRASHED_MS) });
  }

  #lock(options) {
    return new Promise((resolve) => {
      navigator.locks
        .request(this.name, options, (lock) => {
          if (!lock) return resolve(false);
          resolve(true);
          return new Promise((release) => { this.letGo = release; });
        })
        .catch(() => { resolve(false); this.#lose(); }); // stolen by a tab that could not wait, or waited for in vain
    });
  }

  async #ask() {
    this.other = false;
    this.channel.postMessage("anybody?");
    await new Promise((resolve) => setTimeout(resolve, 200));
    return !this.other;
  }

  #lose() {
    if (!this.leading) return;
    this.leading = false;
    this.letGo?.();
    this.dispatchEvent(new Event("lost"));
  }
}
