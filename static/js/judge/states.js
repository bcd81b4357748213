// What the page says when there is no document on it: what happened, what it means, what can be done. No dead ends.

import { numbered } from "./api.js";
import { byId, make, trusted } from "./dom.js";
import { thankYou } from "./thanks.js";

const documents = (n) => (n === 1 ? "one document" : `${Number(n).toLocaleString()} documents`);
const number = (n) => Number(n).toLocaleString();

function time(iso, { zone = false } = {}) {
  return new Date(iso).toLocaleString(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", ...(zone ? { timeZoneName: "short" } : {}) });
}

function minutes(iso, now) { return Math.max(1, Math.round((Date.parse(iso) - now) / 60000)); }

const HOME = { label: "Back to my campaigns", action: "leave" };

/** The queries of a pair, its need, and how many of its documents follow. */
const need = (topic) => [topic.description, topic.narrative].filter((part) => part?.trim()).map((part) => make("p", { dir: "auto" }, part));

/** {title, text: [...], actions: [{label, action, primary}], extra: element} for a state of the server or of the page. */
const STATES = {
  nothing_now: (a, c) => ({
    title: "Nothing to judge right now",
    text: [
      a.without_documents ? a.message : `All remaining documents are with others. We check again every ${a.retry_after_s ?? 30} seconds${a.may_return ? ` (${a.may_return} may return${a.next_return_at ? ` in ${minutes(a.next_return_at, c.now)} min` : ""})` : ""}.`,
      "You can leave this page open; the next document appears by itself.",
    ],
    actions: [{ label: "Check now", action: "check", primary: true }, { label: "Look at my judgements", action: "history" }, HOME],
  }),
  done: (a) => (a.trial ? {
    title: "That was the trial",
    text: [`You judged ${documents(a.progress?.judged ?? 0)}, as annotators will. Nothing of it was stored, and nothing counts.`],
    actions: [{ label: "Look at my judgements", action: "history" }, { label: "Back to the campaign", action: "leave", primary: true }],
  } : {
    title: "That was everything. Thank you.",
    text: [`You judged ${documents(a.progress?.judged ?? 0)}. There is nothing left for you in this campaign.`],
    actions: [{ label: "Look at my judgements", action: "history" }, { ...HOME, primary: true }],
    thanks: true,
  }),
  target_reached: (a) => ({
    title: `You reached ${number(a.progress?.target ?? a.progress?.judged ?? 0)}. Thank you.`,
    text: [a.may_continue ? "Your part is done. There is more to judge: go on if you like, or stop here." : "Your part is done. Nothing more is expected of you."],
    actions: [...(a.may_continue ? [{ label: "Continue judging", action: "onward", primary: true }] : []), { label: "Look at my judgements", action: "history" }, { label: "Stop here", action: "leave" }],
    thanks: true,
  }),
  daily_limit: (a) => ({
    title: "Enough for today",
    text: [`You judged ${documents(a.progress?.today ?? 0)} today, which is the daily limit of this campaign. Your work is saved; come back tomorrow.`],
    actions: [{ label: "Look at my judgements", action: "history" }, { ...HOME, primary: true }],
  }),
  deadline_passed: (a, c) => ({
    title: "The deadline has passed",
    text: [
      c.deadline ? `This campaign closed for judging on ${time(c.deadline, { zone: true })}.` : "This campaign is closed for judging.",
      c.waiting ? `${c.waiting} ${c.waiting === 1 ? "answer" : "answers"} given before the deadline ${c.waiting === 1 ? "is" : "are"} still being sent; the server accepts ${c.waiting === 1 ? "it" : "them"} for ${c.grace} minutes and marks ${c.waiting === 1 ? "it" : "them"}.` : "Everything you judged before it is saved.",
    ],
    actions: [{ label: "Look at my judgements", action: "history" }, { ...HOME, primary: true }],
    thanks: true,
  }),
  paused: (a) => ({
    title: "Judging is paused",
    text: [a.message || "The manager has paused judging.", ...(a.reason && a.reason !== a.message ? [`Reason: ${a.reason}`] : []), "Read the guidelines again in the meantime. This page goes on by itself when judging is opened again."],
    actions: [{ label: "Open the guidelines", action: "guidelines", primary: true }, { label: "Look at my judgements", action: "history" }, { label: "Check now", action: "check" }, HOME],
  }),
  closed: () => ({
    title: "This campaign is closed",
    text: ["All judging is finished. Your judgements are kept."],
    actions: [{ label: "Look at my judgements", action: "history" }, { ...HOME, primary: true }],
    thanks: true,
  }),
  draft: () => ({
    title: "This campaign has not been opened yet",
    text: ["Judging begins when the manager opens it. This page goes on by itself then."],
    actions: [{ label: "Open the guidelines", action: "guidelines" }, { label: "Check now", action: "check" }, HOME],
  }),
  excluded: (a) => ({
    title: "You are not judging in this campaign any more",
    text: [a.message || "The manager has ended your part in it.", "If you think that this is a mistake, write to the person who invited you."],
    actions: [HOME],
  }),
  consent_needed: (a) => ({
    title: "Before you begin",
    text: [],
    html: a.consent_html,
    actions: [{ label: "I agree and want to take part", action: "consent", primary: true }, { label: "I do not agree", action: "leave" }],
  }),
  not_qualified: (a) => ({
    title: "The practice set is finished",
    text: [a.message || "The manager will look at your answers."],
    actions: [{ label: "Open the guidelines", action: "guidelines" }, HOME],
  }),
  // states of the page itself
  card: ({ topic, left_in_topic: left }) => ({
    title: topic.text,
    eyebrow: "New query",
    parts: need(topic),
    text: left ? [`${left + 1} documents of it follow.`] : [],
    actions: [{ label: "Start", key: "Enter", action: "start", primary: true }],
  }),
  "other-tab": () => ({
    title: "Judging is open in another tab",
    text: ["One tab judges at a time, so that no document is judged twice. Nothing is lost by changing over."],
    actions: [{ label: "Use it here instead", action: "take-over", primary: true }, HOME],
  }),
  "user-pause": () => ({
    title: "Paused",
    text: ["The clock is stopped and the document is hidden."],
    actions: [{ label: "Go on judging (any key)", action: "resume", primary: true }],
  }),
  idle: () => ({
    title: "Still reading?",
    text: ["There was no sign of you for a while, so the clock is stopped and the document is veiled."],
    actions: [{ label: "Go on (any key)", action: "resume", primary: true }],
  }),
  full: (a, c) => ({
    title: "Waiting for your answers to be saved",
    text: [`${c.waiting} answers could not be sent yet. They are kept in this browser and are sent again and again. Judging goes on as soon as they have arrived.`],
    actions: [{ label: "Try now", action: "retry", primary: true }],
  }),
  unreachable: (a, c) => ({
    title: c.online ? "The server does not answer" : "You are offline",
    text: [
      ...(a.said || a.request ? [`${a.said ?? ""}${numbered(a.request)}`.trim()] : []),
      c.waiting ? `${c.waiting} ${c.waiting === 1 ? "answer is" : "answers are"} kept in this browser and will be sent when the connection is back.` : "Everything you judged is saved.",
      "There are no more documents here. The page goes on by itself.",
    ],
    actions: [{ label: "Try now", action: "retry", primary: true }],
  }),
  refused: (a) => ({ title: "Judging is not possible here", text: [a.message], actions: [HOME] }),
};

export const knows = (state) => state in STATES;

/** Draws a state into `panel`. `context`: {now, deadline, grace, waiting, online, noTopic, feedbackGiven, sendFeedback(feedback)}. */
export function drawState(panel, state, answer, context) {
  const { title, eyebrow, parts = [], text, actions, html, thanks } = STATES[state](answer ?? {}, context);
  panel.dataset.state = state;
  if (context.noTopic) {
    byId("query-label").textContent = "Campaign";
    byId("query-text").textContent = document.title.replace("Judging: ", "");
  }
  panel.replaceChildren(
    ...(eyebrow ? [make("p.query-label", {}, eyebrow)] : []),
    make("h2", { tabindex: "-1", id: "panel-title", dir: "auto" }, title),
    ...parts,
    ...(answer?.message && !["paused", "excluded", "refused", "not_qualified"].includes(state) && context.showMessage ? [make("p", {}, answer.message)] : []),
    ...text.map((line) => make("p", {}, line)),
  );
  if (html) panel.append(trusted(html));
  if (thanks) panel.append(...thankYou(answer, context));
  panel.append(make("div.button-row", {}, ...actions.map(({ label, key, action, primary }) => make(`button.button${primary ? ".primary" : ""}`, { type: "button", dataset: { action } }, label, key ? make("kbd", {}, key) : null))));
  panel.setAttribute("aria-labelledby", "panel-title");
  panel.hidden = false;
}
