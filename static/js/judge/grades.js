// What an answer is called: a grade of the scale, or why a document cannot be judged.

export const REASONS = [
  ["query", "Query unclear"],
  ["document", "Document broken"],
  ["language", "Language"],
  ["expertise", "Needs expertise"],
  ["other", "Other reason"],
];

export function gradeName(scale, grade, reason) {
  if (grade === null) return `Cannot judge: ${(REASONS.find(([value]) => value === reason)?.[1] ?? reason).toLowerCase()}`;
  return scale.find((one) => one.value === grade)?.name ?? String(grade);
}
