// Occurrences of the query's words in the document, regardless of case, accents and simple English
// endings. Also plain search.

import { folded, stopWords } from "./stop_words.js";

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const MANY = 3000;

function stem(word) {
  const plain = folded(word);
  if (plain.length > 4 && plain.endsWith("ies"))
    return plain.slice(0, -3) + "y";
  if (plain.length > 5 && plain.endsWith("ing"))
    return plain.slice(0, -3).replace(/e$/, "");
  if (plain.length > 4 && plain.endsWith("ed"))
    return plain.slice(0, -2).replace(/e$/, "");
  if (plain.length > 4 && /(ch|sh|ss|x|z)es$/.test(plain))
    return plain.slice(0, -2);
  if (plain.length > 3 && plain.endsWith("s") && !/(ss|us|is)$/.test(plain))
    return plain.slice(0, -1).replace(/e$/, "");
  return plain.length > 3 ? plain.replace(/e$/, "") : plain;
}

/**
 * Returns the query's words without stop words. text: of the document, whose language is easier to
 * detect than that of a short query.
 */
export function terms(query, text = "") {
  const stop = stopWords(`${query} ${text}`);
  const words = query.match(WORD) ?? [];
  const telling = words.filter(
    (word) =>
      !stop.has(folded(word)) &&
      (word.length > 1 || /\p{N}|[^\p{ASCII}]/u.test(word)),
  );
  return new Set((telling.length ? telling : words).map(stem));
}

/** Returns the occurrences of the query's words in `text` as [start, end) in UTF-16 units. */
export function occurrences(text, wanted) {
  const found = [];
  for (const match of text.matchAll(WORD)) {
    if (found.length >= MANY) break;
    const word = match[0];
    if (wanted.has(stem(word)))
      found.push([match.index, match.index + word.length]);
    else if (
      /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff]/.test(word)
    ) {
      // in scripts without spaces, words of the query inside a run of characters
      for (const one of wanted) {
        for (
          let at = word.indexOf(one);
          at >= 0;
          at = word.indexOf(one, at + one.length)
        )
          found.push([match.index + at, match.index + at + one.length]);
      }
    }
  }
  return found;
}

/** Returns the occurrences of the query's words in a document on the page. view: DocumentView. */
export function rangesOf({ pair, blocks }) {
  const wanted = terms(
    pair.topic.text ?? "",
    blocks
      .slice(0, 20)
      .map(({ node }) => node.data)
      .join(" "),
  );
  return blocks.flatMap(({ node }) =>
    occurrences(node.data, wanted).map(
      ([from, to]) =>
        new StaticRange({
          startContainer: node,
          startOffset: from,
          endContainer: node,
          endOffset: to,
        }),
    ),
  );
}

/** Returns the occurrences of a phrase, regardless of case. Spaces match any white space. */
export function phrases(text, phrase) {
  const wanted = phrase.trim();
  if (!wanted) return [];
  const pattern = wanted
    .replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
    .replace(/\s+/g, "\\s+");
  return [...text.matchAll(new RegExp(pattern, "giu"))]
    .slice(0, MANY)
    .map((match) => [match.index, match.index + match[0].length]);
}
