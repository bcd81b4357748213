// Names of answers: a grade of the scale, or the reason why a document cannot be judged.

import { lang, t } from "../words.js";

const inSentence = (words) => (lang === "en" ? words.toLowerCase() : words);

export const REASONS = [
  ["query", t("Query unclear")],
  ["document", t("Document broken")],
  ["language", t("Language")],
  ["expertise", t("Needs expertise")],
  ["other", t("Other reason")],
];

export function gradeName(scale, grade, reason) {
  if (grade === null)
    return t("Cannot judge: {reason}", {
      reason: inSentence(
        REASONS.find(([value]) => value === reason)?.[1] ?? reason,
      ),
    });
  return scale.find((one) => one.value === grade)?.name ?? String(grade);
}
