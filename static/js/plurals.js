// Plural forms, of which languages have one to six.

import { lang, number, t, words } from "./words.js";

const rules = new Intl.PluralRules(lang);

/**
 * Returns the translation for `n` things. one, many: the English forms, in which {n} is the number.
 */
export function tn(one, many, n, values) {
  const forms = words[one] ?? { one, other: many };
  return t(forms[rules.select(n)] ?? forms.other, { n: number(n), ...values });
}
