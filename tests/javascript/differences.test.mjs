// Which words of two texts differ.
import assert from "node:assert/strict";
import { test } from "node:test";

import { differences } from "../../static/js/judge/differences.js";

/** Numbers in [0, 1) that are the same in every run (mulberry32, Tommy Ettinger). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Length of the longest common sequence, from the table of all beginnings. */
function longestCommon(one, other) {
  const row = new Array(other.length + 1).fill(0);
  for (const word of one) {
    const before = [...row];
    other.forEach((rival, place) => {
      row[place + 1] =
        word === rival
          ? before[place] + 1
          : Math.max(before[place + 1], row[place]);
    });
  }
  return row.at(-1);
}

const without = (text, places) =>
  [...places]
    .reverse()
    .reduce(
      (left, [start, end]) => left.slice(0, start) + left.slice(end),
      text,
    );
const words = (text) => text.split(" ").filter(Boolean);

test("what is left of both texts is their longest common sequence of words", () => {
  const random = numbers(3);
  const drawn = (most) =>
    Array.from(
      { length: Math.floor(random() * most) },
      () => "abcde"[Math.floor(random() * 5)],
    );
  for (let most = 1; most < 40; most += 1) {
    for (let turn = 0; turn < 3; turn += 1) {
      const [one, other] = [drawn(most), drawn(most)];
      const texts = [one.join(" "), other.join(" ")];
      const alone = differences(...texts);
      const common = longestCommon(one, other);
      assert.deepEqual(
        [alone.one.n, alone.other.n],
        [one.length - common, other.length - common],
        texts.join(" | "),
      );
      assert.deepEqual(
        words(without(texts[0], alone.one.places)),
        words(without(texts[1], alone.other.places)),
        texts.join(" | "),
      );
    }
  }
});

test("signs and case make no difference, neighbours are one place, characters are words in Chinese", () => {
  const told = (one, other) => {
    const alone = differences(one, other);
    return [
      alone.one.places.map(([start, end]) => one.slice(start, end)),
      alone.other.places.map(([start, end]) => other.slice(start, end)),
    ];
  };
  for (const [one, other, expected] of [
    [
      "A brisk walk, daily.",
      "a slow long walk daily",
      [["brisk"], ["slow long"]],
    ],
    ["one two", "one two", [[], []]],
    ["", "new words", [[], ["new words"]]],
    ["血糖在饭后", "血糖于饭后", [["在"], ["于"]]],
    ["😀 happy end", "😀 sad end", [["happy"], ["sad"]]],
  ])
    assert.deepEqual(told(one, other), expected);
});

test("of texts that have next to nothing in common, all words differ", () => {
  const long = (mark) =>
    Array.from({ length: 20000 }, (_, n) => mark + n).join(" ");
  const alone = differences(`same ${long("a")}`, `same ${long("b")}`);
  assert.deepEqual(
    [alone.one.n, alone.other.n, alone.one.places.length],
    [20000, 20000, 1],
  );
});
