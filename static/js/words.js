// Words in the reader's language: English stands in scripts, others come as a file.

export const { lang = "en", dataset: { words: address } = {} } = globalThis.document?.documentElement ?? {};
export const words = address ? await fetch(address).then((answer) => answer.json()).catch(() => ({})) : {};

/** As the server writes dates and numbers. */
export const locale = `${lang === "en" ? "en-GB" : lang}-u-hc-h23-nu-latn`;
export const number = (n) => Number(n).toLocaleString(locale, { useGrouping: "always" });

/** `text` in the reader's language, its {names} filled in. */
export const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
