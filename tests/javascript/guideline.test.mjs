// The words that decide a practice answer: what its explanation has in quotation marks and the document, too. Places are counted by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = { getElementById: () => ({}) };
const { decisive } = await import("../../static/js/judge/guideline.js");

const TEXT = "Brisk walks\nafter each meal lower the sugar. Walks help.";

test("quoted words are found where they stand first, whatever the quotation marks, the case and the line breaks", () => {
  assert.deepEqual(
    decisive(
      'Perfect, for “brisk walks after each meal” is the exercise and "LOWER the sugar" the effect.',
      TEXT,
    ),
    [
      [0, 27],
      [28, 43],
    ],
  );
  assert.deepEqual(decisive("Weil «walks» und „help“ da steht", TEXT), [
    [6, 11],
    [51, 55],
  ]);
});

test("what is not quoted, or not in the document, is not", () => {
  assert.deepEqual(decisive("It speaks of walks.", TEXT), []);
  assert.deepEqual(decisive("It never says “swimming”, nor “”.", TEXT), []);
});
