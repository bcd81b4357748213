// What requests tell about the connection: whether it is troubled, and how the server put it.

const PATIENCE = 2; // requests without an answer before it is worth saying

export class Connection {
  constructor({ online = () => navigator.onLine } = {}) {
    Object.assign(this, { online, misses: 0, said: undefined, request: undefined });
  }

  /** A request was answered; or it was not, with what the server said, if it said anything. */
  note(ok, error) {
    this.misses = ok ? 0 : this.misses + 1;
    this.said = error?.said;
    this.request = error?.request;
  }

  get troubled() { return !this.online() || this.misses > (this.said ? 0 : PATIENCE); }
}
