// What the bar asks: why a document cannot be judged; what a grade waits for, a passage or a confirmation; and what the word cursor does.

import { announce, make } from "./dom.js";
import { REASONS } from "./grades.js";
import { label } from "./keyboard.js";
import { t } from "../words.js";

/** `choices`: [what it is called, its action] of the buttons behind the words. */
function tell(bar, text, { urgent = false, choices = [] } = {}) {
  bar.bar.classList.toggle("urgent", urgent);
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
  announce(text, { urgent });
}

const howToSend = ({ name }, device) =>
  device === "touch"
    ? t("Press {grade} again to send it.", { grade: name })
    : t("Enter, or {grade} again, sends it.", { grade: name });
const CHANGE = [t("Change grade"), "cancel"],
  DONE = [t("Done"), "confirm"],
  AGAIN = [t("Not here"), "cancel"];

/** Five reasons take the place of the grades, of the same size. */
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
      make("kbd", {}, "Esc"),
      make("span.name", {}, t("Back")),
    ),
  );
  bar.say(t("Why can this not be judged?"));
  announce(
    `${t("Why can this not be judged?")} ${REASONS.map(([, name], place) => `${place + 1}: ${name}`).join(", ")}. ${t("Escape: back to the grades.")}`,
  );
}

// Of the grade that waits, of {name}: for a passage, for a confirmation, or with its passage marked.

export function missing({ bar, grade, device }) {
  const how =
    {
      touch: t("tap the first word of it, then the last"),
      mouse: t("click its first word, then its last, or select it"),
    }[device] ??
    t(
      "S brings up a word cursor; by mouse, click its first word, then its last",
    );
  tell(
    bar,
    t("“{grade}” needs a marked passage: {how}.", { grade: grade.name, how }),
    { urgent: true, choices: [CHANGE] },
  );
}

export function chosen({ bar, grade, device }) {
  tell(
    bar,
    `${t("{grade} is chosen.", { grade: grade.name })} ${howToSend(grade, device)}`,
    { choices: [CHANGE] },
  );
}

export function marked({ bar, grade, device }) {
  tell(bar, `${t("Passage marked.")} ${howToSend(grade, device)}`, {
    choices: [DONE, CHANGE],
  });
}

/** The first word of a passage is tapped; its last is awaited. */
export function begun({ bar, word }) {
  tell(bar, t("It begins at “{word}”. Now its last word.", { word }), {
    choices: [AGAIN],
  });
}

/** Passages may be tapped, though no grade waits for one. */
export function tapping({ bar }) {
  tell(bar, t("Tap the first word of the passage, then the last."), {
    choices: [[t("Enough"), "cancel"]],
  });
}

/** `cursor`: {word, anchor} of the word cursor, or null; `key`: that of passages. */
export function cursor({ bar, cursor: at, key }) {
  bar.say(
    !at
      ? ""
      : at.anchor === null
        ? t(
            "Word cursor: ← → move, {key} or Enter starts the passage, Esc ends.",
            { key: label(key) },
          )
        : t("← → extend the passage, Enter closes it, Esc cancels."),
  );
}
