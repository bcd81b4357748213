// Words in the reader's language: English stands in the scripts, others come as one file (config/catalogues.py).

export const { lang = "en", dataset: { words: address } = {} } = globalThis.document?.documentElement ?? {};
export const words = address ? await fetch(address).then((answer) => answer.json()).catch(() => ({})) : {};

/** For dates and numbers. */
export const locale = `${globalThis.navigator?.languages?.find((one) => one.startsWith(lang)) ?? lang}-u-nu-latn`;
export const number = (n) => Number(n).toLocaleString(locale);

/** `text` in the reader's language, its {names} filled in. */
export const t = (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
