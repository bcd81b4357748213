// What the bar asks: why a document cannot be judged; what a grade waits for, a passage or a confirmation; and what the word cursor does.

import { announce, make } from "./dom.js";
import { REASONS } from "./grades.js";
import { label } from "./keyboard.js";

function tell(bar, text, { urgent = false } = {}) {
  bar.bar.classList.toggle("urgent", urgent);
  bar.say(text);
  announce(text, { urgent });
}

const howToSend = ({ name }, device) => (device === "touch" ? `Press ${name} again to send it.` : `Enter, or ${name} again, sends it.`);

/** Five reasons take the place of the grades, of the same size. */
export function reasons({ bar }) {
  bar.askingReason = true;
  bar.bar.classList.add("asks");
  bar.grades.replaceChildren(...REASONS.map(([reason, name], place) =>
    make("button.grade-button.reason", { type: "button", dataset: { reason } }, make("kbd", {}, String(place + 1)), make("span.name", {}, name))),
    make("button.grade-button.reason.back", { type: "button", dataset: { reason: "" } }, make("kbd", {}, "Esc"), make("span.name", {}, "Back")));
  bar.say("Why can this not be judged?");
  announce(`Why can this not be judged? ${REASONS.map(([, name], place) => `${place + 1}: ${name}`).join(", ")}. Escape: back to the grades.`);
}

// Of the grade that waits, of {name}: for a passage, for a confirmation, or with its passage marked.

export function missing({ bar, grade, device }) {
  const how = device === "touch" ? "select the words that make it so, then press “Mark this passage”" : "mark the words that make it so, then press Enter";
  tell(bar, `“${grade.name}” needs a marked passage: ${how}.`, { urgent: true });
}

export function chosen({ bar, grade, device }) {
  tell(bar, `${grade.name} is chosen. ${howToSend(grade, device)}`);
}

export function marked({ bar, grade, device }) {
  tell(bar, `Passage marked. ${howToSend(grade, device)}`);
}

/** `cursor`: {word, anchor} of the word cursor, or null; `key`: that of passages. */
export function cursor({ bar, cursor: at, key }) {
  bar.say(!at ? "" : at.anchor === null
    ? `Word cursor: ← → move, ${label(key)} or Enter starts the passage, Esc ends.`
    : "← → extend the passage, Enter closes it, Esc cancels.");
}
