// The end of a campaign: thanks, the completion code and the feedback form.

import { make } from "./dom.js";
import { trusted } from "./prose.js";
import { t } from "../words.js";

const SCORES = [
  ["VERY_GOOD", t("Very good")],
  ["GOOD", t("Good")],
  ["DECENT", t("Decent")],
  ["DONT_LIKE_IT", t("Don't like it")],
];

/** Returns the campaign's thanks, the completion code and the link back, for guests to their panel. */
export function thankYou(answer) {
  const parts = [];
  const {
    thanks_html: html,
    completion_code: code,
    completion_url: url,
    panel,
  } = answer ?? {};
  if (html) parts.push(trusted(html));
  if (code) {
    parts.push(
      make("p", {}, t("Your completion code:")),
      make(
        "p.code-line",
        {},
        make("code", {}, code),
        ...(navigator.clipboard
          ? [
              make(
                "button.button.small",
                {
                  type: "button",
                  onclick: (event) =>
                    navigator.clipboard.writeText(code).then(() => {
                      event.target.textContent = t("Copied");
                    }),
                },
                t("Copy"),
              ),
            ]
          : []),
      ),
    );
  }
  if (url)
    parts.push(
      make(
        "p",
        {},
        make(
          panel ? "a.button.primary" : "a",
          { href: url, rel: "noopener noreferrer" },
          panel
            ? t("Return to {panel}", { panel })
            : t("Return to the site you came from"),
        ),
      ),
    );
  return parts;
}

/** Returns the feedback form, or null if the annotator has sent it or can't send any. */
export function feedbackForm({ feedbackGiven, sendFeedback }) {
  if (feedbackGiven || !sendFeedback) return null;
  const form = make(
    "form.feedback",
    {},
    make(
      "fieldset.fieldset",
      {},
      make("legend", {}, t("How was judging here?")),
      make(
        "div.choices.inline",
        {},
        ...SCORES.map(([value, name]) =>
          make(
            "label.choice",
            {},
            make("input", {
              type: "radio",
              name: "score",
              value,
              required: true,
            }),
            make("span", {}, name),
          ),
        ),
      ),
    ),
    make(
      "div.field.wide",
      {},
      make("label", { for: "feedback-words" }, t("Anything to tell us?")),
      make("textarea", {
        id: "feedback-words",
        name: "text",
        maxlength: "5000",
      }),
    ),
    make("button.button", {}, t("Send")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const sent = await sendFeedback({
      score: data.get("score"),
      text: data.get("text"),
    });
    form.querySelector("[role=alert]")?.remove();
    if (sent)
      form.replaceChildren(make("p", {}, t("Thank you for your feedback.")));
    else
      form.append(
        make(
          "p.error",
          { role: "alert" },
          t("Your feedback could not be sent. Please try again later."),
        ),
      ); // the text remains
  });
  return form;
}
