// Texts of the page when no document is shown: what happened, what it means, and what the annotator
// can do next.

import { numbered } from "./api.js";
import { byId, make } from "./dom.js";
import { label as keyLabel } from "./keyboard.js";
import { trusted } from "./prose.js";
import { feedbackForm, thankYou } from "./thanks.js";
import { tn } from "../plurals.js";
import { locale, number, t } from "../words.js";

function time(iso, { zone = false } = {}) {
  return new Date(iso).toLocaleString(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    ...(zone ? { timeZoneName: "short" } : {}),
  });
}

function minutes(iso, now) {
  return Math.max(1, Math.round((Date.parse(iso) - now) / 60000));
}

function withOthers(
  { retry_after_s: every = 30, may_return: n, next_return_at: soonest },
  { now },
) {
  const back = soonest
    ? tn(
        "{n} document may come back in {minutes} min.",
        "{n} documents may come back, the first in {minutes} min.",
        n,
        { minutes: minutes(soonest, now) },
      )
    : tn("{n} document may come back.", "{n} documents may come back.", n ?? 0);
  const remaining = t(
    "All remaining documents are assigned to others. We check again every {n} seconds.",
    { n: every },
  );
  return n ? `${remaining} ${back}` : remaining;
}

const sentLate = ({ waiting, grace }) =>
  tn(
    "{n} answer given before the deadline is still being sent. The server accepts it for {minutes} minutes and marks it as late.",
    "{n} answers given before the deadline are still being sent. The server accepts them for {minutes} minutes and marks them as late.",
    waiting,
    { minutes: grace },
  );

const HOME = { label: t("Back to my campaigns"), action: "leave" };

const plain = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Returns the information need of a topic without parts that only repeat its text. */
const need = (topic) =>
  [topic.description, topic.narrative]
    .filter((part) => part?.trim() && plain(part) !== plain(topic.text))
    .map((part) => make("p", { dir: "auto" }, part));

/**
 * Returns {title, text: [...], actions: [{label, action, primary}], extra: element} for a state of
 * the server or of the page.
 */
const STATES = {
  nothing_now: (a, c) => ({
    title: t("Nothing to judge right now"),
    text: [
      a.without_documents ? a.message : withOthers(a, c),
      t(
        "You can leave this page open. The next document appears automatically.",
      ),
    ],
    actions: [
      { label: t("Check now"), action: "check", primary: true },
      { label: t("View my judgements"), action: "history" },
      HOME,
    ],
  }),
  done: (a) =>
    a.trial
      ? {
          title: t("Trial finished"),
          text: [
            `${tn("You judged one document in this trial.", "You judged {n} documents in this trial.", a.progress?.judged ?? 0)} ${t("Nothing was saved.")}`,
          ],
          actions: [
            { label: t("View my judgements"), action: "history" },
            {
              label: t("Back to the campaign"),
              action: "leave",
              primary: true,
            },
          ],
        }
      : {
          title: t("All done. Thank you."),
          text: [
            `${tn("You judged one document.", "You judged {n} documents.", a.progress?.judged ?? 0)} ${t("You have nothing left to judge in this campaign.")}`,
          ],
          actions: [
            { label: t("View my judgements"), action: "history" },
            { ...HOME, primary: true },
          ],
          thanks: true,
        },
  target_reached: (a) => ({
    title: t("You reached your target of {n}. Thank you.", {
      n: number(a.progress?.target ?? a.progress?.judged ?? 0),
    }),
    text: [
      a.may_continue
        ? t(
            "Your share is complete. There is more to judge if you want to continue.",
          )
        : a.panel
          ? t("Your share is complete. Return to {panel} to submit it.", {
              panel: a.panel,
            })
          : t("Your share is complete. You don't need to do anything more."),
    ],
    actions: [
      ...(a.may_continue
        ? [{ label: t("Continue judging"), action: "onward", primary: true }]
        : []),
      { label: t("View my judgements"), action: "history" },
      { label: t("Stop here"), action: "leave" },
    ],
    thanks: true,
  }),
  daily_limit: (a) => ({
    title: t("Daily limit reached"),
    text: [
      `${tn("You judged one document today, the daily limit of this campaign.", "You judged {n} documents today, the daily limit of this campaign.", a.progress?.today ?? 0)} ${t("Your work is saved. Come back tomorrow.")}`,
    ],
    actions: [
      { label: t("View my judgements"), action: "history" },
      { ...HOME, primary: true },
    ],
  }),
  deadline_passed: (a, c) => ({
    title: t("The deadline has passed"),
    text: [
      c.deadline
        ? t("Judging in this campaign ended on {when}.", {
            when: time(c.deadline, { zone: true }),
          })
        : t("Judging in this campaign has ended."),
      c.waiting
        ? sentLate(c)
        : t("Everything you judged before then is saved."),
    ],
    actions: [
      { label: t("View my judgements"), action: "history" },
      { ...HOME, primary: true },
    ],
    thanks: true,
  }),
  paused: (a) => ({
    title: t("Judging is paused"),
    text: [
      a.message || t("A manager has paused judging."),
      ...(a.reason && a.reason !== a.message
        ? [t("Reason: {reason}", { reason: a.reason })]
        : []),
      t(
        "You can read the guidelines again in the meantime. This page continues automatically when judging resumes.",
      ),
    ],
    actions: [
      { label: t("Open the guidelines"), action: "guidelines", primary: true },
      { label: t("View my judgements"), action: "history" },
      { label: t("Check now"), action: "check" },
      HOME,
    ],
  }),
  closed: () => ({
    title: t("This campaign is closed"),
    text: [t("Judging has ended. Your judgements are kept.")],
    actions: [
      { label: t("View my judgements"), action: "history" },
      { ...HOME, primary: true },
    ],
    thanks: true,
  }),
  draft: () => ({
    title: t("This campaign is not open yet"),
    text: [
      t(
        "Judging starts when a manager opens the campaign. This page then continues automatically.",
      ),
    ],
    actions: [
      { label: t("Open the guidelines"), action: "guidelines" },
      { label: t("Check now"), action: "check" },
      HOME,
    ],
  }),
  excluded: (a) => ({
    title: t("You no longer judge in this campaign"),
    text: [
      a.message || t("A manager has ended your participation."),
      t("If you think this is a mistake, write to the person who invited you."),
    ],
    actions: [HOME],
  }),
  consent_needed: (a) => ({
    title: t("Before you begin"),
    text: [],
    html: a.consent_html,
    actions: [
      {
        label: t("I agree and want to take part"),
        action: "consent",
        primary: true,
      },
      { label: t("I do not agree"), action: "leave" },
    ],
  }),
  // States of the page itself.
  card: ({ topic, left_in_topic: left }) => ({
    title: topic.text,
    eyebrow: t("New query"),
    parts: need(topic),
    text: left
      ? [tn("{n} document to judge", "{n} documents to judge", left + 1)]
      : [],
    actions: [
      { label: t("Start"), key: "enter", action: "start", primary: true },
    ],
  }),
  "other-tab": () => ({
    title: t("Judging is open in another tab"),
    text: [
      t(
        "You can judge in one tab at a time, so that no document is judged twice. Nothing is lost when you switch.",
      ),
    ],
    actions: [
      { label: t("Judge here instead"), action: "take-over", primary: true },
      HOME,
    ],
  }),
  "user-pause": () => ({
    title: t("Paused"),
    text: [t("The timer is stopped and the document is hidden.")],
    actions: [
      { label: t("Resume (any key)"), action: "resume", primary: true },
    ],
  }),
  idle: () => ({
    title: t("Still reading?"),
    text: [
      t(
        "Paused because of inactivity. The timer is stopped and the document is hidden.",
      ),
    ],
    actions: [
      { label: t("Resume (any key)"), action: "resume", primary: true },
    ],
  }),
  full: (a, c) => ({
    title: t("Waiting to send your answers"),
    text: [
      `${tn("{n} answer has not been sent yet.", "{n} answers have not been sent yet.", c.waiting)} ${t("Your answers are saved in this browser and sent again automatically. Judging continues when they have arrived.")}`,
    ],
    actions: [{ label: t("Try now"), action: "retry", primary: true }],
  }),
  unreachable: (a, c) => ({
    title: c.online ? t("The server isn't responding") : t("You are offline"),
    text: [
      ...(a.said || a.request
        ? [`${a.said ?? ""}${numbered(a.request)}`.trim()]
        : []),
      c.waiting
        ? tn(
            "{n} answer is saved in this browser and will be sent when you are back online.",
            "{n} answers are saved in this browser and will be sent when you are back online.",
            c.waiting,
          )
        : t("Everything you judged is saved."),
      t("No more documents are loaded. The page continues automatically."),
    ],
    actions: [{ label: t("Try now"), action: "retry", primary: true }],
  }),
  refused: (a) => ({
    title: t("You can't judge here"),
    text: [a.message],
    actions: [HOME],
  }),
};

// Ends of a guest's participation other than that of all annotators.
const GUEST_ENDS = {
  failed: (a) => ({
    title: t("Qualification test finished"),
    text: [a.message],
    actions: [{ label: t("Open the guidelines"), action: "guidelines" }],
  }),
  full: () => ({
    title: t("This study is full"),
    text: [
      t(
        "No more judgements are needed at the moment. Thank you for your interest.",
      ),
    ],
    actions: [],
  }),
};

export const knows = (state) => state in STATES;

/**
 * Draws a state into `panel`. context: {now, deadline, grace, waiting, online, noTopic,
 * feedbackGiven, sendFeedback(feedback)}.
 */
export function drawState(panel, state, answer, context) {
  const {
    title,
    eyebrow,
    parts = [],
    text,
    actions,
    html,
    thanks,
  } = (GUEST_ENDS[answer?.outcome] ?? STATES[state])(answer ?? {}, context);
  panel.dataset.state = state;
  if (context.noTopic) {
    byId("query-label").textContent = t("Campaign");
    byId("query-text").textContent = byId("judge").dataset.campaign;
  }
  panel.replaceChildren(
    ...(eyebrow ? [make("p.query-label", {}, eyebrow)] : []),
    make("h2", { tabindex: "-1", id: "panel-title", dir: "auto" }, title),
    ...parts,
    ...(answer?.message &&
    !["paused", "excluded", "refused"].includes(state) &&
    context.showMessage
      ? [make("p", {}, answer.message)]
      : []),
    ...text.map((line) => make("p", {}, line)),
  );
  if (html) panel.append(trusted(html));
  if (thanks || answer?.panel) panel.append(...thankYou(answer));
  const offered = answer?.panel
    ? actions.filter(({ action }) => action !== "leave")
    : actions;
  panel.append(
    make(
      "div.button-row",
      {},
      ...offered.map(({ label, key, action, primary }) =>
        make(
          `button.button${primary && !answer?.panel ? ".primary" : ""}`,
          { type: "button", dataset: { action } },
          label,
          key ? make("kbd", {}, keyLabel(key)) : null,
        ),
      ),
    ),
  );
  const form = thanks ? feedbackForm(context) : null; // below the buttons, which need no scrolling
  if (form) panel.append(form);
  panel.setAttribute("aria-labelledby", "panel-title");
  panel.hidden = false;
}
