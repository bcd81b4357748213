// Puts the judging page together and connects it with keys, pointers and the browser.

import { Api, Refused, SignedOut } from "./api.js";
import { Banners } from "./banners.js";
import { Bar, gradeList } from "./bar.js";
import { afterPaint, byId, trusted } from "./dom.js";
import { Head } from "./head.js";
import { Judging } from "./judging.js";
import { actionOf, keyName, label } from "./keyboard.js";
import { fetchAhead, part } from "./lazy.js";
import { Leases } from "./leases.js";
import { Memory } from "./memory.js";
import { Outbox } from "./outbox.js";
import { Settings } from "./settings.js";
import { Tabs } from "./tabs.js";

const root = byId("judge");
const { api: apiRoot, slug, user, username, csrf, home, signIn: signInUrl, build, buildUrl, trial } = root.dataset;
const mine = `assay:${user}:${slug}`;
const wide = matchMedia("(min-width: 64rem)");

const Asked = trial === undefined ? Api : (await import("./trial.js")).TrialApi;
const api = new Asked({ root: apiRoot, csrf, trial });
const settings = new Settings({ api, name: `assay:${user}:settings` });
const outbox = new Outbox({ prefix: `${mine}:out:`, send });
const leases = new Leases({ api, outbox });
const bar = new Bar({ bar: byId("bar"), grades: byId("grades"), message: byId("bar-message"), toast: byId("toast") });
const head = new Head();
const banners = new Banners(byId("banners"));
const judging = new Judging({ api, outbox, leases, bar, head, settings, memory: new Memory({ prefix: `${mine}:` }), banners, askNote, askSignIn });
const tabs = new Tabs(`${mine}:tab`);

/** Something made once, of a part of the page that is fetched when it is needed. */
function once(name, build) {
  let made;
  return async () => (made ??= build(await part(name)));
}

const backToDocument = () => judging.view?.heading.focus({ preventScroll: true });
const finder = once("finder", ({ Finder }) => (judging.finder = new Finder({ view: () => judging.view, onClose: backToDocument })));
const history = once("history", ({ History }) => new History({
  api, box: byId("history-list"),
  open: (id) => { byId("history-dialog").close(); judging.openJudgement(id); },
  takeUp: (pair) => { byId("history-dialog").close(); judging.takeUp(pair); },
}));
const preferences = once("preferences", ({ Preferences }) => new Preferences(settings));
const signIn = once("signIn", ({ SignIn }) => new SignIn({ api, url: signInUrl, username }));
const note = once("note", ({ Note }) => new Note());
async function askSignIn(question) { (await signIn()).ask(question); }
async function askNote(...about) { (await note()).ask(...about); }

/** One's own judgements: all of them, or those of one query. */
async function openHistory(topic) {
  byId("history-dialog").showModal();
  await (await history()).show(judging.setup.scale, topic);
}

/** One entry of the outbox, to the server. */
function send(entry) {
  const rest = { sent_at: new Date().toISOString(), ...leases.request({ last: outbox.isLast(entry) }) };
  if (entry.kind === "revise") return api.post(`judgements/${entry.judgement}/revise`, { ...entry.body, ...rest });
  if (entry.kind === "skip") return api.post("skip", { key: entry.key, ...entry.body, ...rest });
  return api.post("judgements", { ...entry.body, ...rest });
}

// Guidelines.

function drawGuidelines() {
  const { guideline, scale } = judging.setup;
  byId("guidelines-version").textContent = guideline?.number ? `v${guideline.number}` : "";
  byId("guidelines-text").replaceChildren(gradeList(scale), trusted(guideline?.html ?? ""));
  showKeys();
}

function showGuidelines(open) {
  byId("guidelines").hidden = !open;
  document.body.classList.toggle("with-guidelines", open);
}

function toggleGuidelines() {
  const open = byId("guidelines").hidden;
  showGuidelines(open);
  if (wide.matches) settings.set("guidelines", open);
  if (open) byId("guidelines").querySelector("h2")?.focus();
  else backToDocument();
}

// Look.

function applySettings() {
  document.documentElement.style.setProperty("--doc-size", `${settings.get("text_size") / 16}rem`);
  document.body.dataset.font = settings.get("font");
  document.body.classList.toggle("no-keys", !settings.get("shortcuts"));
  if (document.documentElement.dataset.theme !== settings.get("theme")) {
    document.documentElement.dataset.theme = settings.get("theme");
    document.cookie = `theme=${settings.get("theme")}; path=/; max-age=31536000; samesite=lax`;
  }
  showKeys();
}

function showKeys() {
  for (const kbd of document.querySelectorAll("[data-key]")) kbd.textContent = label(settings.keys[kbd.dataset.key]);
}

function toggle(name) {
  settings.set(name, !settings.get(name));
}

wide.addEventListener("change", () => showGuidelines(wide.matches && settings.get("guidelines")));

settings.addEventListener("change", () => {
  applySettings();
  judging.repaintTerms();
});

// Actions: by key, by button.

const actions = {
  retry: () => judging.retry(),
  check: () => judging.check(),
  start: () => judging.start(),
  onward: async () => (await part("guideline")).onward(judging),
  consent: async () => (await part("guideline")).consent(judging),
  resume: () => judging.uncover(),
  "take-over": () => { sessionStorage.setItem(`${mine}:take`, "yes"); location.reload(); },
  "leave-review": () => judging.leaveReview(),
  "show-rest": () => { judging.view?.showRest(); judging.repaintTerms(); judging.spans.repaint(); },
  "reset-keys": async () => (await preferences()).resetKeys(),
  settings: async () => (await preferences()).open(),
  help: async () => (await preferences()).help(judging.setup?.scale ?? []),
  guidelines: toggleGuidelines,
  history: () => openHistory(null),
  sofar: () => openHistory(judging.topicShown),
  "whole-query": () => head.showWhole(byId("query-more").getAttribute("aria-expanded") === "false"),
  need: () => { settings.set("need", byId("need").hidden); head.showNeed(settings.get("need")); },
  highlight: () => toggle("highlight"),
  find: async () => (await finder()).open(),
  pause: () => judging.cover("user-pause"),
  undo: () => judging.undo(),
  back: () => judging.undo(),
  forward: () => { if (judging.review !== null) judging.openReview(judging.review + 1); },
  note: () => judging.openNote(),
  cannot: () => part("prompts").then((prompts) => prompts.reasons(judging)),
  later: (device) => judging.later(device),
  span: () => { if (judging.ready) judging.spans.step(); },
  unspan: () => judging.spans.removeNear(),
  confirm: (device) => judging.confirm(device),
  down: () => scrollBy(0, 120),
  up: () => scrollBy(0, -120),
  leave: async () => (await part("presence")).leave(judging, home),
};

function escape() {
  if (byId("menu").open) byId("menu").open = false;
  else if (judging.spans.cancel() || bar.leaveReason()) return;
  else if (!wide.matches && !byId("guidelines").hidden) toggleGuidelines();
  else if (judging.pendingGrade !== null) judging.cancelPending();
  else if (!judging.leaveReview()) bar.hideToast();
}

document.addEventListener("keydown", (event) => {
  judging.sign();
  if (document.querySelector("dialog[open]")) return; // presence.js
  if (judging.veil) {
    if (!["shift", "control", "alt", "meta", "tab"].includes(keyName(event)) && !event.repeat) {
      event.preventDefault();
      judging.uncover();
    }
    return;
  }
  if (tabs.leading === false && judging.stopped) return;
  const found = actionOf(event, settings.keys, settings.get("shortcuts"));
  if (!found) return;
  const { action, place } = found;
  if (judging.spans.cursor && ["left", "right", "up", "down"].includes(action)) {
    event.preventDefault();
    judging.spans.move(action);
    return;
  }
  if (["left", "right"].includes(action)) return;
  if (["up", "down"].includes(action) && event.key.startsWith("Arrow")) return; // the browser scrolls
  if (action === "unspan" && event.key === "Backspace" && !judging.spans.cursor) return;
  event.preventDefault();
  if (action === "escape") escape();
  else if (action === "grade") {
    const reason = bar.askingReason ? bar.grades.querySelectorAll("[data-reason]")[place]?.dataset.reason : undefined;
    judging.pressedAt = event.timeStamp;
    if (reason) judging.cannot(reason, "keyboard");
    else if (!bar.askingReason) judging.grade(place, "keyboard");
  } else actions[action]?.("keyboard");
});

let pointer = "mouse", resumes = false; // a press that only lifts the veil presses nothing else
document.addEventListener("pointerdown", (event) => {
  pointer = event.pointerType === "mouse" ? "mouse" : "touch";
  resumes = Boolean(judging.veil);
  if (resumes) judging.uncover();
}, true);

document.addEventListener("click", (event) => {
  if (resumes) return;
  const device = event.detail === 0 ? "keyboard" : pointer; // Enter or space on a button makes a click without a pointer
  const target = event.target instanceof Element ? event.target : null;
  const grade = target?.closest("#grades button");
  if (grade) {
    judging.pressedAt = event.timeStamp;
    if (grade.dataset.reason !== undefined) judging.cannot(grade.dataset.reason, device);
    else judging.grade(Number(grade.dataset.place), device);
    return;
  }
  const opener = target?.closest("[data-action]");
  if (opener) {
    if (opener.tagName === "A") event.preventDefault();
    if (opener.closest("#menu")) byId("menu").open = false;
    actions[opener.dataset.action]?.(device);
  }
  if (target?.closest("[data-close]")) target.closest("dialog").close();
  if (byId("menu").open && !byId("menu").contains(target)) byId("menu").open = false;
});

// Room for the bars.

const sizes = new ResizeObserver(() => {
  const { style } = document.documentElement;
  style.setProperty("--top", `${strips[0].offsetHeight || strips[1].offsetHeight}px`); // in a low window only the query stays
  style.setProperty("--bar", `${strips[2].offsetHeight}px`);
  head.measureQuery();
});
const strips = [document.querySelector(".jtop"), document.querySelector(".query"), byId("bar")];
for (const strip of strips) sizes.observe(strip);

// Beginning.

async function setUp() {
  for (let tries = 0; ; tries += 1) {
    try {
      return await api.get("setup");
    } catch (error) {
      if (error instanceof SignedOut) {
        await new Promise((resolve) => void askSignIn({ waiting: outbox.size, done: resolve }));
        continue;
      }
      if (error instanceof Refused) throw error;
      judging.reach(false, error);
      await new Promise((resolve) => setTimeout(resolve, Math.max(error.waitMs ?? 0, Math.min(10000, 500 * 2 ** tries))));
    }
  }
}

async function begin() {
  const takes = sessionStorage.getItem(`${mine}:take`) === "yes";
  sessionStorage.removeItem(`${mine}:take`);
  if (!(await tabs.lead({ take: takes }))) return judging.stop();
  if (takes) outbox.load(); // what the other tab still had to send
  const setup = await setUp();
  judging.reach(true);
  settings.take(setup.profile);
  judging.setup = setup;
  judging.drawGuidelines = drawGuidelines;
  drawGuidelines();
  showGuidelines(wide.matches && settings.get("guidelines"));
  const tick = () => { if (head.showDeadline(setup.campaign.deadline, api.serverNow()) < 0 && judging.mode === "judging") void judging.check(); };
  tick();
  setInterval(tick, 15000);
  const beat = Math.max(5, Math.min(60, ((setup.campaign.lease_minutes ?? 10) * 60) / 4)) * 1000;
  setInterval(() => judging.heartbeat(beat), beat);
  setInterval(async () => {
    const now = await api.get(buildUrl).catch(() => null);
    judging.reloadWanted = Boolean(now && now.build !== build);
  }, 300000);
  const address = new URL(location.href);
  const open = address.searchParams.get("open"), later = address.searchParams.get("later");
  if (open || later) window.history.replaceState(null, "", address.pathname);
  await judging.begin(setup, open);
  if (later && judging.mode === "judging") judging.takeUp(later);
  afterPaint(() => fetchAhead(async () => {
    judging.repaintTerms();
    (await part("presence")).attend(judging);
  }));
}

window.history.scrollRestoration = "manual"; // the place is kept by lease
tabs.addEventListener("lost", () => judging.stop());
applySettings();
begin().catch((error) => {
  if (!(error instanceof Refused)) throw error;
  judging.refuse(error.message);
}).then(() => judging.setup || showGuidelines(false));
