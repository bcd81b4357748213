// Prompts in the bar: the reason why a document cannot be judged, the passage or confirmation that
// a grade waits for, and help for choosing a passage by keys.

import { announce, make } from "./dom.js";
import { REASONS } from "./grades.js";
import { label } from "./keyboard.js";
import { t } from "../words.js";

/** choices: [label, action] of the buttons after the text. */
function tell(bar, text, { choices = [] } = {}) {
  bar.say(text);
  if (choices.length)
    bar.messageBox.replaceChildren(
      make("span.words", {}, text),
      ...choices.map(([name, action]) =>
        make(
          "button.button.small",
          { type: "button", dataset: { action } },
          name,
        ),
      ),
    );
  announce(text);
}

const howToSend = ({ name }, device) =>
  device === "touch"
    ? t("Press {grade} again to send it.", { grade: name })
    : t("Press Enter or {grade} again to send it.", { grade: name });
const CHANGE = [t("Change grade"), "cancel"],
  DONE = [t("Done"), "confirm"],
  AGAIN = [t("Start over"), "cancel"];

/** Five reasons replace the grades, with the same size. */
export function reasons({ bar }) {
  bar.askingReason = true;
  bar.bar.classList.add("asks");
  bar.grades.replaceChildren(
    ...REASONS.map(([reason, name], place) =>
      make(
        "button.grade-button.reason",
        { type: "button", dataset: { reason } },
        make("kbd", {}, String(place + 1)),
        make("span.name", {}, name),
      ),
    ),
    make(
      "button.grade-button.reason.back",
      { type: "button", dataset: { reason: "" } },
      make("kbd", {}, label("escape")),
      make("span.name", {}, t("Back")),
    ),
  );
  bar.say(t("Why can't you judge this document?"));
  announce(
    `${t("Why can't you judge this document?")} ${REASONS.map(([, name], place) => `${place + 1}: ${name}`).join(", ")}. ${t("Esc returns to the grades.")}`,
  );
}

// For a waiting grade {name}: needs a passage, needs confirmation, or has its passage marked.

export function missing({ bar, grade: { name: grade }, device, key }) {
  const text =
    device === "touch"
      ? t(
          "“{grade}” needs a marked passage. Tap its first word, then its last.",
          { grade },
        )
      : device === "mouse"
        ? t(
            "“{grade}” needs a marked passage. Click its first word, then its last, or select it.",
            { grade },
          )
        : t(
            "“{grade}” needs a marked passage. Press {key}, or click its first word, then its last.",
            { grade, key: label(key) },
          );
  tell(bar, text, { choices: [CHANGE] });
}

export function chosen({ bar, grade, device }) {
  tell(
    bar,
    `${t("{grade} is selected.", { grade: grade.name })} ${howToSend(grade, device)}`,
    { choices: [CHANGE] },
  );
}

export function marked({ bar, grade, device }) {
  tell(bar, `${t("Passage marked.")} ${howToSend(grade, device)}`, {
    choices: [DONE, CHANGE],
  });
}

/** The first word of a passage has been tapped, and its last word is expected. */
export function begun({ bar, word }) {
  tell(bar, t("Starts at “{word}”. Choose the last word.", { word }), {
    choices: [AGAIN],
  });
}

/** Passages can be tapped although no grade is waiting. */
export function tapping({ bar }) {
  tell(bar, t("Choose the first word of the passage, then the last."), {
    choices: [[t("Stop marking"), "cancel"]],
  });
}

/** isChoosing: a passage is being chosen by keys. key: the key for passages. */
export function choosing({ bar, isChoosing, key }) {
  bar.say(
    isChoosing
      ? t(
          "{key} or Enter marks the passage. ↓ ↑ choose another sentence, ← → move the end, Shift ← → move the start. Esc cancels.",
          { key: label(key) },
        )
      : "",
  );
}
