// Which words of a query are looked for in a document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { occurrences, terms } from "../../static/js/judge/highlight.js";

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
