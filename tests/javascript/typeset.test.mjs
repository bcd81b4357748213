// How a text is set, and that every part of it knows its place in the stored text. Expected values are written by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

const KNOWN = {
  "&amp;": "&",
  "&lt;": "<",
  "&eacute;": "é",
  "&#8211;": "–",
  "&nbsp;": "\u00a0",
};
globalThis.document = {
  createElement: () => ({
    set innerHTML(name) {
      this.value = KNOWN[name] ?? name;
    },
  }),
};
const { blocks, parts } = await import("../../static/js/judge/typeset.js");
const { line } = await import("../../static/js/judge/tex.js");

const shown = (text, markdown = false) =>
  parts(text, 0, text.length, { markdown }).map(
    ({ start, end, shown: sign, tags }) => [
      sign ?? text.slice(start, end),
      ...tags,
    ],
  );

test("formulas become a line", () => {
  const lines = {
    "E = mc^2": "E = mc²",
    "x_{i+1} \\leq \\frac{1}{2}": "xᵢ₊₁ ≤ 1/2",
    "\\alpha\\beta": "αβ",
    "\\frac{a+b}{c}": "(a+b)/c",
    "\\sqrt{x^2+1}": "√(x²+1)",
    "\\sqrt[3]{8}": "³√8",
    "p < 0.05": "p < 0.05",
    "10^{-3}": "10⁻³",
    "\\hat{y} = \\mathbf{w} \\cdot x": "y\u0302 = w · x",
    "\\sum_{i=1}^{n} x_i": "∑ᵢ₌₁ⁿ xᵢ",
    "f \\in \\mathbb{R}^Q": "f ∈ ℝ^Q",
    "\\left( a \\right)": "( a )",
    "\\log n": "log n",
    CO_2: "CO₂",
    "\\text{if } x": "if x",
  };
  for (const [source, wanted] of Object.entries(lines))
    assert.equal(line(source), wanted, source);
});

test("what of TeX is not known stays as written", () => {
  for (const source of [
    "\\begin{matrix} a & b \\end{matrix}",
    "\\unknown{x}",
    "x^{2",
    "a & b",
    "",
  ])
    assert.equal(line(source), null, source);
  assert.deepEqual(shown("so \\(\\oddity{x}\\) it"), [
    ["so "],
    ["\\(\\oddity{x}\\)", "formula"],
    [" it"],
  ]);
});

test("money is no formula", () => {
  for (const text of [
    "It costs $5 and $10.",
    "from $5-$10 a day",
    "$1,000$ or so",
    "US$ 5 = 4€, US$ 6",
  ])
    assert.deepEqual(shown(text), [[text]], text);
  assert.deepEqual(shown("where $x^2$ is"), [
    ["where "],
    ["x²", "formula"],
    [" is"],
  ]);
  assert.deepEqual(shown("$$a_1$$"), [["a₁", "formula"]]);
});

test("entities are decoded where they are known, and keep their place", () => {
  assert.deepEqual(parts("a &amp; b&foo; caf&eacute;", 0, 26), [
    { start: 0, end: 2, shown: null, tags: [] },
    { start: 2, end: 7, shown: "&", tags: [] },
    { start: 7, end: 18, shown: null, tags: [] },
    { start: 18, end: 26, shown: "é", tags: [] },
  ]);
});

test("Markdown's marks within a line, nested, escaped, and left alone in code and within words", () => {
  assert.deepEqual(shown("a **bold *and* more** `x * y` end", true), [
    ["a "],
    ["bold ", "strong"],
    ["and", "strong", "em"],
    [" more", "strong"],
    [" "],
    ["x * y", "code"],
    [" end"],
  ]);
  assert.deepEqual(shown("snake_case_name and 2 * 3 * 4", true), [
    ["snake_case_name and 2 * 3 * 4"],
  ]);
  assert.deepEqual(
    shown('\\*no\\* [words](http://x.y "t") ![a map](m.png)', true),
    [["*"], ["no"], ["*"], [" "], ["words", "u"], [" "], ["a map", "em"]],
  );
  assert.deepEqual(shown("a *b* c"), [["a *b* c"]]); // no Markdown
  assert.deepEqual(shown("`&amp;` &amp;", true), [
    ["&amp;", "code"],
    [" "],
    ["&"],
  ]);
});

test("Markdown's blocks", () => {
  const text =
    "# Title #\n\nOne line\nand more.\n\n- first\n  goes on\n  - inner\n2. second\n\n> said\n> so\n\n```py\nx = 1\n\ny = 2\n```\nUnder\n===\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\nLast";
  const set = blocks(text, { start: 0, end: text.length }).map(
    ({ start, end, kind }) => [kind, text.slice(start, end)],
  );
  assert.deepEqual(set, [
    ["heading-1", "Title"],
    ["wrapped", "One line\nand more."],
    ["item-0", "first\n  goes on"],
    ["item-1", "inner"],
    ["numbered-0", "2. second"],
    ["quoted", "said"],
    ["quoted", "so"],
    ["fixed", "x = 1\n\ny = 2"],
    ["heading-1", "Under"],
    ["fixed", "| a | b |\n|---|---|\n| 1 | 2 |"],
    ["wrapped", "Last"],
  ]);
});

test("a fence that is never closed ends with the text, and no character outside of signs is lost", () => {
  const text = "a\n```\nb\nc";
  assert.deepEqual(
    blocks(text, { start: 0, end: text.length }).map(({ start, end, kind }) => [
      kind,
      text.slice(start, end),
    ]),
    [
      ["wrapped", "a"],
      ["fixed", "b\nc"],
    ],
  );
});
