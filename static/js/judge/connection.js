// State of the connection to the server: failed requests and the server's message, the session, and
// renewal of leases.

import { part } from "./lazy.js";

const PATIENCE = 2; // failed requests before a notice is shown

export class Connection {
  /**
   * here: returns the number of documents that can be judged offline. askSignIn: called with
   * {waiting, done}. onBack: called after signing in again. Also `outbox`, `leases`, `banners`.
   */
  constructor({ online = () => navigator.onLine, ...parts }) {
    Object.assign(this, {
      online,
      ...parts,
      misses: 0,
      said: undefined,
      request: undefined,
      signingIn: false,
    });
  }

  get troubled() {
    return !this.online() || this.misses > (this.said ? 0 : PATIENCE);
  }

  /** Records that a request was answered or failed, with the server's message if there is one. */
  reach(ok, error) {
    this.misses = ok ? 0 : this.misses + 1;
    this.said = error?.said;
    this.request = error?.request;
    this.tell();
  }

  tell() {
    const { banners, outbox } = this;
    if (!this.troubled) return void banners.hide("connection");
    part("notices").then((notices) =>
      notices.connection(this, {
        banners,
        waiting: outbox.size,
        here: this.here(),
      }),
    );
  }

  signedOut() {
    this.outbox.hold();
    this.signingIn = true;
    void this.askSignIn({
      waiting: this.outbox.size,
      done: () => {
        this.signingIn = false;
        this.outbox.release();
        this.reach(true);
        this.onBack();
      },
    });
  }

  /** Renews the leases. told: {serverNow, onAnswer, onFail, onLost} as in presence.js. */
  async renew(told) {
    const { renew } = await part("presence");
    await renew({
      ...told,
      leases: this.leases,
      onMiss: (error) => this.reach(false, error),
      onAnswer: (answer) => {
        this.reach(true);
        if (answer) told.onAnswer(answer);
      },
    });
  }
}
