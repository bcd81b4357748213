// What shows that the reader is there, has gone or comes back; and Enter in dialogs.

import { Unreachable } from "./api.js";

let isLeaving = false; // on purpose, with everything sent
const LAST_ANSWERS_MS = 1500;

/** Gives the pairs back, and goes when everything is sent, or after a moment. */
export async function leave({ leases, outbox, go }) {
  await leases.release().catch(() => {
    /* they come back by themselves when their time is over */
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

/** Keeps the leases alive, and hears what became of them: `onLost()` when the current pair is not reserved any more. */
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

/** Begins to listen. `onReturn()`: the reader is back, and another device may have judged meanwhile; `onNetwork(isThere)`. */
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

/** Enter presses the first button of a dialog, unless it means something where the focus is. */
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
