// One tab judges. Web Locks decide where the page is served securely; elsewhere the tabs ask each other. Here is also what this tab begins
// with: whose it is, and the requests that were sent before api.js came. early.js may not be imported, for it imports what needs that.

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
        if (!navigator.locks) this.#lose(); // answered after the wait, by a tab that was busy: it was there first
      }
      if (data === "yield" && this.leading) this.#lose();
    });
  }

  /** Resolves to whether this tab may judge. With `take`, the other tab is told to stop. */
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
            this.#lock({ signal: AbortSignal.timeout(3000) })); // a crashed tab is silent and lets go
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
        }); // stolen, or waited for in vain
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

export const { api, slug, user, csrf, trial } =
  document.getElementById("judge").dataset;
export const mine = `assay:${user}:${slug}`;
export const unsent = `${mine}:out:`; // begins the names of what waits to be sent
export const begun = {}; // as Api takes it
export const tabs = new Tabs(`${mine}:tab`);

const take = sessionStorage.getItem(`${mine}:take`) === "yes";
sessionStorage.removeItem(`${mine}:take`);

/** Resolves to whether this tab judges. */
export const leads = tabs.lead({ take });
