// What the bar asks: why a document cannot be judged; what a grade waits for, a passage or a confirmation; and what the word cursor does.

import { REASONS } from "./bar.js";
import { announce, make } from "./dom.js";
import { label } from "./keyboard.js";

const pendingOf = ({ pendingGrade, bar }) => (pendingGrade === null ? null : bar.named(pendingGrade));

function tell(judging, text, { urgent = false } = {}) {
  judging.bar.bar.classList.toggle("urgent", urgent);
  judging.bar.say(text);
  announce(text, { urgent });
}

const howToSend = (judging, { name }) => (judging.device === "touch" ? `Press ${name} again to send it.` : `Enter, or ${name} again, sends it.`);

/** Five reasons take the place of the grades, of the same size. */
export function reasons({ bar, ready }) {
  if (!ready) return;
  bar.askingReason = true;
  bar.bar.classList.add("asks");
  bar.grades.replaceChildren(...REASONS.map(([reason, name], place) =>
    make("button.grade-button.reason", { type: "button", dataset: { reason } }, make("kbd", {}, String(place + 1)), make("span.name", {}, name))),
    make("button.grade-button.reason.back", { type: "button", dataset: { reason: "" } }, make("kbd", {}, "Esc"), make("span.name", {}, "Back")));
  bar.say("Why can this not be judged?");
  announce(`Why can this not be judged? ${REASONS.map(([, name], place) => `${place + 1}: ${name}`).join(", ")}. Escape: back to the grades.`);
}

export function missing(judging) {
  const grade = pendingOf(judging);
  const how = judging.device === "touch" ? "select the words that make it so, then press “Mark this passage”" : "mark the words that make it so, then press Enter";
  if (grade) tell(judging, `“${grade.name}” needs a marked passage: ${how}.`, { urgent: true });
}

export function chosen(judging) {
  const grade = pendingOf(judging);
  if (grade) tell(judging, `${grade.name} is chosen. ${howToSend(judging, grade)}`);
}

export function marked(judging) {
  const grade = pendingOf(judging);
  if (grade && judging.spans.units.length) tell(judging, `Passage marked. ${howToSend(judging, grade)}`);
}

export function cursor({ spans, pendingGrade, bar, settings }) {
  if (!spans.cursor && pendingGrade !== null) return; // what is said about it stays
  bar.say(!spans.cursor ? "" : spans.cursor.anchor === null
    ? `Word cursor: ← → move, ${label(settings.keys.span)} or Enter starts the passage, Esc ends.`
    : "← → extend the passage, Enter closes it, Esc cancels.");
}
