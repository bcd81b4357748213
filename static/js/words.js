// Translations of the scripts' messages: English is part of the scripts, and other languages are
// loaded from a file.

export const { lang = "en", dataset: { words: address } = {} } =
  globalThis.document?.documentElement ?? {};
const fetched = () =>
  fetch(address)
    .then((answer) => answer.json())
    .catch(() => ({}));
const first = globalThis.document?.getElementById?.("first-words")?.textContent; // messages that a page needs first
export const words = first ? JSON.parse(first) : address ? await fetched() : {};

/** Resolves when all translations are loaded. */
export async function allWords() {
  if (first) Object.assign(words, await fetched());
}

/** The locale that the server uses for dates and numbers. */
export const locale = `${lang === "en" ? "en-GB" : lang}-u-hc-h23-nu-latn`;
export const number = (n) =>
  Number(n).toLocaleString(locale, { useGrouping: "always" });

/** Returns the translation of `text` with its {names} filled in. */
export const t = (text, values = {}) =>
  (words[text] ?? text).replace(
    /\{(\w+)\}/g,
    (all, name) => values[name] ?? all,
  );
