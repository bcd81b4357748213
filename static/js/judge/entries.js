// Entries of the outbox.

import { t } from "../words.js";

/**
 * Returns the data of an answer for the server. answers: to further questions, undefined in a
 * campaign without them. times: Clock.read().
 */
export function bodyOf({
  grade,
  reason,
  answers,
  note,
  spans,
  times,
  guidelineVersion,
  device,
}) {
  const now = new Date().toISOString();
  return {
    key: uuid(),
    grade,
    cannot_reason: reason,
    ...(answers && { answers }),
    note,
    spans,
    ...times,
    judged_at: now,
    guideline_version: guidelineVersion,
    device,
  };
}

/**
 * Returns the outbox entry for a judgement with `body`. reviewed: the judgement that it revises.
 */
export function entryOf(body, { pair, title, label, reviewed, isWaiting }) {
  const what = { key: body.key, pair: pair.pair, title, label, body };
  if (!reviewed)
    return {
      ...what,
      kind: "judge",
      lease: pair.lease,
      body: { ...body, lease: pair.lease },
    };
  return {
    ...what,
    kind: "revise",
    of: isWaiting ? reviewed.key : null,
    judgement: isWaiting ? null : reviewed.judgement,
  };
}

export function skipOf({ pair, lease }) {
  return {
    key: uuid(),
    kind: "skip",
    pair,
    lease,
    label: t("skip for now"),
    body: { lease },
  };
}

/** Returns a random UUID (version 4), also without HTTPS, where crypto.randomUUID is missing. */
export function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return [...bytes]
    .map(
      (byte, place) =>
        ([4, 6, 8, 10].includes(place) ? "-" : "") +
        byte.toString(16).padStart(2, "0"),
    )
    .join("");
}
