// The connection to the server: whether it is troubled, and how the server put it; whether the session lasts; that the leases are kept.

import { part } from "./lazy.js";

const PATIENCE = 2; // requests without an answer before it is worth saying

export class Connection {
  /** `here()`: documents that can be judged without the server; `askSignIn({waiting, done})`; `onBack()`: signed in again. Also `outbox`, `leases`, `banners`. */
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

  /** A request was answered; or it was not, with what the server said, if it said anything. */
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

  /** Keeps the leases alive. `told`: {serverNow, onAnswer, onFail, onLost} as in presence.js. */
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
