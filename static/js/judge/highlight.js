// Words of the query in the document: without case, accents and simple English endings. Also plain finding.

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

/** The words of a query worth looking for. `text`: of the document, which shows its language better than a short query. */
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

/** [start, end) places of the query's words in `text`, in UTF-16 units. */
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
      // scripts without spaces: the words of the query inside a run
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

/** Where the words of its query stand on the page in a document, `view`. */
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

/** Places of a phrase as typed, without case; spaces match any white space. */
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
