// Keeping the leases alive, and leaving.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Unreachable } from "../../static/js/judge/api.js";
import { leave, renew } from "../../static/js/judge/presence.js";

function made(renewed, current = null) {
  const told = [];
  const hear = (name) => (what) =>
    told.push(what === undefined ? name : [name, what.message ?? what]);
  return {
    told,
    given: {
      leases: { renew: renewed, current },
      serverNow: () => 1000,
      onAnswer: hear("answer"),
      onMiss: hear("miss"),
      onFail: hear("fail"),
      onLost: hear("lost"),
    },
  };
}

test("what became of the leases is told; a lost one after the answer", async () => {
  const { told, given } = made(async () => ({ lost: true, answer: "a" }));
  await renew(given);
  assert.deepEqual(told, [["answer", "a"], "lost"]);
});

test("without the server, a lease is lost when its time is over, not before", async () => {
  const silent = async () => {
    throw new Unreachable("silence");
  };
  const over = { expires_at: new Date(999).toISOString() },
    live = { expires_at: new Date(1001).toISOString() };
  for (const [pair, expected] of [
    [over, [["miss", "silence"], "lost"]],
    [live, [["miss", "silence"]]],
    [null, [["miss", "silence"]]],
  ]) {
    const { told, given } = made(silent, pair);
    await renew(given);
    assert.deepEqual(told, expected);
  }
  assert.deepEqual([over.expired, live.expired], [true, undefined]);
});

test("what the server refuses goes on to whoever knows what it means", async () => {
  const { told, given } = made(async () => {
    throw new Error("no");
  });
  await renew(given);
  assert.deepEqual(told, [["fail", "no"]]);
});

test("leaving gives the pairs back, waits for the last answer, and goes", async () => {
  const outbox = Object.assign(new EventTarget(), { size: 1 }),
    done = [];
  const gone = leave({
    leases: {
      release: async () => {
        done.push("release");
      },
    },
    outbox,
    go: () => done.push("go"),
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(done, ["release"]);
  outbox.size = 0;
  outbox.dispatchEvent(new Event("change"));
  await gone;
  assert.deepEqual(done, ["release", "go"]);
});
