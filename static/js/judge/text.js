// A stored text, seen as UTF-16 units (what the browser counts) and as code points (what is stored). Never a half emoji.

export class StoredText {
  constructor(text) {
    this.text = text;
    this.pairs = []; // places of the first halves of surrogate pairs
    for (const match of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) this.pairs.push(match.index);
  }

  /** Number of surrogate pairs that begin before a place. */
  #before(unit) {
    let low = 0, high = this.pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pairs[middle] < unit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  toPoint(unit) { return unit - this.#before(unit); }

  toUnit(point) {
    if (this.pairs.length === 0) return point;
    let low = 0, high = this.pairs.length; // pairs[i] is at code point pairs[i] - i
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pairs[middle] - middle < point) low = middle + 1;
      else high = middle;
    }
    return point + low;
  }
}

/** The end, in units, of the n-th word of a text. */
export function endOfWord(text, n) {
  let count = 0;
  for (const match of text.matchAll(/\S+/g)) {
    count += 1;
    if (count === n) return match.index + match[0].length;
  }
  return text.length;
}

/**
 * The parts of the stored text in the order of display: {start, end, rest}. Cut to `shownWords` first, so that everybody judges the same
 * words; what is shown begins at `rotateAt`; `rest` marks the part shown on demand.
 */
export function pieces(text, { shownWords = null, rotateAt = 0 } = {}) {
  const cut = shownWords ? endOfWord(text, shownWords) : text.length;
  const turn = rotateAt > 0 && rotateAt < cut ? rotateAt : 0;
  const shown = turn ? [{ start: turn, end: cut }, { start: 0, end: turn }] : [{ start: 0, end: cut }];
  const all = shown.map((piece) => ({ ...piece, rest: false }));
  if (text.slice(cut).trim()) all.push({ start: cut, end: text.length, rest: true });
  return all;
}

/** Paragraphs of a piece of the text as {start, end, kind}: prose, or a table or code whose columns must stay aligned. */
export function paragraphs(text, { start, end }) {
  const found = [];
  const gaps = /\n[^\S\n]*(?:\n[^\S\n]*)+/g;
  gaps.lastIndex = start;
  let from = start;
  for (;;) {
    const gap = gaps.exec(text);
    const to = gap && gap.index < end ? gap.index : end;
    if (text.slice(from, to).trim()) found.push({ start: from, end: to, kind: kindOf(text.slice(from, to)) });
    if (!gap || gap.index >= end) return found;
    from = Math.min(end, gap.index + gap[0].length - (/\n([^\S\n]*)$/.exec(gap[0])?.[1].length ?? 0));
  }
}

function kindOf(block) {
  const lines = block.split("\n").filter((line) => line.trim());
  if (lines.length < 2) return /^\s*(>>> |\$ )/.test(block) ? "fixed" : "prose";
  const columns = lines.filter((line) => /\t/.test(line.trim()) || (line.match(/\|/g)?.length ?? 0) >= 2 || /\S {3,}\S.* {2,}\S|\S {4,}\S/.test(line)).length;
  const indents = lines.filter((line) => /^( {2,}|\t)\S/.test(line)).length;
  const code = lines.filter((line) => /^\s*(>>> |\.\.\. |\$ |#include|def |class |import |from \S+ import |return\b|[{}]\s*$)|[;{]\s*$/.test(line)).length;
  // Indented lines alone are how many collections wrap their prose; code has indented lines of unequal depth.
  const depths = new Set(lines.map((line) => /^\s*/.exec(line)[0].length));
  const signs = lines.filter((line) => /[=(){}\[\]<>;]/.test(line)).length;
  if (columns / lines.length >= 0.6) return "fixed";
  if (code / lines.length >= 0.3 || (indents / lines.length >= 0.4 && depths.size > 1 && signs / lines.length >= 0.4)) return "fixed";
  // Lines that all go on to about the same width were broken by a machine; they may be broken anew.
  const widest = Math.max(...lines.map((line) => line.length));
  return lines.length > 2 && widest > 45 && widest < 110 && lines.slice(0, -1).every((line) => line.length > widest * 0.7) ? "wrapped" : "prose";
}
