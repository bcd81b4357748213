// What shows that the reader is there, has gone or comes back; and Enter in dialogs.

import { Unreachable } from "./api.js";

let isLeaving = false; // on purpose, with everything sent
const LAST_ANSWERS_MS = 1500;

/** Gives the pairs back, and goes when everything is sent, or after a moment. */
export async function leave(judging, home) {
  const { leases, outbox } = judging;
  judging.setAside();
  await leases.release().catch(() => { /* they come back by themselves when their time is over */ });
  if (outbox.size) await Promise.race([new Promise((resolve) => outbox.addEventListener("change", () => outbox.size === 0 && resolve())), new Promise((resolve) => setTimeout(resolve, LAST_ANSWERS_MS))]);
  isLeaving = outbox.size === 0;
  location.assign(home);
}

/** Keeps the leases alive while the reader is there, and hears what became of them. sinceMs: an answer sent so recently has renewed them. */
export async function heartbeat(judging, sinceMs) {
  const { leases, outbox, api } = judging;
  if (Date.now() - (judging.answeredAt ?? 0) < sinceMs || judging.stopped || judging.veil || document.visibilityState !== "visible" || outbox.held || !(judging.mode === "judging" || judging.onCard)) return;
  try {
    const { lost, answer } = await leases.renew();
    judging.reach(true);
    if (answer) judging.react(answer);
    if (lost && judging.review === null) void tellLost(judging);
  } catch (error) {
    if (!(error instanceof Unreachable)) return void judging.failed(error);
    judging.reach(false, error);
    const pair = leases.current;
    if (!pair || Date.parse(pair.expires_at) >= api.serverNow()) return;
    pair.expired = true;
    if (judging.review === null) void tellLost(judging);
  }
}

async function tellLost(judging) {
  const { expired, judgedElsewhere } = await import("./notices.js");
  if (judging.leases.current?.ended === "submitted") judgedElsewhere(judging);
  else expired(judging);
}

/** Begins to listen. */
export function attend(judging) {
  let lastSign = 0;
  for (const name of ["pointermove", "wheel", "scroll", "touchmove", "selectionchange", "input"]) {
    document.addEventListener(name, () => {
      if (performance.now() - lastSign < 250) return;
      lastSign = performance.now();
      judging.sign();
    }, { passive: true, capture: true });
  }
  document.addEventListener("pointerdown", () => judging.sign(), { capture: true });
  document.addEventListener("visibilitychange", () => { judging.presence(); if (document.visibilityState === "visible") void judging.heartbeat(); });
  for (const name of ["focus", "blur"]) window.addEventListener(name, () => judging.presence());
  window.addEventListener("focus", () => void judging.heartbeat()); // another device may have judged meanwhile
  window.addEventListener("pagehide", () => judging.keepClock());
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  window.addEventListener("online", () => { judging.reach(true); judging.retry(); });
  window.addEventListener("offline", () => judging.reach(false));
  window.addEventListener("beforeunload", (event) => { if (judging.outbox.size && !isLeaving && !judging.stopped) event.preventDefault(); });
  document.addEventListener("keydown", pressFirstButton);
  setInterval(() => judging.keepClock(), 2000);
  judging.presence();
}

/** Enter presses the first button of a dialog, unless it means something where the focus is. */
function pressFirstButton(event) {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (!dialog || event.key !== "Enter" || event.repeat || event.defaultPrevented) return;
  if (event.target.closest("button, a, summary, select, textarea, input:not([type=range], [type=checkbox])")) return;
  event.preventDefault();
  dialog.querySelector(".dialog-foot .primary")?.click();
}
