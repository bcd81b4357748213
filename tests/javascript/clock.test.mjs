// The clock of one judgement: expected milliseconds are counted by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock } from "../../static/js/judge/clock.js";

function started({ limitMs = 1000, seen = true, saved = null, at = 0 } = {}) {
  const time = { now: at };
  const clock = new Clock({ now: () => time.now, limitMs, saved });
  clock.start({ seen });
  return { clock, time };
}

const parts = (clock) => {
  const { active_ms, idle_ms, hidden_ms, wall_ms } = clock.read();
  return [active_ms, idle_ms, hidden_ms, wall_ms];
};

test("a stretch without input is active up to the idle limit, then idle", () => {
  const { clock, time } = started();
  time.now = 400;
  clock.sign();
  time.now = 2400; // 1000 active, 1000 idle
  clock.sign();
  time.now = 2500;
  assert.deepEqual(parts(clock), [1500, 1000, 0, 2500]);
});

test("what is not seen is hidden, and seeing it again is a sign", () => {
  const { clock, time } = started();
  time.now = 300;
  clock.watch(false);
  time.now = 5300;
  clock.watch(true);
  time.now = 5500;
  assert.deepEqual(parts(clock), [500, 0, 5000, 5500]);
  assert.equal(clock.untilIdle, 800);
});

test("a clock that was set back makes no negative time", () => {
  const { clock, time } = started({ at: 10_000 });
  time.now = 10_200;
  clock.sign();
  time.now = 3_000;
  assert.deepEqual(parts(clock), [200, 0, 0, 200]);
});

test("the parts survive a reload, and the time without the page is hidden", () => {
  const { clock, time } = started();
  time.now = 700;
  const saved = clock.save();
  const again = started({ saved, at: 1700 });
  again.time.now = 1900;
  assert.deepEqual(parts(again.clock), [900, 0, 1000, 1900]);
});

test("idle is told at the limit, and never while nobody looks", () => {
  const { clock, time } = started();
  time.now = 999;
  assert.equal(clock.isIdle, false);
  time.now = 1000;
  assert.equal(clock.isIdle, true);
  clock.watch(false);
  assert.equal(clock.isIdle, false);
  assert.equal(clock.untilIdle, Infinity);
});

test("before the first paint nothing runs", () => {
  const clock = new Clock({ now: () => 5 });
  assert.equal(clock.running, false);
  assert.deepEqual(parts(clock), [0, 0, 0, 0]);
});

const wait = (seconds) => ["wait", seconds];
const start = ["start"],
  sign = ["sign"];
const see = (seen) => ["see", seen];

/** [what is done, active, idle and hidden seconds]; the idle limit is a minute. */
const STRETCHES = {
  "a stretch": [[start, wait(10)], 10, 0, 0],
  "nothing before the first paint": [[wait(5), start, wait(10)], 10, 0, 0],
  "a stretch longer than the limit": [[start, wait(100)], 60, 40, 0],
  "a sign within the limit": [[start, wait(50), sign, wait(50)], 100, 0, 0],
  "a sign just after the limit": [
    [start, wait(50), sign, wait(61), sign, wait(2)],
    112,
    1,
    0,
  ],
  "a page that is hidden": [
    [start, wait(10), see(false), wait(500), see(true), wait(5)],
    15,
    0,
    500,
  ],
  "a page that is hidden while nobody reads it": [
    [start, wait(70), see(false), wait(30), see(true), wait(70)],
    120,
    20,
    30,
  ],
  "a reload": [[start, wait(10), ["reload", 7], wait(3)], 13, 0, 7],
  "a clock that is set back": [
    [start, wait(10), sign, wait(-4), sign, wait(1)],
    10,
    0,
    0,
  ],
  "a page that is never painted": [[], 0, 0, 0],
};

for (const [name, [steps, active, idle, hidden]] of Object.entries(STRETCHES)) {
  test(`active, idle and hidden time add up: ${name}`, () => {
    let now = 1_000_000;
    const made = (saved) =>
      new Clock({ now: () => now, limitMs: 60_000, saved });
    let clock = made(null);
    for (const [what, value] of steps) {
      if (what === "wait") now += value * 1000;
      else if (what === "start") clock.start();
      else if (what === "sign") clock.sign();
      else if (what === "see") clock.watch(value);
      else {
        const saved = JSON.parse(JSON.stringify(clock.save()));
        now += value * 1000;
        clock = made(saved);
        clock.start();
      }
    }
    assert.deepEqual(
      parts(clock).map((ms) => ms / 1000),
      [active, idle, hidden, active + idle + hidden],
    );
  });
}
