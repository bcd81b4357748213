// Typesetting of texts: entities are decoded, formulas shown as a line, and Markdown formatted if
// the collection declares it. Only the display changes: every text node has its position in the
// stored text, and passages refer to it. Markup in a document creates only elements such as
// emphasis and code. Links and images remain text.

import { line } from "./tex.js";

const FORMULA = String.raw`\$\$(?<wide>[^$]+)\$\$|\\\[(?<display>[^]+?)\\\]|\\\((?<inline>[^]+?)\\\)|\$(?![\s\d,.]*\$)(?<short>(?!\s)(?:[^$\\\n]|\\.)+?(?<!\s))\$(?![\d\w])`;
const ENTITY = String.raw`&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,31});`;
const MARKS = [
  String.raw`\\(?<escaped>[!-/:-@[-\`{-~])`,
  "(?<ticks>`+)(?<code>[^]+?)(?<!`)\\k<ticks>(?!`)",
  String.raw`!\[(?<picture>[^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)`,
  String.raw`\[(?<link>[^\]]+)\]\([^)\s]+(?:\s+"[^"]*")?\)`,
  String.raw`<(?<address>https?:[^>\s]+)>`,
  String.raw`(?<two>\*\*|__)(?=\S)(?<strong>[^]+?)(?<=\S)\k<two>`,
  String.raw`(?<![\w*])\*(?=[^\s*])(?<em>[^*]+?)(?<=\S)\*(?!\*)`,
  String.raw`(?<![\w_])_(?=[^\s_])(?<em2>[^_]+?)(?<=\S)_(?![\w_])`,
  String.raw`~~(?=\S)(?<del>[^]+?)(?<=\S)~~`,
];
const entity = `(?<entity>${ENTITY})`;
const PLAIN = new RegExp(`${FORMULA}|${entity}`, "g"),
  MARKDOWN = new RegExp([FORMULA, entity, ...MARKS].join("|"), "g");
const TAGS = {
  code: "code",
  picture: "em",
  link: "u",
  address: "u",
  strong: "strong",
  em: "em",
  em2: "em",
  del: "del",
};

let decoder = null;
const decoded = new Map();
/**
 * Returns the character of an entity. The browser decodes it in a text field that is not on the
 * page.
 */
function sign(name) {
  if (!decoded.has(name)) {
    decoder ??= document.createElement("textarea");
    decoder.innerHTML = name; // one entity that matches the pattern
    decoded.set(name, decoder.value);
  }
  return decoded.get(name);
}

const isFormula = (source) =>
  /[\\^_=<>]/.test(source) || /^[a-zA-Z]$/.test(source);

/**
 * Returns the parts of [start, end) of a text: {start, end, shown, tags}. shown: the text to
 * display instead of the stored one, null for the stored text.
 */
export function parts(text, start, end, { markdown = false, tags = [] } = {}) {
  const found = [],
    pattern = new RegExp(markdown ? MARKDOWN : PLAIN);
  const add = (from, to, shown = null, more = []) => {
    if (from < to)
      found.push({ start: from, end: to, shown, tags: [...tags, ...more] });
  };
  const part = text.slice(start, end);
  let at = 0;
  for (const match of part.matchAll(pattern)) {
    const { groups } = match,
      [all] = match,
      from = match.index,
      to = from + all.length;
    const source =
      groups.wide ?? groups.display ?? groups.inline ?? groups.short;
    if (source !== undefined && !isFormula(source)) continue;
    if (groups.entity && sign(all) === all) continue;
    add(start + at, start + from);
    at = to;
    if (source !== undefined)
      add(start + from, start + to, line(source), ["formula"]);
    else if (groups.entity) add(start + from, start + to, sign(all));
    else if (groups.escaped) add(start + to - 1, start + to);
    else found.push(...inner(text, start + from, match, { markdown, tags }));
  }
  add(start + at, end);
  return found;
}

/** Returns the parts of the text between the delimiters of a mark. */
function inner(text, at, { 0: all, groups }, { tags, ...how }) {
  const name = Object.keys(TAGS).find((one) => groups[one] !== undefined);
  const from = at + all.indexOf(groups[name], groups.ticks?.length ?? 1),
    to = from + groups[name].length,
    its = [...tags, TAGS[name]];
  if (from >= to) return [];
  return name === "code" || name === "address"
    ? [{ start: from, end: to, shown: null, tags: its }]
    : parts(text, from, to, { ...how, tags: its });
}

/**
 * Fills `box` with [start, end) of a text. Returns its text nodes: {node, start, end, whole}.
 * whole: the node represents its whole range and not character by character.
 */
export function fill(box, text, { start, end }, markdown) {
  return parts(text, start, end, { markdown }).map(
    ({ start: from, end: to, shown, tags }) => {
      const node = document.createTextNode(shown ?? text.slice(from, to));
      let inside = box;
      for (const tag of tags) {
        const made = document.createElement(tag === "formula" ? "span" : tag);
        if (tag === "formula")
          Object.assign(made, {
            className: shown === null ? "formula raw" : "formula",
            title: text.slice(from, to),
            dir: "ltr",
          });
        inside.append(made);
        inside = made;
      }
      inside.append(node);
      return { node, start: from, end: to, whole: shown !== null };
    },
  );
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/,
  HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/,
  RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$/;
const ITEM = /^([ \t]*)(?:([-*+])|\d{1,9}[.)])[ \t]+(?=\S)/,
  QUOTE = /^ {0,3}> ?/,
  UNDER = /^ {0,3}(=+|-+)[ \t]*$/,
  ROW = /\|.*\||^\s*\|/;

/**
 * Returns the blocks of a piece of Markdown without their markers: {start, end, kind}. kind:
 * heading-1 to -6, item-0 to -3 (or numbered-), quoted, fixed, wrapped.
 */
export function blocks(text, { start, end }) {
  const lines = [],
    found = [];
  for (let at = start; at <= end; ) {
    const stop = text.indexOf("\n", at),
      to = stop < 0 || stop > end ? end : stop;
    lines.push({ at, to, text: text.slice(at, to) });
    at = to + 1;
  }
  const begins = ({ text: one }) =>
    !one.trim() ||
    FENCE.test(one) ||
    HEADING.test(one) ||
    ITEM.test(one) ||
    QUOTE.test(one) ||
    RULE.test(one);
  for (let n = 0; n < lines.length; n += 1) {
    const one = lines[n],
      heading = HEADING.exec(one.text),
      item = ITEM.exec(one.text),
      fence = FENCE.exec(one.text)?.[1];
    const add = (from, to, kind) => {
      if (text.slice(from, to).trim())
        found.push({ start: from, end: to, kind });
    };
    /** Returns the last of the consecutive lines for which `goes` is true. */
    const run = (goes) => {
      while (n + 1 < lines.length && goes(lines[n + 1])) n += 1;
      return lines[n].to;
    };
    if (fence) {
      const first = lines[n + 1]?.at ?? one.to;
      const last = run(
        (next) =>
          !(
            next.text.trim().startsWith(fence) &&
            /^[`~]+$/.test(next.text.trim())
          ),
      );
      add(first, Math.max(first, last), "fixed");
      n += 1; // its closing line
    } else if (heading) {
      const from = one.at + one.text.indexOf(heading[2], heading[1].length);
      add(from, from + heading[2].length, `heading-${heading[1].length}`);
    } else if (RULE.test(one.text) || !one.text.trim()) continue;
    else if (item) {
      const depth = Math.min(3, item[1].replaceAll("\t", "  ").length >> 1);
      add(
        one.at + (item[2] ? item[0].length : item[1].length),
        run((next) => !begins(next)),
        `${item[2] ? "item" : "numbered"}-${depth}`,
      );
    } else if (QUOTE.test(one.text))
      add(one.at + QUOTE.exec(one.text)[0].length, one.to, "quoted");
    else if (ROW.test(one.text) && ROW.test(lines[n + 1]?.text ?? ""))
      add(
        one.at,
        run((next) => ROW.test(next.text)),
        "fixed",
      );
    else if (/^(?: {4}|\t)/.test(one.text))
      add(
        one.at,
        run((next) => /^(?: {4}|\t)/.test(next.text)),
        "fixed",
      );
    else {
      let under = null;
      const last = run((next) => {
        if (under || (begins(next) && !UNDER.test(next.text))) return false;
        under = UNDER.exec(next.text);
        return !under;
      });
      add(
        one.at,
        last,
        under ? `heading-${under[1].startsWith("=") ? 1 : 2}` : "wrapped",
      );
      if (under) n += 1;
    }
  }
  return found;
}
