// From places in a text to passages: code points, whole characters, whole words. Expected values are counted by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  between,
  joined,
  onWords,
  sentenceAt,
  sentencesOf,
  tellingSentence,
  whole,
} from "../../static/js/judge/marking.js";
import { StoredText, pieces } from "../../static/js/judge/text.js";

/** What marking needs of a document on the page: its pieces, and one block a piece. */
function viewOf(text, options) {
  const parts = pieces(text, options);
  return {
    stored: new StoredText(text),
    pieces: parts,
    blocks: parts.map(({ start, end }, piece) => ({
      node: { data: text.slice(start, end) },
      start,
      end,
      piece,
    })),
  };
}

const words = (text, from, to, options) => {
  const view = viewOf(text, options);
  return between(view, ...onWords(view, from, to)).map(([start, end]) =>
    text.slice(start, end),
  );
};

test("units and code points agree around characters of two units", () => {
  const stored = new StoredText("a😀b😀");
  assert.deepEqual(
    [0, 1, 3, 4, 6].map((unit) => stored.toPoint(unit)),
    [0, 1, 2, 3, 4],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((point) => stored.toUnit(point)),
    [0, 1, 3, 4, 6],
  );
});

test("a passage has no half character and no white space at its ends", () => {
  assert.deepEqual(whole("ab 🇩🇪 cd", 2, 5), [3, 7]); // from the blank into the middle of the flag
  assert.deepEqual(whole("cafe\u0301 au", 0, 4), [0, 5]);
  assert.equal(whole("a   b", 1, 4), null);
});

test("a place inside a word moves to its end, one between words stays", () => {
  const text = "An operation, well-planned (1989) helps.";
  const at = (unit) => ({ piece: 0, unit });
  assert.deepEqual(words(text, at(5), at(10)), ["operation"]);
  assert.deepEqual(words(text, at(3), at(12)), ["operation"]);
  assert.deepEqual(words(text, at(1), at(16)), ["An operation, well"]);
  assert.deepEqual(words(text, at(12), at(13)), [","]);
  assert.deepEqual(words(text, at(29), at(31)), ["1989"]);
});

test("words of Chinese and Thai, which have no blanks, are words as well", () => {
  const at = (unit) => ({ piece: 0, unit });
  assert.deepEqual(words("我们喜欢散步", at(1), at(3)), ["我们喜欢"]);
  assert.deepEqual(words("ฉันชอบเดิน", at(0), at(4)), ["ฉันชอบ"]);
});

test("a passage over the seam of a rotated text is two passages of the stored one", () => {
  const text = "one two three four";
  assert.deepEqual(
    words(text, { piece: 0, unit: 15 }, { piece: 1, unit: 2 }, { rotateAt: 8 }),
    ["four", "one"],
  );
});

test("overlapping and touching passages are one", () => {
  assert.deepEqual(
    joined([
      [8, 9],
      [0, 3],
      [3, 5],
      [4, 7],
    ]),
    [
      [0, 7],
      [8, 9],
    ],
  );
});

const TEXT = "Knees hurt.  Does\nwalking help? It does, by 0.5 points. Ask others.";

const sentences = (view) =>
  sentencesOf(view).map(({ first, last }) =>
    view.stored.text.slice(view.wordList[first].start, view.wordList[last].end),
  );

test("sentences go over line breaks and not over decimal points or seams", () => {
  assert.deepEqual(sentences(viewOf(TEXT)), [
    "Knees hurt",
    "Does\nwalking help",
    "It does, by 0.5 points",
    "Ask others",
  ]);
  assert.deepEqual(sentences(viewOf("One two. Three four", { rotateAt: 9 })), [
    "Three four",
    "One two",
  ]);
  assert.deepEqual(sentences(viewOf("")), []);
});

test("every word is in a sentence", () => {
  const all = sentencesOf(viewOf(TEXT));
  assert.deepEqual(
    [0, 1, 2, 4, 5].map((word) => sentenceAt(all, word)),
    [0, 0, 1, 1, 2],
  );
});

test("the first sentence is one with a query word, if one follows", () => {
  const view = viewOf(TEXT);
  view.terms = () =>
    ["walking", "others"].map((word) => ({
      startContainer: view.blocks[0].node,
      startOffset: TEXT.indexOf(word),
    }));
  assert.deepEqual(
    [0, 1, 2].map((from) => tellingSentence(view, from)),
    [1, 1, 3],
  );
  view.terms = () => [];
  assert.equal(tellingSentence(view, 2), 2);
});
