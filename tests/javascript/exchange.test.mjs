// Outbox and leases together against a server that keeps the rules of the judging API. The connection is cut at every request of
// the exchange, in both directions, once and twice, with answers that overtake each other: the pairs come in the order of their
// claims, none is lost, none comes twice.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Unreachable } from "../../static/js/judge/api.js";
import { Leases } from "../../static/js/judge/leases.js";
import { Outbox } from "../../static/js/judge/outbox.js";
import { MapStorage, settled } from "./support.mjs";

mock.timers.enable({ apis: ["setTimeout", "Date"] });
const PAIRS = 9;

class Server {
  constructor() {
    this.claimed = 0;
    this.live = [];
    this.judged = new Map(); // lease -> keys
  }

  handle(path, body) {
    if (path === "judgements") {
      const keys = this.judged.get(body.lease) ?? new Set();
      this.judged.set(body.lease, keys.add(body.key));
      this.live = this.live.filter(({ lease }) => lease !== body.lease);
    }
    const room = body.want - this.live.length;
    for (let n = 0; n < room && this.claimed < PAIRS; n += 1) {
      this.claimed += 1;
      this.live.push({
        lease: `l${this.claimed}`,
        order: this.claimed,
        pair: this.claimed,
      });
    }
    return {
      pairs: this.live
        .filter(({ lease }) => !body.held.includes(lease))
        .map((pair) => ({ ...pair })),
    };
  }
}

/** Judges everything, as fast as pairs come. `cuts`: {number of the request: "request" | "answer"}. -> the order of pairs, and the server */
async function session(cuts, { overtaking }) {
  const server = new Server(),
    onTheWay = [],
    shown = [];
  let n = 0;
  const exchange = (path, body) =>
    new Promise((resolve, reject) => {
      const cut = cuts[n];
      n += 1;
      const answer =
        cut === "request"
          ? null
          : server.handle(path, JSON.parse(JSON.stringify(body)));
      onTheWay.push(
        cut ? () => reject(new Unreachable("cut")) : () => resolve(answer),
      );
    });
  const outbox = new Outbox({
    prefix: "me:",
    storage: new MapStorage(),
    random: () => 0.5,
    send: (entry) =>
      exchange("judgements", {
        ...entry.body,
        ...leases.request({ last: outbox.isLast(entry) }),
      }),
  });
  const leases = new Leases({ api: { post: exchange }, outbox });
  outbox.addEventListener("sent", ({ detail }) =>
    leases.accept(detail.answer.pairs),
  );
  for (
    let turn = 0;
    turn < 400 && (shown.length < PAIRS || outbox.size);
    turn += 1
  ) {
    const pair = leases.current ?? leases.next();
    if (pair) {
      shown.push(pair.order);
      outbox.add({
        key: `k${pair.order}`,
        kind: "judge",
        pair: pair.pair,
        lease: pair.lease,
        body: { lease: pair.lease, key: `k${pair.order}` },
      });
      leases.finish(pair.lease);
      if (turn % 3) continue; // several are judged before anything comes back
    } else if (!outbox.busy) leases.topUp().catch(() => {});
    await settled();
    (overtaking ? onTheWay.pop() : onTheWay.shift())?.();
    await settled();
    mock.timers.tick(500);
  }
  return { shown, server, requests: n };
}

const inOrder = Array.from({ length: PAIRS }, (_, place) => place + 1);

function check({ shown, server }, where) {
  assert.deepEqual(shown, inOrder, where);
  assert.deepEqual(
    [...server.judged.keys()].sort(),
    inOrder.map((order) => `l${order}`),
    where,
  );
  for (const keys of server.judged.values()) assert.equal(keys.size, 1, where);
}

for (const overtaking of [false, true]) {
  const how = overtaking
    ? "answers that overtake each other"
    : "answers in turn";
  test(`the connection cut once and twice at every request, with ${how}`, async () => {
    const whole = await session({}, { overtaking });
    check(whole, "not cut");
    for (let first = 0; first < whole.requests; first += 1) {
      for (const kind of ["request", "answer"]) {
        check(
          await session({ [first]: kind }, { overtaking }),
          `cut at ${first}: ${kind}`,
        );
        for (let second = first + 1; second < whole.requests + 1; second += 1) {
          for (const other of ["request", "answer"])
            check(
              await session({ [first]: kind, [second]: other }, { overtaking }),
              `cut at ${first}: ${kind}, ${second}: ${other}`,
            );
        }
      }
    }
  });
}
