// What a state does to the page stands in one table; every state of it has words.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  ServerState,
  gates,
  isOver,
  isPolled,
  stops,
} from "../../static/js/judge/state_table.js";

const source = (name) =>
  readFileSync(
    new URL(`../../static/js/judge/${name}`, import.meta.url),
    "utf8",
  );
const states = [...source("state_table.js").matchAll(/^ {2}(\w+): \{/gm)].map(
  (match) => match[1],
);

test("a state stops what is on the page or only the next document, never both", () => {
  assert.equal(states.length, 11);
  for (const state of states) assert.ok(!(stops(state) && gates(state)), state);
});

test("what is over stops the page; a pause, a limit and an empty pool are looked at again", () => {
  for (const state of states) if (isOver(state)) assert.ok(stops(state), state);
  assert.ok(!isOver("paused") && stops("paused"));
  for (const state of ["paused", "daily_limit", "nothing_now", "draft"])
    assert.ok(isPolled(state), state);
});

test("judging itself, and what the table does not know, does nothing", () => {
  for (const state of [
    "judging",
    "qualification",
    "done",
    "toString",
    undefined,
  ]) {
    assert.deepEqual(
      [stops(state), gates(state), isOver(state), isPolled(state)],
      [false, false, false, false],
      String(state),
    );
  }
});

test("every state of the table but the change of guidelines has words in states.js", () => {
  for (const state of states)
    if (state !== "guideline_changed")
      assert.match(source("states.js"), new RegExp(`^ {2}${state}: `, "m"));
});

const at = (mode, shown = null, isFresh = false) => ({ mode, shown, isFresh });

test("a pause takes the document away, is shown once, and goes on when judging is open again", () => {
  const server = new ServerState();
  assert.ok(server.take({ state: "paused" }));
  assert.equal(server.effect(at("judging")), "stop");
  assert.equal(server.effect(at("state", "paused")), "");
  server.take({ state: "judging" });
  assert.equal(server.effect(at("state", "paused")), "go on");
  assert.equal(server.effect(at("judging")), "");
});

test("a gate waits behind a document that is being read, and takes away one that has just come", () => {
  const server = new ServerState();
  server.take({ state: "target_reached" });
  assert.deepEqual(
    [
      at("judging"),
      at("judging", null, true),
      at("waiting"),
      at("state", "nothing_now"),
      at("state", "target_reached"),
    ].map((page) => server.effect(page)),
    ["", "gate", "gate", "gate", ""],
  );
  server.take({ state: "target_reached" }, { onward: true });
  assert.equal(server.gate, null);
});

test("what was asked for before the last judgement was answered is stale, unless it stops", () => {
  const server = new ServerState();
  server.answered({}, 1000);
  assert.equal(server.take({ state: "target_reached", sentAt: 999 }), false);
  assert.equal(server.state, "judging");
  assert.equal(server.take({ state: "closed", sentAt: 999 }), true);
  assert.equal(server.take({}), false);
});
