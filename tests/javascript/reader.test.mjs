// The reader of the document: veiled when away, the place and the clock kept by lease.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Memory } from "../../static/js/judge/memory.js";
import { Reader } from "../../static/js/judge/reader.js";
import { MapStorage } from "./support.mjs";

globalThis.document = { visibilityState: "visible", hasFocus: () => true };
globalThis.scrollY = 0;
globalThis.scrollTo = (x, y) => {
  globalThis.scrollY = Math.min(y, 900);
};

function made({ isReading = () => true, mayLook } = {}) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  const memory = new Memory({ prefix: "t:", storage: new MapStorage() });
  const reader = new Reader({ memory, isReading, mayLook });
  const told = [];
  for (const name of ["covered", "uncovered"])
    reader.addEventListener(name, () => told.push(name));
  const view = {
    element: { isConnected: true },
    showsAll: false,
    showRest() {
      this.showsAll = true;
    },
    complete: async () => true,
  };
  return { memory, reader, told, view, end: () => mock.timers.reset() };
}

test("the document is veiled at the idle limit, counted from the last sign, and the place is there again", () => {
  const { reader, told, view, end } = made();
  reader.open({ view, lease: "a", limitMs: 60_000 });
  reader.start();
  mock.timers.tick(50_000);
  reader.sign();
  mock.timers.tick(59_000);
  assert.equal(reader.veil, null);
  globalThis.scrollY = 420;
  mock.timers.tick(2_000);
  assert.deepEqual([reader.veil, told], ["idle", ["covered"]]);
  globalThis.scrollY = 0; // nothing to scroll while the veil is there
  mock.timers.tick(30_000);
  reader.uncover();
  assert.deepEqual(
    [reader.veil, told, globalThis.scrollY],
    [null, ["covered", "uncovered"], 420],
  );
  const {
    active_ms: active,
    idle_ms: idle,
    wall_ms: wall,
  } = reader.clock.read();
  assert.deepEqual([active, idle + active, wall], [110_000, 141_000, 141_000]);
  end();
});

test("a pause stops the clock at once; nothing is veiled where no document is read", () => {
  const { reader, view, end } = made();
  reader.open({ view, lease: "a", limitMs: 60_000 });
  reader.start();
  mock.timers.tick(1_000);
  reader.cover("user-pause");
  mock.timers.tick(9_000);
  assert.deepEqual(
    [reader.clock.read().active_ms, reader.clock.read().hidden_ms],
    [1_000, 9_000],
  );
  reader.close();
  assert.deepEqual([reader.veil, reader.clock], [null, null]);
  const away = made({ isReading: () => false });
  away.reader.open({ view, lease: "a", limitMs: 60_000 });
  away.reader.cover("user-pause");
  assert.equal(away.reader.veil, null);
  away.end();
  end();
});

test("clock and place survive by lease; of an earlier judgement, which has none, nothing is kept", async () => {
  const { memory, reader, view, end } = made();
  reader.open({ view, lease: "a", limitMs: 60_000 });
  reader.start();
  mock.timers.tick(3_000);
  globalThis.scrollY = 300;
  reader.keep();
  assert.deepEqual(
    [memory.place("a"), memory.clock("a").active],
    [{ y: 300, all: false }, 3_000],
  );
  globalThis.scrollY = 0;
  reader.open({ view, lease: null, limitMs: 60_000 });
  reader.start();
  reader.keep();
  assert.equal(await reader.toPlace(), false);
  assert.deepEqual([...memory.storage.map.keys()].sort(), [
    "t:clock:a",
    "t:place:a",
  ]);
  reader.open({ view, lease: "a", limitMs: 60_000 });
  assert.equal(await reader.toPlace(), true);
  assert.equal(globalThis.scrollY, 300);
  end();
});

test("nobody looks while a sign-in is asked for", () => {
  const { reader, view, end } = made({ mayLook: () => false });
  reader.open({ view, lease: "a", limitMs: 60_000 });
  reader.start();
  mock.timers.tick(5_000);
  assert.equal(reader.clock.read().active_ms, 0);
  end();
});
