// One's own pace, in words, and the reminder of a break. Medians and times are reckoned by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { MapStorage } from "./support.mjs";

const menu = Object.assign(new EventTarget(), {
  querySelector: () => ({ prepend() {} }),
});
globalThis.document = {
  getElementById: () => menu,
  createElement: () => ({ setAttribute() {}, append() {} }),
};
const { Rhythm, median, sentence } = await import(
  "../../static/js/judge/rhythm.js"
);

test("the median of an even number is the mean of the middle two", () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([8, 1, 4, 6]), 5);
});

test("no pace is told of fewer than five documents, and what is left only where there is a target", () => {
  assert.equal(
    sentence({
      paces: [1000, 2000, 3000, 4000],
      today: 4,
      judged: 4,
      target: 10,
    }),
    "Today: 4 judged. Your pace is shown after 5 documents.",
  );
  const paces = [10000, 20000, 30000, 40000, 50000];
  assert.equal(
    sentence({ paces, today: 5, judged: 5, target: 25 }),
    "Today: 5 judged. About 30 s per document, about 10 min to your target.",
  ); // 20 x 30 s
  assert.equal(
    sentence({ paces, today: 5, judged: 5, target: 6 }),
    "Today: 5 judged. About 30 s per document, about 1 min to your target.",
  ); // never "about less than a minute"
  assert.equal(
    sentence({ paces, today: 5, judged: 5, target: null }),
    "Today: 5 judged. About 30 s per document.",
  );
  assert.equal(
    sentence({ paces, today: 5, judged: 30, target: 25 }),
    "Today: 5 judged. About 30 s per document.",
  );
});

test("practice and what was too fast say nothing of the pace; the last fifty do", () => {
  const outbox = new EventTarget(),
    storage = new MapStorage();
  const rhythm = new Rhythm({
    outbox,
    reader: new EventTarget(),
    settings: { get: () => 0 },
    banners: { show() {} },
    name: "p",
    progress: () => ({ today: 1, judged: 1, target: null }),
    storage,
  });
  const sent = (ms, answer = { judgement: { status: "counted" } }) =>
    outbox.dispatchEvent(
      Object.assign(new Event("sent"), {
        detail: { entry: { kind: "judge", body: { active_ms: ms } }, answer },
      }),
    );
  sent(4000);
  sent(100, { judgement: { status: "too fast" } });
  sent(9000, { feedback: {}, judgement: { status: "extra" } });
  assert.deepEqual(rhythm.paces, [4000]);
  for (let n = 0; n < 60; n += 1) sent(5000);
  assert.equal(rhythm.paces.length, 50);
});

test("a break is offered after as many minutes as were asked for, counted anew after a pause or five minutes away", () => {
  const reader = new EventTarget(),
    told = [];
  let now = 0;
  const rhythm = new Rhythm({
    outbox: new EventTarget(),
    reader,
    settings: { get: () => "20" },
    banners: { show: (name) => told.push([name, now / 60000]) },
    name: "p",
    progress: () => ({}),
    storage: new MapStorage(),
    now: () => now,
  });
  const judgeUntil = (minute) => {
    for (; now <= minute * 60000; now += 60000) rhythm.judged(0);
  };
  judgeUntil(19);
  assert.deepEqual(told, []);
  judgeUntil(21);
  assert.deepEqual(told, [["break", 20]]);
  reader.dispatchEvent(new Event("covered")); // a pause at 21 min: the 20 minutes begin with the judgement at 22
  judgeUntil(41);
  assert.equal(told.length, 1);
  now += 10 * 60000; // away
  judgeUntil(60);
  assert.equal(told.length, 1);
});

test("the time of today is the sum of its judgements, and starts again the next day", () => {
  let now = new Date(2026, 0, 5, 9).getTime();
  const rhythm = new Rhythm({
    outbox: new EventTarget(),
    reader: new EventTarget(),
    settings: { get: () => 0 },
    banners: { show() {} },
    name: "p",
    progress: () => ({}),
    storage: new MapStorage(),
    now: () => now,
  });
  for (let n = 0; n < 16; n += 1) rhythm.judged(45000);
  assert.equal(
    sentence({ paces: [], activeToday: rhythm.activeToday, today: 16 }),
    "Today: 16 judged, 12 min on this device. Your pace is shown after 5 documents.",
  ); // 16 x 45 s
  now += 24 * 3600000;
  assert.equal(rhythm.activeToday, 0);
});
