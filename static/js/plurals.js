// Sentences that count: languages have from one form to six.

import { lang, number, t, words } from "./words.js";

const rules = new Intl.PluralRules(lang);

/** For `n` things: `one` or `many` in English, whose {n} is the number. */
export function tn(one, many, n, values) {
  const forms = words[one] ?? { one, other: many };
  return t(forms[rules.select(n)] ?? forms.other, { n: number(n), ...values });
}
