// Which words of a query are looked for in a document.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  occurrences,
  phrases,
  terms,
} from "../../static/js/judge/highlight.js";

test("words that tell nothing are not looked for", () => {
  assert.deepEqual(
    [
      ...terms(
        "What has been done about their more recent indexing, if any can not help?",
      ),
    ].sort(),
    ["don", "help", "index", "recent"],
  );
});

test("stop words are those of the document's language", () => {
  const german =
    "Die Studie wurde mit den Daten der Klinik durchgeführt und von der Behörde nicht bestätigt.";
  assert.deepEqual([...terms("Die Wirkung der Therapie", german)].sort(), [
    "therapi",
    "wirkung",
  ]);
  assert.ok(
    terms(
      "die casting",
      "The casting of metal under pressure is one of the oldest methods.",
    ).has("die"),
  );
});

test("a query of stop words only is looked for as it is", () => {
  assert.deepEqual([...terms("to be or not to be")].sort(), [
    "be",
    "not",
    "or",
    "to",
  ]);
});

test("occurrences are places of whole words without case and endings", () => {
  const text = "Indexes and an INDEX; reindexed.";
  assert.deepEqual(
    occurrences(text, terms("index")).map(([from, to]) => text.slice(from, to)),
    ["Indexes", "INDEX"],
  );
});

const hits = (query, text) =>
  occurrences(text, terms(query)).map(([from, to]) => text.slice(from, to));

test("words of the query are found with endings, accents and in other scripts", () => {
  for (const [query, text, found] of [
    [
      "exercises for the knees",
      "Exercise your knee. Exercising for hours.",
      ["Exercise", "knee", "Exercising"],
    ],
    ["Café", "The cafe and the CAFÉS", ["cafe", "CAFÉS"]],
    ["to be or not", "to not", ["to", "not"]],
    ["the of", "of the", ["of", "the"]],
    ["糖尿", "预防糖尿病的方法", ["糖尿"]],
    ["vitamin b 12", "B vitamins, 12 of them", ["vitamins", "12"]],
  ])
    assert.deepEqual(hits(query, text), found, query);
});

test("a phrase is found as typed, without case, over any white space", () => {
  assert.equal(phrases("a.b A.B a\n b", "a.b").length, 2);
  assert.equal(phrases("two  words two\nwords", "two words").length, 2);
});
