// Where there are no Web Locks, tabs ask each other; one that answers late was there all the same.
import assert from "node:assert/strict";
import { test } from "node:test";

const channels = [];
globalThis.BroadcastChannel = class extends EventTarget {
  constructor() {
    super();
    channels.push(this);
  }
  postMessage(data) {
    this.sent = [...(this.sent ?? []), data];
  }
};
const hears = (channel, data) =>
  channel.dispatchEvent(Object.assign(new Event("message"), { data }));
const withLocks = (locks) =>
  Object.defineProperty(globalThis, "navigator", {
    value: { locks },
    configurable: true,
  });
globalThis.document = {
  getElementById: () => ({ dataset: { user: "1", slug: "spring" } }),
};
globalThis.sessionStorage = { getItem: () => null, removeItem: () => {} };
withLocks({ request: () => new Promise(() => {}) }); // for the tab's own, which judges nothing here
const { Tabs } = await import("../../static/js/judge/tabs.js");

async function leading() {
  const tabs = new Tabs("job"),
    lost = [];
  tabs.addEventListener("lost", () => lost.push(tabs.leading));
  assert.equal(await tabs.lead(), true);
  return { tabs, lost, channel: channels.at(-1) };
}

test("a tab that answers within the wait keeps the job", async () => {
  withLocks(undefined);
  const tabs = new Tabs("job"),
    asked = tabs.lead();
  hears(channels.at(-1), "me");
  assert.equal(await asked, false);
});

test("a tab that answers after the wait keeps the job, too, and the other stops", async () => {
  withLocks(undefined);
  const { tabs, lost, channel } = await leading();
  hears(channel, "anybody?");
  assert.deepEqual(channel.sent, ["anybody?", "me"]);
  hears(channel, "me");
  assert.deepEqual([tabs.leading, lost], [false, [false]]);
  hears(channel, "anybody?");
  assert.deepEqual(
    channel.sent,
    ["anybody?", "me"],
    "who has stopped does not answer",
  );
});

test("with Web Locks the lock alone decides", async () => {
  withLocks({
    request: (name, options, hold) => {
      hold({});
      return new Promise(() => {});
    },
  });
  const { tabs, lost, channel } = await leading();
  hears(channel, "me");
  assert.deepEqual([tabs.leading, lost], [true, []]);
});

test("a tab that waits is told when the other has gone, but not while it reloads", async () => {
  const holders = [[{ name: "job" }], [{ name: "other" }]];
  let asked = 0;
  withLocks({
    request: async (name, hold) => {
      asked += 1;
      hold();
    },
    query: async () => ({ held: holders.shift() }),
  });
  await new Tabs("job").whenFree(0);
  assert.equal(asked, 2, "the lock was taken again within the wait");
});
