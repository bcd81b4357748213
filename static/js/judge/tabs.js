// Coordination of tabs, of which only one judges. Web Locks are used on secure pages, and messages
// between the tabs otherwise. This module also holds the initial data of the tab: its user, and the
// requests sent before api.js was loaded. It cannot import early.js, which needs these data.

export class Tabs extends EventTarget {
  constructor(name) {
    super();
    this.name = name;
    this.leading = false;
    this.letGo = null;
    this.channel = new BroadcastChannel(name);
    this.channel.addEventListener("message", ({ data }) => {
      if (data === "anybody?" && this.leading) this.channel.postMessage("me");
      if (data === "me") {
        this.other = true;
        if (!navigator.locks) this.#lose(); // answered after the wait by a busy tab, which was first
      }
      if (data === "yield" && this.leading) this.#lose();
    });
  }

  /** Resolves to whether this tab may judge. take: the other tab is stopped. */
  async lead({ take = false } = {}) {
    if (take) {
      this.channel.postMessage("yield");
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    this.leading = !navigator.locks
      ? take || (await this.#ask())
      : take
        ? await this.#lock({ steal: true })
        : (await this.#lock({ ifAvailable: true })) ||
          ((await this.#ask()) &&
            this.#lock({ signal: AbortSignal.timeout(3000) })); // a crashed tab does not answer and loses its role
    return this.leading;
  }

  #lock(options) {
    return new Promise((resolve) => {
      navigator.locks
        .request(this.name, options, (lock) => {
          resolve(Boolean(lock));
          return (
            lock &&
            new Promise((release) => {
              this.letGo = release;
            })
          );
        })
        .catch(() => {
          resolve(false);
          this.#lose();
        }); // taken by another tab, or timed out
    });
  }

  async #ask() {
    this.other = false;
    this.channel.postMessage("anybody?");
    await new Promise((resolve) => setTimeout(resolve, 200));
    return !this.other;
  }

  /** Resolves when no tab judges any more. With messages only, this is never known. */
  async whenFree(patience = 3000) {
    const { locks } = navigator;
    if (!locks) return new Promise(() => {});
    for (;;) {
      await locks.request(this.name, () => {}).catch(() => {}); // taken meanwhile
      await new Promise((resolve) => setTimeout(resolve, patience)); // a tab that reloads comes back
      const { held } = await locks.query();
      if (held.every(({ name }) => name !== this.name)) return undefined;
    }
  }

  #lose() {
    if (!this.leading) return;
    this.leading = false;
    this.letGo?.();
    this.dispatchEvent(new Event("lost"));
  }
}

export const { api, slug, user, csrf, trial } =
  document.getElementById("judge").dataset;
export const mine = `assay:${user}:${slug}`;
export const unsent = `${mine}:out:`; // prefix of the names of unsent answers
export const begun = {}; // in the form that Api expects
export const tabs = new Tabs(`${mine}:tab`);

const take = sessionStorage.getItem(`${mine}:take`) === "yes";
sessionStorage.removeItem(`${mine}:take`);

/** Resolves to whether this tab judges. */
export const leads = tabs.lead({ take });
