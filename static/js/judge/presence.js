// Detection of the annotator's presence: leaving and returning. Also Enter in dialogs.

import { Unreachable } from "./api.js";

let isLeaving = false; // on purpose, with everything sent
const LAST_ANSWERS_MS = 1500;

/** Releases the leases, and leaves after all answers are sent or a short time has passed. */
export async function leave({ leases, outbox, go }) {
  await leases.release().catch(() => {
    /* leases expire without a release */
  });
  if (outbox.size)
    await Promise.race([
      new Promise((resolve) =>
        outbox.addEventListener("change", () => outbox.size === 0 && resolve()),
      ),
      new Promise((resolve) => setTimeout(resolve, LAST_ANSWERS_MS)),
    ]);
  isLeaving = outbox.size === 0;
  go();
}

/** Renews the leases and calls onLost() if the current pair is no longer reserved. */
export async function renew({
  leases,
  serverNow,
  onAnswer,
  onMiss,
  onFail,
  onLost,
}) {
  try {
    const { lost, answer } = await leases.renew();
    onAnswer(answer);
    if (lost) onLost();
  } catch (error) {
    if (!(error instanceof Unreachable)) return void onFail(error);
    onMiss(error);
    const pair = leases.current;
    if (!pair || Date.parse(pair.expires_at) >= serverNow()) return;
    pair.expired = true;
    onLost();
  }
}

/**
 * Starts to listen. onReturn(): the annotator is back, and another device may have judged in the
 * meantime. onNetwork(isThere): the network has changed.
 */
export function attend({ reader, onReturn, onNetwork, hasUnsent }) {
  let lastSign = 0;
  for (const name of [
    "pointermove",
    "wheel",
    "scroll",
    "touchmove",
    "selectionchange",
    "input",
  ]) {
    document.addEventListener(
      name,
      () => {
        if (performance.now() - lastSign < 250) return;
        lastSign = performance.now();
        reader.sign();
      },
      { passive: true, capture: true },
    );
  }
  document.addEventListener("pointerdown", () => reader.sign(), {
    capture: true,
  });
  document.addEventListener("visibilitychange", () => {
    reader.watch();
    if (document.visibilityState === "visible") onReturn();
  });
  for (const name of ["focus", "blur"])
    window.addEventListener(name, () => reader.watch());
  window.addEventListener("focus", onReturn);
  window.addEventListener("pagehide", () => reader.keep());
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  window.addEventListener("online", () => onNetwork(true));
  window.addEventListener("offline", () => onNetwork(false));
  window.addEventListener("beforeunload", (event) => {
    if (hasUnsent() && !isLeaving) event.preventDefault();
  });
  document.addEventListener("keydown", pressFirstButton);
  setInterval(() => reader.keep(), 2000);
  reader.watch();
}

/** Enter activates the first button of a dialog, unless the focused element handles it. */
function pressFirstButton(event) {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (
    !dialog ||
    event.key !== "Enter" ||
    event.repeat ||
    event.defaultPrevented
  )
    return;
  if (
    event.target.closest(
      "button, a, summary, select, textarea, input:not([type=range], [type=checkbox])",
    )
  )
    return;
  event.preventDefault();
  dialog.querySelector(".dialog-foot .primary")?.click();
}
