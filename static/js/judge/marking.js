// Conversion of positions on the page to spans of the stored text.

let graphemes = null;

/**
 * Returns the character (grapheme cluster) around a position of a text as [start, end) in UTF-16
 * units.
 */
function character(text, unit) {
  if (unit <= 0 || unit >= text.length) return [unit, unit];
  // Clusters are short and end at line breaks, so the line is a sufficient window.
  const from = text.lastIndexOf("\n", unit - 1) + 1;
  let to = text.indexOf("\n", unit);
  if (to < 0) to = text.length;
  if (unit <= from || unit >= to) return [unit, unit];
  if (!Intl.Segmenter) {
    const inside =
      /[\ud800-\udbff]/.test(text[unit - 1]) &&
      /[\udc00-\udfff]/.test(text[unit]);
    return inside ? [unit - 1, unit + 1] : [unit, unit + 1];
  }
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const { index, segment } = graphemes
    .segment(text.slice(from, to))
    .containing(unit - from);
  return [from + index, from + index + segment.length];
}

/**
 * Returns [start, end) extended to whole characters, without white space at the ends. Null if
 * nothing remains.
 */
export function whole(text, start, end) {
  let [from] = character(text, start);
  const last = character(text, end);
  let to = last[0] === end ? end : last[1];
  while (from < to && /\s/.test(text[from])) from += 1;
  while (to > from && /\s/.test(text[to - 1])) to -= 1;
  return from < to ? [from, to] : null;
}

/**
 * Returns the position {piece, unit} of a selection's boundary point, null outside the document's
 * body.
 */
export function placeOf(view, node, offset) {
  if (!view.body.contains(node)) return null;
  const point = document.createRange();
  point.setStart(node, offset);
  for (const block of view.blocks) {
    if (node === block.node)
      return {
        piece: block.piece,
        unit: block.whole
          ? offset
            ? block.end
            : block.start
          : block.start + offset,
      };
    if (point.comparePoint(block.node, 0) > 0)
      return { piece: block.piece, unit: block.start }; // the first block after the point
  }
  const last = view.blocks[view.blocks.length - 1];
  return last ? { piece: last.piece, unit: last.end } : null;
}

/**
 * Returns the spans, in units, between two positions in display order, one for each piece that they
 * touch.
 */
export function between(view, from, to) {
  const spans = [];
  for (let index = from.piece; index <= to.piece; index += 1) {
    const piece = view.pieces[index];
    const span = whole(
      view.stored.text,
      index === from.piece ? from.unit : piece.start,
      index === to.piece ? to.unit : piece.end,
    );
    if (span) spans.push(span);
  }
  return spans;
}

/** Words separated only by a character that an entity stands for count as one. */
function rejoined(words, word) {
  const last = words[words.length - 1];
  if (
    last &&
    last.end === word.start &&
    last.piece === word.piece &&
    last.block !== word.block
  )
    Object.assign(last, { end: word.end, block: word.block });
  else words.push(word);
  return words;
}

/** Returns the words in display order for marking: {piece, start, end}. */
export function wordsOf(view) {
  if (view.wordList && view.wordBlocks === view.blocks.length)
    return view.wordList;
  const segmenter = Intl.Segmenter
    ? new Intl.Segmenter(undefined, { granularity: "word" })
    : null;
  view.wordBlocks = view.blocks.length;
  view.wordList = view.blocks
    .flatMap((block) => {
      const text = block.node.data;
      if (block.whole)
        return /[\p{L}\p{N}]/u.test(text)
          ? [{ piece: block.piece, start: block.start, end: block.end, block }]
          : [];
      const parts = segmenter
        ? [...segmenter.segment(text)]
            .filter((part) => part.isWordLike)
            .map(({ index, segment }) => [index, segment.length])
        : [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].map((match) => [
            match.index,
            match[0].length,
          ]);
      return parts.map(([at, length]) => ({
        piece: block.piece,
        start: block.start + at,
        end: block.start + at + length,
        block,
      }));
    })
    .reduce(rejoined, []);
  return view.wordList;
}

/** Returns the starts of the sentences of a paragraph. */
function startsOf(text) {
  if (!Intl.Segmenter)
    return [
      0,
      ...[...text.matchAll(/[.!?…]["'”’)\]]*\s+/g)].map(
        (end) => end.index + end[0].length,
      ),
    ];
  const segmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });
  return [...segmenter.segment(text)].map(({ index }) => index);
}

/**
 * Returns the sentences in display order as {first, last}, indices of their words. A sentence ends
 * with its paragraph, and in tables and code with its line.
 */
export function sentencesOf(view) {
  const words = wordsOf(view);
  const paragraph = ({ piece, block }) =>
    block.node.parentElement?.closest(".doc-body > *") ?? piece;
  const found = [];
  for (let first = 0; first < words.length; ) {
    const here = paragraph(words[first]);
    let end = first + 1;
    while (end < words.length && paragraph(words[end]) === here) end += 1;
    const from = words[first].start;
    const text = view.stored.text.slice(from, words[end - 1].end);
    const starts = startsOf(
      here.className === "fixed" ? text : text.replace(/\n/g, " "),
    );
    for (let index = first, next = 1; index < end; index += 1) {
      const isStart =
        index === first || words[index].start - from >= starts[next];
      while (words[index].start - from >= starts[next]) next += 1;
      if (isStart) found.push({ first: index, last: index });
      else found.at(-1).last = index;
    }
    first = end;
  }
  return found;
}

/** Returns the index of the sentence that contains a word. */
export const sentenceAt = (sentences, word) =>
  sentences.findIndex(({ last }) => word <= last);

/**
 * Returns the first sentence from index `from` on with an occurrence of a query word, else the
 * sentence at `from`.
 */
export function tellingSentence(view, from) {
  const words = wordsOf(view);
  const units = view.terms().flatMap(({ startContainer, startOffset }) => {
    const block = view.blocks.find(({ node }) => node === startContainer);
    return block ? block.start + (block.whole ? 0 : startOffset) : [];
  });
  const found = sentencesOf(view).findIndex(
    ({ first, last }, index) =>
      index >= from &&
      units.some(
        (unit) => words[first].start <= unit && unit < words[last].end,
      ),
  );
  return found < 0 ? from : found;
}

const BESIDE = 3; // units, because touch is rarely exact

/** Returns the index of the word at or close to a point of the window, -1 if there is none. */
export function wordAt(view, x, y) {
  const caret = document.caretPositionFromPoint?.(x, y),
    range = caret ? null : document.caretRangeFromPoint?.(x, y);
  const node = caret?.offsetNode ?? range?.startContainer;
  const place = node && placeOf(view, node, caret?.offset ?? range.startOffset);
  if (!place) return -1;
  const far = ({ piece, start, end }) =>
    piece !== place.piece
      ? Infinity
      : Math.max(start - place.unit, place.unit - end, 0);
  const words = wordsOf(view);
  let best = -1;
  words.forEach((word, index) => {
    if (far(word) <= BESIDE && (best < 0 || far(word) < far(words[best])))
      best = index;
  });
  return best;
}

/** Returns two positions of a selection, moved outwards if they are inside a word. */
export function onWords(view, from, to) {
  const words = wordsOf(view);
  const cut = ({ piece, unit }) =>
    words.find(
      (word) => word.piece === piece && word.start < unit && unit < word.end,
    );
  const first = cut(from),
    last = cut(to);
  return [
    first ? { ...from, unit: first.start } : from,
    last ? { ...to, unit: last.end } : to,
  ];
}

/** Returns the spans sorted, with overlapping and adjacent ones merged. */
export function joined(spans) {
  const result = [];
  for (const [start, end] of [...spans].sort(
    (a, b) => a[0] - b[0] || a[1] - b[1],
  )) {
    const last = result[result.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}
