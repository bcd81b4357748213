// A stored text with positions in UTF-16 units (browser) and code points (database). Never splits a
// surrogate pair.

export class StoredText {
  constructor(text) {
    this.text = text;
    this.pairs = [...text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map(
      ({ index }) => index,
    ); // positions of high surrogates
  }

  toPoint(unit) {
    return unit - this.pairs.filter((at) => at < unit).length;
  }

  toUnit(point) {
    return (
      point + this.pairs.filter((at, before) => at - before < point).length
    );
  }
}

/**
 * Returns the displayed parts of the stored text: {start, end, rest}. They are cut at `shownEnd`,
 * so that all annotators judge the same words, and start at `rotateAt`. rest: shown on request.
 */
export function pieces(text, { shownEnd = null, rotateAt = 0 } = {}) {
  const cut = shownEnd ?? text.length;
  const shown =
    rotateAt > 0 && rotateAt < cut
      ? [
          [rotateAt, cut],
          [0, rotateAt],
        ]
      : [[0, cut]];
  const all = shown.map(([start, end]) => ({ start, end, rest: false }));
  if (text.slice(cut).trim())
    all.push({ start: cut, end: text.length, rest: true });
  return all;
}

/**
 * Returns the paragraphs of a piece of text as {start, end, kind}: prose, prose with hard line
 * breaks, or a table or code whose columns are kept.
 */
export function paragraphs(text, { start, end }) {
  const found = [];
  const gaps = /\n[^\S\n]*(?:\n[^\S\n]*)+/g;
  const widest = widestLine(text.slice(start, end));
  gaps.lastIndex = start;
  let from = start;
  for (;;) {
    const gap = gaps.exec(text);
    const to = gap && gap.index < end ? gap.index : end;
    if (text.slice(from, to).trim())
      found.push(...parted(text, from, to, widest));
    if (!gap || gap.index >= end) return found;
    from = Math.min(
      end,
      gap.index +
        gap[0].length -
        (/\n([^\S\n]*)$/.exec(gap[0])?.[1].length ?? 0),
    );
  }
}

const ITEM = /^\s*(?:[-–—*•·+]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])\s/; // starts a list item
const widestLine = (text) =>
  Math.max(...text.split("\n").map((line) => line.trimEnd().length));

/**
 * Returns a block as one paragraph or, if it has hard line breaks, as the paragraphs indicated by
 * indents, list items and short last lines.
 */
function parted(text, from, to, widest) {
  const block = text.slice(from, to);
  const kind = kindOf(block);
  if (kind === "fixed") return [{ start: from, end: to, kind }];
  const lines = block.split("\n");
  const width = widest <= 110 ? widest : widestLine(block);
  if (!machineBroken(lines, width)) return [{ start: from, end: to, kind }];
  const found = [];
  let at = from,
    begin = from;
  lines.forEach((line, index) => {
    at += line.length + 1;
    const next = lines[index + 1];
    if (next !== undefined && !endsParagraph(line, next, width)) return;
    found.push({ start: begin, end: Math.min(at - 1, to), kind: "wrapped" });
    begin = at;
  });
  return found;
}

// Hard-wrapped prose breaks anywhere: rarely after punctuation, and often after words that rarely
// end lines of verse, lists and code.
const STOPS = /[.,;:!?…—–)"”’]\s*$/;
const RUNS_ON =
  /(?:^|\W)(?:the|an?|of|in|on|at|to|by|for|from|with|and|or|that|which|is|are|was|were|as|its?|this|these|be|has|have)\s*$|[a-z]-\s*$/i;
const WITHIN = /\w{3}[)"”’]? ?[.?!]["”’)]? +\S/g; // a sentence starts within a line
// Words of verse and shopping lists have 3.5 to 4.6 letters on average, and those of half of the
// abstracts more than 5.3.
const LEARNED = 4.9,
  PLAIN = 4.65;
const VERB = /\b(?:is|are|was|were|has|have|had|be|been|can|may|does|shows?)\b/;
const indent = (line) => /^\s*/.exec(line)[0].length;
/** Returns whether the first word of the next line would hardly have fitted on this line. */
const isFull = (line, next, width) =>
  line.trimEnd().length + 1 + /\S*/.exec(next.trimStart())[0].length >
  width * 0.92;

function endsParagraph(line, next, width) {
  const full = isFull(line, next, width),
    sentence = /[.!?:]["'”’)]*\s*$/.test(line);
  return (
    ITEM.test(next) ||
    (!full && sentence) ||
    ((!full || sentence) && indent(next) >= indent(line) + 2)
  );
}

/** Returns the mean word length in letters. */
const wordLength = (text) =>
  (text.match(/\p{L}/gu)?.length ?? 0) / (text.match(/\p{L}+/gu)?.length ?? 1);

function machineBroken(lines, width) {
  const pairs = lines.slice(1).map((next, index) => [lines[index], next]),
    n = pairs.length,
    text = lines.join("\n");
  const breaks = pairs.filter(
    ([line, next]) => !endsParagraph(line, next, width),
  );
  if (!breaks.length || width < 30 || width > 110) return false;
  const share = (test, all = breaks) => all.filter(test).length / all.length;
  const stops = share(([line]) => STOPS.test(line), pairs),
    within = text.match(WITHIN)?.length ?? 0,
    words = wordLength(text);
  const told =
    words > LEARNED && VERB.test(text) && /[.?!]\W*$/.test(text) && stops < 0.7;
  if (
    !told &&
    (n > 2 || width < 60) &&
    stops > (within * 4 > n || width > 60 ? 0.5 : 0.4)
  )
    return false; // verse, lists
  if (
    n > 2 &&
    width < 60 &&
    share(([line, next]) => indent(line) !== indent(next), pairs) > 0.6
  )
    return false;
  const full = share(([line, next]) => isFull(line, next, width)),
    ragged = full < 0.6,
    runsOn = share(([line]) => RUNS_ON.test(line));
  if (n > 1 && !within && !runsOn && !/[.,:;?!…]\W*$/.test(text)) return false; // lists
  if (full < 0.75 && words < PLAIN && !/\d|[.?!] {2}\S/.test(text))
    return false; // free verse
  if (
    !told &&
    (ragged || width < 45) &&
    (breaks.length < 3 ||
      runsOn < (within && stops < 0.25 ? 0 : within * 8 > n ? 0.07 : 0.15))
  )
    return false;
  if (
    share(([, next]) => /^\s*\p{Lu}/u.test(next)) > 0.7 &&
    /\p{Ll}/u.test(text)
  )
    return false; // verse, names
  if (
    share(([line]) => /\S {3,}\S|\t/.test(line)) > 0.2 ||
    share(([line]) => /^\s*(?:[>#|%]|\/\/)|[;{}\\]\s*$/.test(line)) > 0.2
  )
    return false; // columns, quotations, code
  return (
    (lines.join("").match(/[\d|=_{}<>\\]/g)?.length ?? 0) <
    lines.join("").length * 0.25
  );
}

function kindOf(block) {
  const lines = block.split("\n").filter((line) => line.trim());
  if (lines.length < 2) return /^\s*(>>> |\$ )/.test(block) ? "fixed" : "prose";
  const columns = lines.filter(
    (line) =>
      /\t/.test(line.trim()) ||
      (line.match(/\|/g)?.length ?? 0) >= 2 ||
      /\S {3,}\S.* {2,}\S|\S {4,}\S/.test(line),
  ).length;
  const indents = lines.filter((line) => /^( {2,}|\t)\S/.test(line)).length;
  const code = lines.filter((line) =>
    /^\s*(>>> |\.\.\. |\$ |#include|def |class |import |from \S+ import |return\b|[{}]\s*$)|[;{]\s*$/.test(
      line,
    ),
  ).length;
  // Prose can be indented, too. The indents of code vary.
  const depths = new Set(lines.map((line) => /^\s*/.exec(line)[0].length));
  const signs = lines.filter((line) =>
    /[=(){}\[\]<>;]/.test(line.replace(ITEM, "")),
  ).length;
  if (columns / lines.length >= 0.6) return "fixed";
  if (
    code / lines.length >= 0.3 ||
    (indents / lines.length >= 0.4 &&
      depths.size > 1 &&
      signs / lines.length >= 0.4)
  )
    return "fixed";
  return "prose";
}
