// From places on the page to spans of the stored text.

let graphemes = null;

/** The character, as people see it, around a place of a text: [start, end) in UTF-16 units. */
function character(text, unit) {
  if (unit <= 0 || unit >= text.length) return [unit, unit];
  // Clusters are short, and a line break always ends one: the line is window enough.
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

/** [start, end) grown so that no character is cut, without white space at the ends; null when nothing is left. */
export function whole(text, start, end) {
  let [from] = character(text, start);
  const last = character(text, end);
  let to = last[0] === end ? end : last[1];
  while (from < to && /\s/.test(text[from])) from += 1;
  while (to > from && /\s/.test(text[to - 1])) to -= 1;
  return from < to ? [from, to] : null;
}

/** The place of a boundary point of a selection: {piece, unit}; null outside the document's body. */
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

/** Spans, in units, between two places in the order of display: one for each piece that they touch. */
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

/** Words that a sign of their own (an entity) parts are one. */
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

/** Words in the order of display, for the word cursor: {piece, start, end}. */
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

const BESIDE = 3; // units: a finger is seldom exact

/** The index of the word at a point of the window, or close beside it; -1 where there is none. */
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

/** Two places of a selection, moved outwards where they stand inside a word. */
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

/** Sorted, with overlapping and touching spans joined. */
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
