// Documents are built ahead, once, and forgotten when they are far.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = {};
const { Views } = await import("../../static/js/judge/views.js");

test("three ahead are built, what is open stays, the rest goes", () => {
  const built = [];
  const views = new Views({
    build: (pair) => {
      built.push(pair.pair);
      return { of: pair.pair, terms() {} };
    },
  });
  const pairs = [1, 2, 3, 4, 5].map((pair) => ({ pair }));
  views.of(pairs[0]);
  views.warmUp(pairs.slice(1), [pairs[0], null]);
  assert.deepEqual(built, [1, 2, 3, 4]);
  views.warmUp(pairs.slice(2), [pairs[1]]);
  assert.deepEqual(
    [built, [...views.built.keys()]],
    [
      [1, 2, 3, 4, 5],
      [2, 3, 4, 5],
    ],
  );
  assert.equal(views.of(pairs[2]).of, 3);
  views.drop(pairs[2]);
  assert.equal(views.built.has(3), false);
});
