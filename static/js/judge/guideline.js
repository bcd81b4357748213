// The guidelines next to the document, and texts that must be read before continuing: new
// guidelines, and explanations in the qualification test.

import { announce, byId, make, paint } from "./dom.js";
import { gradeName } from "./grades.js";
import { phrases } from "./highlight.js";
import { label } from "./keyboard.js";
import { trusted } from "./prose.js";
import { shape } from "./shapes.js";
import { PRIMARY } from "./steps.js";
import { t } from "../words.js";

/** Returns the grades with their explanations and examples. */
export function gradeList(scale) {
  return make(
    "ol.grade-list",
    {},
    ...scale.map((grade, place) =>
      make(
        "li",
        {},
        make(
          "p.grade-head",
          {},
          make("kbd", {}, String(place + 1)),
          shape(grade.shape, place),
          make("strong", {}, grade.name),
        ),
        grade.explanation ? make("p", {}, grade.explanation) : null,
        grade.example
          ? make(
              "p.example",
              {},
              make("span.faint", {}, t("Example:"), " "),
              grade.example,
            )
          : null,
      ),
    ),
  );
}

/** Returns the grades of the primary question or, if there are others, of each question. */
function questionList({ scale, further_questions: further = [] }) {
  if (!further.length) return [gradeList(scale)];
  return [
    { key: PRIMARY, title: t("Relevance"), scale },
    ...further,
  ].map(({ key, title, scale: grades }) =>
    make(
      "section.stack.tight",
      { dataset: { guide: key } },
      make("h3", { dir: "auto" }, title),
      gradeList(grades),
    ),
  );
}

/** Draws the panel next to the document. setup: {guideline, scale, further_questions}. */
export function drawGuidelines({ guideline, ...setup }) {
  byId("guidelines-version").textContent = guideline?.number
    ? `v${guideline.number}`
    : "";
  byId("guidelines-text").replaceChildren(
    ...questionList(setup),
    trusted(guideline?.html ?? ""),
  );
  for (const part of byId("guidelines-text").querySelectorAll("[data-guide]"))
    part.hidden = part.dataset.guide !== document.body.dataset.question;
}

/** Texts that must be read or accepted before the next document. */
export class Gate {
  /**
   * setup: {scale, further_questions, guideline}, updated after an acknowledgement. onPass, onFail: called with the
   * answer or error of the server.
   */
  constructor({ api, setup, onPass, onFail }) {
    Object.assign(this, { api, setup, onPass, onFail });
  }

  /** Shows a version of the guidelines until it is acknowledged. */
  read(version) {
    const dialog = byId("guideline-dialog"),
      button = byId("guideline-read"),
      title = byId("guideline-title");
    const isFirst = !this.setup.guideline?.acknowledged;
    title.textContent = isFirst
      ? t("Please read the guidelines")
      : t("The guidelines have changed");
    byId("guideline-new").replaceChildren(
      ...(version.note && !isFirst
        ? [
            make(
              "div.callout.info",
              {},
              make(
                "p",
                {},
                make("strong", {}, t("What changed:")),
                " ",
                version.note,
              ),
            ),
          ]
        : []),
      trusted(version.html),
      ...questionList(this.setup),
    );
    dialog.oncancel = (event) => event.preventDefault();
    button.onclick = () => this.#acknowledge(version, { dialog, button });
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    title.focus();
    announce(title.textContent, { urgent: true });
  }

  async #acknowledge(version, { dialog, button }) {
    button.disabled = true;
    try {
      const answer = await this.api.post("guideline/acknowledge", {
        number: version.number,
      });
      this.setup.guideline = { ...version, acknowledged: version.number };
      dialog.close();
      this.onPass(answer);
    } catch (error) {
      this.onFail(error);
    }
    button.disabled = false;
  }

  consent() {
    return this.api.post("consent").then(this.onPass, this.onFail);
  }
}

const QUOTED = /[“„«"]([^“”„«»"]{2,})[”“»"]/g;

/**
 * Returns the first occurrences in `text` of the passages that an explanation quotes, as [start,
 * end).
 */
export function decisive(explanation, text) {
  return [...explanation.matchAll(QUOTED)].flatMap(([, words]) =>
    phrases(text, words).slice(0, 1),
  );
}

/**
 * Shows the result of a qualification answer above its document until the annotator continues.
 * view: of the document, in which quoted words are highlighted.
 */
export function explain(
  {
    right,
    grade,
    gold_grade: gold,
    explanation,
    judged,
    n_right: nRight,
    total,
    needed,
    passed,
  },
  { scale, view, done },
) {
  const name = (value) =>
    value === null ? t("Cannot judge") : gradeName(scale, value);
  const sign = (value) => {
    const place = scale.findIndex((one) => one.value === value);
    return place < 0 ? null : shape(scale[place].shape, place);
  };
  const consequence =
    passed === null
      ? t("{right} of {judged} correct so far. You need {needed} of {total}.", {
          judged,
          total,
          right: nRight,
          needed,
        })
      : passed
        ? t(
            "Passed: {right} of {total} correct. Your judgements count from now on.",
            {
              right: nRight,
              total,
            },
          )
        : t("{right} of {total} correct. You needed {needed}.", {
            right: nRight,
            total,
            needed,
          });
  const box = byId("practice"),
    title = make(
      "h2",
      { tabindex: "-1" },
      right
        ? grade === gold
          ? t("Correct")
          : t("Counts as correct")
        : t("Incorrect"),
    );
  const ranges = view
    ? decisive(explanation, view.stored.text).flatMap(([start, end]) =>
        view.ranges(start, end),
      )
    : [];
  const goOn = () => {
    box.hidden = true;
    paint("decisive", []);
    done();
  };
  box.className = `callout practice ${right ? "good" : "warn"}`;
  box.replaceChildren(
    title,
    make(
      "p.answers",
      {},
      make(
        "span",
        {},
        t("You:"),
        " ",
        sign(grade),
        make("strong", {}, name(grade)),
        ". ",
      ),
      make(
        "span",
        {},
        t("Expected:"),
        " ",
        sign(gold),
        make("strong", {}, name(gold)),
        ".",
      ),
    ),
    ...(explanation ? [make("p", { dir: "auto" }, explanation)] : []),
    ...(ranges.length
      ? [
          make(
            "p.faint.small",
            {},
            make(
              "span.decisive",
              {},
              t("Quoted words are highlighted in the document."),
            ),
          ),
        ]
      : []),
    make("p", {}, consequence),
    make(
      "p",
      {},
      make(
        "button.button.primary",
        { type: "button", onclick: goOn },
        t("Continue"),
        " ",
        make("kbd", {}, label("enter")),
      ),
    ),
  );
  box.hidden = false;
  paint("decisive", ranges, 4);
  scrollTo(0, 0);
  box.querySelector("button").focus({ preventScroll: true });
  announce(
    `${title.textContent}. ${[...box.querySelectorAll("p")]
      .slice(0, -1)
      .map((p) => p.textContent)
      .join(" ")}`,
    { urgent: true },
  );
}
