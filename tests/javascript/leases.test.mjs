// The pairs in hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Leases } from "../../static/js/judge/leases.js";

const pair = (order) => ({
  lease: `l${order}`,
  order,
  pair: order,
  expires_at: "2026-01-01T00:00:00Z",
});

function made({ waiting = [], answers = {} } = {}) {
  const requests = [];
  const api = {
    post: (path, body) => {
      requests.push([path, body]);
      return Promise.resolve(answers[path] ?? { pairs: [] });
    },
  };
  return {
    leases: new Leases({ api, outbox: { leases: () => waiting } }),
    requests,
  };
}

test("pairs are shown in the order of their claims, in whatever order answers bring them", () => {
  const { leases } = made();
  leases.accept([pair(3)]);
  leases.accept([pair(1), pair(2)]);
  assert.deepEqual(
    [leases.next(), leases.next(), leases.next(), leases.next()].map(
      (one) => one?.order,
    ),
    [1, 2, 3, undefined],
  );
});

test("a pair comes once: not again while it is here, when it is answered, or while its answer waits", () => {
  const { leases } = made({ waiting: ["l4"] });
  leases.accept([pair(1), pair(2)]);
  leases.next();
  leases.finish("l1");
  leases.accept([pair(1), pair(2), pair(4)]);
  assert.deepEqual(
    leases.queue.map(({ order }) => order),
    [2],
  );
});

test("what is held is told: on the page, behind it, and on its way", () => {
  const { leases } = made({ waiting: ["l9"] });
  leases.accept([pair(1), pair(2)]);
  leases.next();
  assert.deepEqual(leases.held().sort(), ["l1", "l2", "l9"]);
});

test("one more than the window is wanted, and nothing with all but the last answer", () => {
  const { leases } = made();
  leases.ahead = 5;
  assert.equal(leases.request().want, 6);
  assert.equal(leases.request().offline, false);
  assert.equal(leases.request({ last: false }).want, 0);
});

test("who wants to judge offline has ten pairs ahead", () => {
  const { leases } = made();
  leases.offline = true;
  assert.equal(leases.request().want, 11);
  assert.equal(leases.request().offline, true);
});

test("two wishes at the same moment are one request", async () => {
  const { leases, requests } = made({
    answers: { leases: { pairs: [pair(1)] } },
  });
  await Promise.all([leases.topUp(), leases.topUp()]);
  assert.equal(requests.length, 1);
  assert.equal(leases.queue.length, 1);
});

test("a lost lease is told of the pair on the page; one behind it goes back unread", async () => {
  const states = {
    l1: { state: "expired" },
    l2: { state: "live", expires_at: "2027-01-01T00:00:00Z" },
    l3: { state: "expired" },
  };
  const { leases } = made({ answers: { "leases/renew": { leases: states } } });
  leases.accept([pair(1), pair(2), pair(3)]);
  leases.next();
  assert.equal((await leases.renew()).lost, true);
  assert.deepEqual(
    leases.queue.map(({ order, expires_at: until }) => [order, until]),
    [[2, "2027-01-01T00:00:00Z"]],
  );
});

test("leaving gives back what is here", async () => {
  const { leases, requests } = made();
  await leases.release();
  assert.deepEqual(requests, []);
  leases.accept([pair(1), pair(2)]);
  leases.next();
  await leases.release();
  assert.deepEqual(requests, [["leases/release", { leases: ["l1", "l2"] }]]);
});

test("what was put aside and is taken back comes at once, and the current one waits behind it", () => {
  const { leases } = made();
  leases.accept([pair(1), pair(2), pair(3)]);
  const aside = leases.next();
  leases.finish(aside.lease);
  leases.next();
  leases.comeBack(aside);
  assert.equal(leases.current.order, 1);
  leases.finish("l1");
  assert.deepEqual(
    [leases.next(), leases.next()].map(({ order }) => order),
    [2, 3],
  );
});

test("a pair that was judged on another device is told apart from one that has expired", async () => {
  const { leases } = made({
    answers: { "leases/renew": { leases: { l1: { state: "submitted" } } } },
  });
  leases.accept([pair(1)]);
  leases.next();
  await leases.renew();
  assert.equal(leases.current.ended, "submitted");
});
