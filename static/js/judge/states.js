// What the page says when there is no document on it: what happened, what it means, what can be done. No dead ends.

import { numbered } from "./api.js";
import { byId, make } from "./dom.js";
import { trusted } from "./prose.js";
import { thankYou } from "./thanks.js";
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
        "{n} may return in {minutes} min",
        "{n} may return in {minutes} min",
        n,
        { minutes: minutes(soonest, now) },
      )
    : tn("{n} may return", "{n} may return", n ?? 0);
  return t(
    "All remaining documents are with others. We check again every {n} seconds{later}.",
    { n: every, later: n ? ` (${back})` : "" },
  );
}

const sentLate = ({ waiting, grace }) =>
  tn(
    "{n} answer given before the deadline is still being sent; the server accepts it for {minutes} minutes and marks it.",
    "{n} answers given before the deadline are still being sent; the server accepts them for {minutes} minutes and marks them.",
    waiting,
    { minutes: grace },
  );

const HOME = { label: t("Back to my campaigns"), action: "leave" };

/** The queries of a pair, its need, and how many of its documents follow. */
const need = (topic) =>
  [topic.description, topic.narrative]
    .filter((part) => part?.trim())
    .map((part) => make("p", { dir: "auto" }, part));

/** {title, text: [...], actions: [{label, action, primary}], extra: element} for a state of the server or of the page. */
const STATES = {
  nothing_now: (a, c) => ({
    title: t("Nothing to judge right now"),
    text: [
      a.without_documents ? a.message : withOthers(a, c),
      t("You can leave this page open; the next document appears by itself."),
    ],
    actions: [
      { label: t("Check now"), action: "check", primary: true },
      { label: t("Look at my judgements"), action: "history" },
      HOME,
    ],
  }),
  done: (a) =>
    a.trial
      ? {
          title: t("That was the trial"),
          text: [
            `${tn("You judged one document, as annotators will.", "You judged {n} documents, as annotators will.", a.progress?.judged ?? 0)} ${t("Nothing of it was stored, and nothing counts.")}`,
          ],
          actions: [
            { label: t("Look at my judgements"), action: "history" },
            {
              label: t("Back to the campaign"),
              action: "leave",
              primary: true,
            },
          ],
        }
      : {
          title: t("That was everything. Thank you."),
          text: [
            `${tn("You judged one document.", "You judged {n} documents.", a.progress?.judged ?? 0)} ${t("There is nothing left for you in this campaign.")}`,
          ],
          actions: [
            { label: t("Look at my judgements"), action: "history" },
            { ...HOME, primary: true },
          ],
          thanks: true,
        },
  target_reached: (a) => ({
    title: t("You reached {n}. Thank you.", {
      n: number(a.progress?.target ?? a.progress?.judged ?? 0),
    }),
    text: [
      a.may_continue
        ? t(
            "Your part is done. There is more to judge: go on if you like, or stop here.",
          )
        : t("Your part is done. Nothing more is expected of you."),
    ],
    actions: [
      ...(a.may_continue
        ? [{ label: t("Continue judging"), action: "onward", primary: true }]
        : []),
      { label: t("Look at my judgements"), action: "history" },
      { label: t("Stop here"), action: "leave" },
    ],
    thanks: true,
  }),
  daily_limit: (a) => ({
    title: t("Enough for today"),
    text: [
      `${tn("You judged one document today, which is the daily limit of this campaign.", "You judged {n} documents today, which is the daily limit of this campaign.", a.progress?.today ?? 0)} ${t("Your work is saved; come back tomorrow.")}`,
    ],
    actions: [
      { label: t("Look at my judgements"), action: "history" },
      { ...HOME, primary: true },
    ],
  }),
  deadline_passed: (a, c) => ({
    title: t("The deadline has passed"),
    text: [
      c.deadline
        ? t("This campaign closed for judging on {when}.", {
            when: time(c.deadline, { zone: true }),
          })
        : t("This campaign is closed for judging."),
      c.waiting ? sentLate(c) : t("Everything you judged before it is saved."),
    ],
    actions: [
      { label: t("Look at my judgements"), action: "history" },
      { ...HOME, primary: true },
    ],
    thanks: true,
  }),
  paused: (a) => ({
    title: t("Judging is paused"),
    text: [
      a.message || t("The manager has paused judging."),
      ...(a.reason && a.reason !== a.message
        ? [t("Reason: {reason}", { reason: a.reason })]
        : []),
      t(
        "Read the guidelines again in the meantime. This page goes on by itself when judging is opened again.",
      ),
    ],
    actions: [
      { label: t("Open the guidelines"), action: "guidelines", primary: true },
      { label: t("Look at my judgements"), action: "history" },
      { label: t("Check now"), action: "check" },
      HOME,
    ],
  }),
  closed: () => ({
    title: t("This campaign is closed"),
    text: [t("All judging is finished. Your judgements are kept.")],
    actions: [
      { label: t("Look at my judgements"), action: "history" },
      { ...HOME, primary: true },
    ],
    thanks: true,
  }),
  draft: () => ({
    title: t("This campaign has not been opened yet"),
    text: [
      t(
        "Judging begins when the manager opens it. This page goes on by itself then.",
      ),
    ],
    actions: [
      { label: t("Open the guidelines"), action: "guidelines" },
      { label: t("Check now"), action: "check" },
      HOME,
    ],
  }),
  excluded: (a) => ({
    title: t("You are not judging in this campaign any more"),
    text: [
      a.message || t("The manager has ended your part in it."),
      t(
        "If you think that this is a mistake, write to the person who invited you.",
      ),
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
  not_qualified: (a) => ({
    title: t("The practice set is finished"),
    text: [a.message || t("The manager will look at your answers.")],
    actions: [{ label: t("Open the guidelines"), action: "guidelines" }, HOME],
  }),
  // states of the page itself
  card: ({ topic, left_in_topic: left }) => ({
    title: topic.text,
    eyebrow: t("New query"),
    parts: need(topic),
    text: left
      ? [
          tn(
            "{n} document of it follows.",
            "{n} documents of it follow.",
            left + 1,
          ),
        ]
      : [],
    actions: [
      { label: t("Start"), key: "Enter", action: "start", primary: true },
    ],
  }),
  "other-tab": () => ({
    title: t("Judging is open in another tab"),
    text: [
      t(
        "One tab judges at a time, so that no document is judged twice. Nothing is lost by changing over.",
      ),
    ],
    actions: [
      { label: t("Use it here instead"), action: "take-over", primary: true },
      HOME,
    ],
  }),
  "user-pause": () => ({
    title: t("Paused"),
    text: [t("The clock is stopped and the document is hidden.")],
    actions: [
      { label: t("Go on judging (any key)"), action: "resume", primary: true },
    ],
  }),
  idle: () => ({
    title: t("Still reading?"),
    text: [
      t(
        "There was no sign of you for a while, so the clock is stopped and the document is veiled.",
      ),
    ],
    actions: [{ label: t("Go on (any key)"), action: "resume", primary: true }],
  }),
  full: (a, c) => ({
    title: t("Waiting for your answers to be saved"),
    text: [
      `${tn("{n} answer could not be sent yet.", "{n} answers could not be sent yet.", c.waiting)} ${t("They are kept in this browser and are sent again and again. Judging goes on as soon as they have arrived.")}`,
    ],
    actions: [{ label: t("Try now"), action: "retry", primary: true }],
  }),
  unreachable: (a, c) => ({
    title: c.online ? t("The server does not answer") : t("You are offline"),
    text: [
      ...(a.said || a.request
        ? [`${a.said ?? ""}${numbered(a.request)}`.trim()]
        : []),
      c.waiting
        ? tn(
            "{n} answer is kept in this browser and will be sent when the connection is back.",
            "{n} answers are kept in this browser and will be sent when the connection is back.",
            c.waiting,
          )
        : t("Everything you judged is saved."),
      t("There are no more documents here. The page goes on by itself."),
    ],
    actions: [{ label: t("Try now"), action: "retry", primary: true }],
  }),
  refused: (a) => ({
    title: t("Judging is not possible here"),
    text: [a.message],
    actions: [HOME],
  }),
};

export const knows = (state) => state in STATES;

/** Draws a state into `panel`. `context`: {now, deadline, grace, waiting, online, noTopic, feedbackGiven, sendFeedback(feedback)}. */
export function drawState(panel, state, answer, context) {
  const {
    title,
    eyebrow,
    parts = [],
    text,
    actions,
    html,
    thanks,
  } = STATES[state](answer ?? {}, context);
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
    !["paused", "excluded", "refused", "not_qualified"].includes(state) &&
    context.showMessage
      ? [make("p", {}, answer.message)]
      : []),
    ...text.map((line) => make("p", {}, line)),
  );
  if (html) panel.append(trusted(html));
  if (thanks) panel.append(...thankYou(answer, context));
  panel.append(
    make(
      "div.button-row",
      {},
      ...actions.map(({ label, key, action, primary }) =>
        make(
          `button.button${primary ? ".primary" : ""}`,
          { type: "button", dataset: { action } },
          label,
          key ? make("kbd", {}, key) : null,
        ),
      ),
    ),
  );
  panel.setAttribute("aria-labelledby", "panel-title");
  panel.hidden = false;
}
