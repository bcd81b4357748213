// The user's settings of this page. They are stored on the server, and a copy in this browser is
// used until the server responds.

import { DEFAULTS } from "./keyboard.js";

export const STANDARD = {
  keys: DEFAULTS,
  text_size: 17,
  measure: 70,
  leading: 1.65,
  font: "serif",
  terms: "underline",
  theme: "auto",
  highlight: true,
  confirm: false,
  cards: true,
  shortcuts: true,
  offline: false,
  guidelines: true,
  need: false,
};

export class Settings extends EventTarget {
  constructor({ api, name, storage = localStorage }) {
    super();
    this.api = api;
    this.name = name;
    this.storage = storage;
    this.values = { ...STANDARD, ...this.#cached() };
    this.timer = 0;
  }

  #cached() {
    try {
      return JSON.parse(this.storage.getItem(this.name) ?? "{}");
    } catch {
      return {};
    }
  }

  get(name) {
    return this.values[name];
  }
  get keys() {
    return { ...DEFAULTS, ...this.values.keys };
  }

  /** Values from the server override the local copy. */
  take(fromServer) {
    this.values = { ...this.values, ...fromServer };
    this.#store();
    this.dispatchEvent(new Event("change"));
  }

  /** changed: {name: value}. */
  set(changed) {
    this.values = { ...this.values, ...changed };
    this.#store();
    this.dispatchEvent(new Event("change"));
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () =>
        this.api.put("profile", this.values).catch(() => {
          /* kept in the local copy, and the next change sends all */
        }),
      600,
    );
  }

  #store() {
    try {
      this.storage.setItem(this.name, JSON.stringify(this.values));
    } catch {
      /* private mode: settings are lost when the page is closed */
    }
  }
}
