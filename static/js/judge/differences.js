// Differences between two texts: the words that are not part of their longest common sequence of
// words (Myers 1986, An O(ND) difference algorithm).

const WORD = /[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff]|[\p{L}\p{N}\p{M}]+/gu; // in scripts without spaces, each character is a word
const MOST_EDITS = 1500; // after this many edits, the rest of the texts counts as different

const wordsOf = (text) =>
  [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    word: word.normalize("NFKC").toLowerCase(),
    start: index,
    end: index + word.length,
  }));

/**
 * Returns {one, other} with {n, places} for each text: the number of its differing words, and their
 * positions as [start, end) in UTF-16 units. Adjacent words form one position.
 */
export function differences(one, other) {
  const a = wordsOf(one),
    b = wordsOf(other);
  let first = 0,
    last = 0;
  while (
    first < Math.min(a.length, b.length) &&
    a[first].word === b[first].word
  )
    first += 1;
  while (
    last < Math.min(a.length, b.length) - first &&
    a.at(-1 - last).word === b.at(-1 - last).word
  )
    last += 1;
  const [left, right] = [a, b].map((words) =>
    words.slice(first, words.length - last),
  );
  const [ofOne, ofOther] = common(
    left.map(({ word }) => word),
    right.map(({ word }) => word),
  );
  return { one: alone(left, ofOne), other: alone(right, ofOther) };
}

function alone(words, isCommon) {
  const places = [];
  words.forEach(({ start, end }, at) => {
    if (isCommon.has(at)) return;
    if (at && !isCommon.has(at - 1)) places.at(-1)[1] = end;
    else places.push([start, end]);
  });
  return { n: words.length - isCommon.size, places };
}

/**
 * Returns the positions in a and b of their longest common sequence, within the limit of edits.
 * Diagonal k has x words of a and x - k of b.
 */
function common(a, b) {
  const most = Math.min(MOST_EDITS, a.length + b.length),
    zero = most + 1;
  const reached = new Int32Array(2 * most + 3),
    before = []; // the greatest x by diagonal, and its values before each further edit
  let best = { x: 0, k: 0, edits: 0 };
  for (let edits = 0; edits <= most; edits += 1) {
    before.push(reached.slice(zero - edits - 1, zero + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      let x = goesDown(before[edits], k, edits)
        ? reached[zero + k + 1]
        : reached[zero + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reached[zero + k] = x;
      if (x <= a.length && x - k <= b.length && 2 * x - k > 2 * best.x - best.k)
        best = { x, k, edits };
      if (best.x === a.length && best.x - best.k === b.length)
        return onTheWay(before, best);
    }
  }
  return onTheWay(before, best);
}

/**
 * Returns whether the greatest x of diagonal k is reached by a word of b rather than a. reached:
 * the state before this edit, from diagonal -edits - 1.
 */
const goesDown = (reached, k, edits) =>
  k === -edits || (k !== edits && reached[k + edits] < reached[k + edits + 2]);

/** Returns the common words on the path to a point, traced back from its end. */
function onTheWay(before, { x, k, edits }) {
  const ofA = new Set(),
    ofB = new Set();
  for (let at = edits; at >= 0; at -= 1) {
    const isDown = goesDown(before[at], k, at),
      from = isDown ? k + 1 : k - 1;
    const came = at ? before[at][from + at + 1] : 0;
    for (; x > came + (at && !isDown ? 1 : 0); x -= 1) {
      ofA.add(x - 1);
      ofB.add(x - 1 - k);
    }
    x = came;
    k = from;
  }
  return [ofA, ofB];
}
