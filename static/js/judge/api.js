// Client of the judging API. Failures have three types with different reactions: Unreachable (try
// again), SignedOut (sign in, then try again), Refused (trying again cannot help).

import { send } from "./request.js";
import { t } from "../words.js";

export class Unreachable extends Error {
  /**
   * waitMs: delay requested by the server. said: message of the server. request: number of the
   * request in the server's log.
   */
  constructor(message, { waitMs = 0, said = "", request = "" } = {}) {
    super(message);
    Object.assign(this, { waitMs, said, request });
  }
}
export class SignedOut extends Error {}
export class Refused extends Error {
  /**
   * said: message of the server. The error's message also includes the number of the request in the
   * server's log, for support.
   */
  constructor(status, code, said, body, request) {
    super(said + numbered(request));
    Object.assign(this, { status, code, said, body });
  }
}

export const numbered = (request) =>
  request ? ` (${t("reference {request}", { request })})` : "";

const AGAIN = new Set([408, 425, 429]);

export class Api {
  /**
   * begun: {"GET setup": …} requests that have already been sent (request.js). Each answers the
   * first call of its kind.
   */
  constructor({ root, csrf, timeoutMs, begun = {} }) {
    Object.assign(this, { root, csrf, timeoutMs, begun });
    this.clockOffset = 0; // server clock minus local clock, from the response with the shortest round trip
    this.shortestWay = Infinity;
  }

  get(path) {
    return this.call("GET", path);
  }
  post(path, body = {}) {
    return this.call("POST", path, body);
  }
  put(path, body = {}) {
    return this.call("PUT", path, body);
  }

  /** Returns the estimated server time in milliseconds since 1970. */
  serverNow() {
    return Date.now() + this.clockOffset;
  }

  async call(method, path, body, { again = false } = {}) {
    const asked = `${method} ${path}`,
      begun = this.begun[asked];
    delete this.begun[asked];
    let sentAt, response, cameAt;
    try {
      ({ sentAt, response, cameAt } =
        (await begun) ??
        (await send(path.startsWith("/") ? path : this.root + path, {
          method,
          csrf: this.csrf,
          body,
          timeoutMs: this.timeoutMs,
        })));
    } catch (error) {
      throw new Unreachable(error.message);
    }
    let answer = null;
    try {
      answer = response.status === 204 ? {} : await response.json();
    } catch (error) {
      if (response.ok && !response.redirected)
        throw new Unreachable(`unreadable answer: ${error.message}`);
    }
    if (response.ok && answer !== null && !response.redirected) {
      this.#readClock(answer.server_time, sentAt, cameAt);
      answer.sentAt = sentAt;
      this.heard?.(answer);
      return answer;
    }
    const { code = "", detail: message = "" } = answer ?? {};
    const request = answer?.request ?? response.headers.get("X-Request-ID");
    if (response.status === 401 || response.redirected || code === "signed_out")
      throw new SignedOut("signed out");
    if (response.status === 403 && (answer === null || /csrf/i.test(message))) {
      if (again) throw new SignedOut("stale token");
      await fetch(location.pathname, { method: "HEAD" }).catch(() => null); // sets a new cookie
      return this.call(method, path, body, { again: true });
    }
    if (response.status >= 500 || AGAIN.has(response.status)) {
      const waitMs = 1000 * Number(response.headers.get("Retry-After")) || 0;
      throw new Unreachable(`server answered ${response.status}`, {
        waitMs,
        said: waitMs ? message : "",
        request,
      });
    }
    throw new Refused(
      response.status,
      code,
      message ||
        t("The server rejected the request ({status}).", {
          status: response.status,
        }),
      answer,
      request,
    );
  }

  #readClock(serverTime, sentAt, cameAt) {
    if (!serverTime) return;
    const way = cameAt - sentAt;
    if (way > this.shortestWay) return;
    this.shortestWay = way;
    this.clockOffset = Date.parse(serverTime) - (sentAt + way / 2);
  }
}
