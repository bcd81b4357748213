// Words in the reader's language: English stands in scripts, others come as a file.

export const { lang = "en", dataset: { words: address } = {} } =
  globalThis.document?.documentElement ?? {};
const fetched = () =>
  fetch(address)
    .then((answer) => answer.json())
    .catch(() => ({}));
const first = globalThis.document?.getElementById?.("first-words")?.textContent; // those that a page needs before the others
export const words = first ? JSON.parse(first) : address ? await fetched() : {};

/** Resolves when all of them are here. */
export async function allWords() {
  if (first) Object.assign(words, await fetched());
}

/** As the server writes dates and numbers. */
export const locale = `${lang === "en" ? "en-GB" : lang}-u-hc-h23-nu-latn`;
export const number = (n) =>
  Number(n).toLocaleString(locale, { useGrouping: "always" });

/** `text` in the reader's language, its {names} filled in. */
export const t = (text, values = {}) =>
  (words[text] ?? text).replace(
    /\{(\w+)\}/g,
    (all, name) => values[name] ?? all,
  );
