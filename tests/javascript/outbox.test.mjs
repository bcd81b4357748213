// The outbox: nothing is lost, nothing is sent twice for good, answers about one pair keep their order.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Refused, SignedOut, Unreachable } from "../../static/js/judge/api.js";
import { Outbox } from "../../static/js/judge/outbox.js";
import { MapStorage, settled } from "./support.mjs";

mock.timers.enable({ apis: ["setTimeout", "Date"] });

/** An outbox whose requests the test answers: `requests` are [{entry, resolve, reject}]. */
function made({ storage = new MapStorage(), prefix = "me:" } = {}) {
  const requests = [];
  const send = (entry) =>
    new Promise((resolve, reject) => requests.push({ entry, resolve, reject }));
  return {
    outbox: new Outbox({ prefix, send, storage, random: () => 0.5 }),
    requests,
    storage,
  };
}

const judgement = (key, pair) => ({
  key,
  kind: "judge",
  pair,
  lease: `lease ${pair}`,
  body: {},
});

test("an entry is in the storage before it is sent, and leaves it when the server has it", async () => {
  const { outbox, requests, storage } = made();
  outbox.add(judgement("a", 1));
  assert.deepEqual([...storage.map.keys()], ["me:a"]);
  assert.equal(outbox.status, "saving");
  requests[0].resolve({});
  await settled();
  assert.equal(storage.length, 0);
  assert.equal(outbox.status, "saved");
});

test("an unreachable server is asked again with the same key, later and later", async () => {
  const { outbox, requests } = made();
  outbox.add(judgement("a", 1));
  const pauses = [];
  for (let round = 0; round < 4; round += 1) {
    requests[round].reject(new Unreachable("no"));
    await settled();
    let waited = 0;
    while (requests.length === round + 1) {
      mock.timers.tick(100);
      waited += 100;
    }
    pauses.push(waited);
  }
  assert.deepEqual(pauses, [400, 800, 1600, 3200]);
  assert.deepEqual(
    new Set(requests.map(({ entry }) => entry.key)),
    new Set(["a"]),
  );
  assert.equal(outbox.status, "failed");
});

test("at most three are on their way, and a revision waits for the judgement that it changes", async () => {
  const { outbox, requests } = made();
  for (const pair of [1, 2, 3, 4]) outbox.add(judgement(`k${pair}`, pair));
  outbox.add({
    key: "r1",
    kind: "revise",
    pair: 1,
    of: "k1",
    judgement: null,
    body: {},
  });
  assert.deepEqual(
    requests.map(({ entry }) => entry.key),
    ["k1", "k2", "k3"],
  );
  requests[0].resolve({ judgement: { id: 77 } });
  await settled();
  assert.deepEqual(
    requests.map(({ entry }) => entry.key),
    ["k1", "k2", "k3", "k4"],
  );
  requests[1].resolve({ judgement: { id: 78 } });
  await settled();
  assert.equal(requests[4].entry.key, "r1");
  assert.equal(requests[4].entry.judgement, 77);
});

test("only the last of several that wait asks for pairs", () => {
  const { outbox } = made();
  const entries = [1, 2, 3].map((pair) =>
    outbox.add(judgement(`k${pair}`, pair)),
  );
  assert.deepEqual(
    entries.map((entry) => outbox.isLast(entry)),
    [false, false, true],
  );
});

test("who hears that one has arrived sees the next one on its way", async () => {
  const { outbox, requests } = made();
  for (const pair of [1, 2, 3, 4]) outbox.add(judgement(`k${pair}`, pair));
  const seen = [];
  outbox.addEventListener("sent", () => seen.push(outbox.busy));
  for (let place = 0; place < 4; place += 1) {
    requests[place].resolve({});
    await settled();
  }
  assert.deepEqual(seen, [true, true, true, false]);
});

test("a refused answer stays in the storage with the reason until it is understood, with what depends on it", async () => {
  const { outbox, requests, storage } = made();
  outbox.add(judgement("a", 1));
  outbox.add({
    key: "b",
    kind: "revise",
    pair: 1,
    of: "a",
    judgement: null,
    body: {},
  });
  requests[0].reject(
    new Refused(409, "closed", "The campaign was closed.", {}),
  );
  await settled();
  assert.equal(outbox.size, 0);
  assert.deepEqual(
    outbox.refused.map(({ key, refused }) => [key, refused]),
    [
      ["a", "The campaign was closed."],
      ["b", "The campaign was closed."],
    ],
  );
  outbox.forgetRefused("a");
  outbox.forgetRefused("b");
  assert.equal(storage.length, 0);
});

test("signed out, nothing is sent until somebody is back; then everything", async () => {
  const { outbox, requests } = made();
  outbox.add(judgement("a", 1));
  requests[0].reject(new SignedOut("no"));
  await settled();
  outbox.add(judgement("b", 2));
  mock.timers.tick(60_000);
  assert.equal(requests.length, 1);
  assert.equal(outbox.status, "signed-out");
  outbox.release();
  assert.deepEqual(
    requests.slice(1).map(({ entry }) => entry.key),
    ["a", "b"],
  );
});

test("after a reload the entries come back in their order, those of others do not", () => {
  const storage = new MapStorage();
  const { outbox } = made({ storage });
  for (const pair of [3, 1, 2]) outbox.add(judgement(`k${pair}`, pair));
  storage.setItem("you:k9", JSON.stringify(judgement("k9", 9)));
  storage.setItem("me:broken", "{");
  assert.deepEqual(
    made({ storage }).outbox.entries.map(({ key }) => key),
    ["k3", "k1", "k2"],
  );
  assert.equal(storage.getItem("me:broken"), null);
});

test("a storage that takes nothing is said, and answers are sent all the same", () => {
  const storage = new MapStorage();
  storage.setItem = () => {
    throw new Error("full");
  };
  const { outbox, requests } = made({ storage });
  outbox.add(judgement("a", 1));
  assert.equal(outbox.durable, false);
  assert.equal(requests.length, 1);
});

test("what has not been sent can be taken back; what is on its way is waited for", async () => {
  const { outbox, requests, storage } = made();
  outbox.add(judgement("a", 1));
  const first = outbox.cancel("a");
  requests[0].resolve({});
  assert.equal(await first, false); // the server has it
  outbox.add(judgement("b", 2));
  const second = outbox.cancel("b");
  requests[1].reject(new Unreachable("no"));
  assert.equal(await second, true);
  assert.equal(storage.length, 0);
  mock.timers.tick(60_000);
  assert.equal(requests.length, 2);
});
