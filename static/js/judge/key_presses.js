// Conversion of key presses to actions. Loaded right after the first document, and earlier presses
// wait for it.

import { DEFAULTS } from "./keyboard.js";

export const FIXED = {
  arrowdown: "down",
  arrowup: "up",
  enter: "confirm",
  escape: "escape",
  arrowleft: "left",
  arrowright: "right",
  backspace: "unspan",
};

/** Whether the third level of a key was used: AltGr or Option. */
const third = (event) =>
  event.getModifierState?.("AltGraph") ||
  (event.altKey && !event.ctrlKey && !event.metaKey);

/**
 * Returns the name of an event's key, independent of the keyboard layout: a letter, a digit, or a
 * name such as "delete".
 */
export function keyName(event) {
  const key = event.key.toLowerCase();
  if (
    /^(numpad|digit)\d$/i.test(event.code) &&
    !event.shiftKey &&
    !third(event) &&
    !/^\d$/.test(key) &&
    key.length === 1
  )
    return event.code.slice(-1);
  // For letters of other scripts, the position of the key counts.
  if (
    key.length === 1 &&
    !/[\x20-\x7e]/.test(key) &&
    /^Key[A-Z]$/.test(event.code)
  )
    return event.code.slice(-1).toLowerCase();
  return key;
}

function typing(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches(
        "input:not([type=checkbox], [type=radio], [type=range]), textarea, select",
      ))
  );
}

/**
 * Returns the action of a key press as {action} or {action: "grade", place}.
 *
 * Null in a text field, with a modifier (except Ctrl-Z), while the key repeats (except for
 * scrolling), and for other keys. single: whether single-character keys are enabled (WCAG 2.1.4).
 */
export function actionOf(event, keys, single = true) {
  const key = keyName(event);
  const undo =
    key === "z" &&
    (event.ctrlKey || event.metaKey) &&
    !event.altKey &&
    !event.shiftKey;
  if (event.defaultPrevented || event.isComposing || typing(event.target))
    return null;
  if (undo) return event.repeat ? null : { action: "undo" };
  // Brackets and slashes that need AltGr or Option are not commands.
  const sign = key.length === 1 && !/[\p{L}\p{N}\s]/u.test(key) && third(event);
  if (!sign && (event.ctrlKey || event.metaKey || event.altKey)) return null;
  if (!single && key.length === 1) return null;
  if (event.shiftKey && /^[a-z0-9]$/.test(key) && !/^[0-9]$/.test(event.key))
    return null;
  const named =
    Object.keys(DEFAULTS).find((name) => keys[name] === key) ?? FIXED[key];
  const scrolls = ["up", "down", "left", "right"].includes(named);
  if (event.repeat && !scrolls) return null;
  // Enter and space on a button or link activate it.
  if (
    key === "enter" &&
    event.target instanceof Element &&
    event.target.closest("button, a, summary, [role=button]")
  )
    return null;
  if (/^[1-9]$/.test(key) && !named)
    return { action: "grade", place: Number(key) - 1 };
  return named ? { action: named } : null;
}

/** Whether Tab moves to another question about the document, instead of the focus. */
function movesOn(event, { open, bar }) {
  const onControl =
    event.target instanceof Element &&
    event.target.closest("a, button, summary, input, select, textarea");
  return (
    event.key === "Tab" &&
    !event.ctrlKey &&
    !event.altKey &&
    !event.metaKey &&
    !onControl &&
    open.pair &&
    !bar.askingReason &&
    open.steps.neighbour(event.shiftKey ? -1 : 1) >= 0
  );
}

/**
 * Carries out key presses. page: {reader, open, input, bar, settings, actions, isStopped(),
 * press(...), escape()}.
 */
export function pressed(
  event,
  { reader, open, input, bar, settings, actions, isStopped, press, escape },
) {
  if (document.querySelector("dialog[open]")) return; // from presence.js
  if (reader.veil) {
    if (
      !["shift", "control", "alt", "meta", "tab"].includes(keyName(event)) &&
      !event.repeat
    ) {
      event.preventDefault();
      reader.uncover();
    }
    return;
  }
  if (isStopped()) return;
  if (movesOn(event, { open, bar })) {
    const place = open.steps.neighbour(event.shiftKey ? -1 : 1);
    event.preventDefault();
    return void press("goTo", place);
  }
  const found = actionOf(event, settings.keys, settings.get("shortcuts"));
  if (!found) return;
  const { action, place } = found;
  if (open.spans.cursor && ["left", "right", "up", "down"].includes(action)) {
    event.preventDefault();
    open.spans.move(action, { shift: event.shiftKey });
    return;
  }
  if (["left", "right"].includes(action)) return;
  if (["up", "down"].includes(action) && event.key.startsWith("Arrow")) return; // the browser scrolls
  if (action === "unspan" && event.key === "Backspace" && !open.spans.cursor)
    return;
  event.preventDefault();
  if (action === "escape") escape();
  else if (action === "grade") {
    const reason = bar.askingReason
      ? bar.grades.querySelectorAll("[data-reason]")[place]?.dataset.reason
      : undefined;
    input.at = event.timeStamp;
    if (reason) press("cannot", reason, "keyboard");
    else if (!bar.askingReason) press("grade", place, "keyboard");
  } else actions[action]?.("keyboard");
}
