// Assembles the judging page and connects it with keys, pointers and browser events.

import { Api, Refused, SignedOut } from "./api.js";
import { Banners } from "./banners.js";
import { Bar } from "./bar.js";
import { afterPaint, byId } from "./dom.js";
import { begun, leads, mine, tabs, unsent } from "./tabs.js";
import {
  applySettings,
  head,
  memory,
  settings,
  showGuidelines,
  takeOver,
  views,
  wide,
} from "./first.js";
import { Judging } from "./judging.js";
import { fetchAhead, here, part } from "./lazy.js";
import { Leases } from "./leases.js";
import { Outbox } from "./outbox.js";
import { Steps } from "./steps.js";

const root = byId("judge");
const {
  api: apiRoot,
  user,
  username,
  csrf,
  home,
  signIn: signInUrl,
  build,
  buildUrl,
  trial,
} = root.dataset;

const Asked = trial === undefined ? Api : (await import("./trial.js")).TrialApi;
const api = new Asked({ root: apiRoot, csrf, trial, begun });
settings.api = api;
const outbox = new Outbox({ prefix: unsent, send });
const leases = new Leases({ api, outbox });
const bar = new Bar({
  bar: byId("bar"),
  grades: byId("grades"),
  message: byId("bar-message"),
  toast: byId("toast"),
});
const steps = new Steps({ bar, box: byId("steps"), prompt: byId("prompt") });
const banners = new Banners(byId("banners"));
const judging = new Judging({
  api,
  outbox,
  leases,
  bar,
  head,
  settings,
  memory,
  views,
  banners,
  steps,
  askNote,
  askSignIn,
  drawGuidelines: () => drawGuidelines(),
});

const backToDocument = () => judging.open.focus();

let made = null;
async function dialogs() {
  const { Dialogs } = await part("dialogs");
  return (made ??= new Dialogs({
    api,
    settings,
    open: judging.open,
    signIn: { url: signInUrl, username },
    openJudgement: (id) => judging.openJudgement(id),
    takeUp: (pair) => judging.review((review) => review.takeUp(pair)),
  }));
}
async function askSignIn(question) {
  (await dialogs()).askSignIn(question);
}
async function askNote(...about) {
  (await dialogs()).askNote(...about);
}

/** Sends one entry of the outbox to the server. */
function send(entry) {
  const rest = {
    sent_at: new Date().toISOString(),
    ...leases.request({ last: outbox.isLast(entry) }),
  };
  if (entry.kind === "revise")
    return api.post(`judgements/${entry.judgement}/revise`, {
      ...entry.body,
      ...rest,
    });
  if (entry.kind === "skip")
    return api.post("skip", { key: entry.key, ...entry.body, ...rest });
  return api.post("judgements", { ...entry.body, ...rest });
}

function toggleGuidelines() {
  const open = byId("guidelines").hidden;
  showGuidelines(open);
  if (wide.matches) settings.set({ guidelines: open });
  if (open) byId("guidelines").querySelector("h2")?.focus();
  else backToDocument();
}

let reading,
  questions,
  near,
  escape = () => {},
  drawGuidelines = escape; // from extras.js

function toggle(name) {
  settings.set({ [name]: !settings.get(name) });
}

wide.addEventListener("change", () =>
  showGuidelines(wide.matches && settings.get("guidelines")),
);

settings.addEventListener("change", () => {
  applySettings();
  judging.open.repaintTerms();
  const isWanted = settings.get("offline") && !leases.offline;
  leases.offline = settings.get("offline");
  if (isWanted && judging.mode === "judging") void judging.check();
});

const actions = {
  retry: () => judging.retry(),
  check: () => judging.check(),
  start: () => judging.start(),
  onward: () => judging.onward(),
  consent: () => judging.consent(),
  resume: () => judging.reader.uncover(),
  "take-over": () => {
    sessionStorage.setItem(`${mine}:take`, "yes");
    location.reload();
  },
  "leave-review": () => judging.leaveReview(),
  "show-rest": () => judging.open.showRest(),
  "reset-keys": async () => (await dialogs()).preferences.resetKeys(),
  settings: async () => (await dialogs()).preferences.open(),
  help: async () =>
    (await dialogs()).preferences.help(judging.setup?.scale ?? []),
  ask: () => questions?.ask(),
  compare: () => near?.compare(),
  reading: () => reading?.toggle(),
  "reset-reading": () => reading?.reset(),
  guidelines: toggleGuidelines,
  history: async () => (await dialogs()).history(judging.setup, null),
  sofar: async () =>
    (await dialogs()).history(judging.setup, judging.open.topicShown),
  "whole-query": () =>
    head.showWhole(
      byId("query-more").getAttribute("aria-expanded") === "false",
    ),
  need: () => {
    if (!byId("panel").hidden) return; // a card shows it
    settings.set({ need: byId("need").hidden });
    head.showNeed(settings.get("need"));
  },
  highlight: () => toggle("highlight"),
  find: async () => (await dialogs()).find(),
  pause: () => judging.pause(),
  undo: () => judging.undo(),
  back: () => judging.undo(),
  forward: () => {
    if (judging.trail.open) judging.review((review) => review.forward());
  },
  note: () => judging.press("note"),
  cannot: () => judging.press("askReason"),
  later: (device) => judging.press("later", device),
  span: (device) => {
    if (judging.ready) judging.open.spans.step(device);
  },
  unspan: () => judging.open.spans.removeNear(),
  confirm: (device) => judging.confirm(device),
  cancel: () => escape(),
  down: () => scrollBy(0, 120),
  up: () => scrollBy(0, -120),
  leave: async () => {
    judging.open.setAside();
    await (
      await part("presence")
    ).leave({ leases, outbox, go: () => location.assign(home) });
  },
};

function onKey(event) {
  judging.reader.sign();
  const does = ({ pressed }) =>
    pressed(event, {
      reader: judging.reader,
      open: judging.open,
      input: judging.input,
      bar,
      settings,
      actions,
      isStopped: () => tabs.leading === false && judging.stopped,
      press: (...what) => judging.press(...what),
      escape: () => escape(),
    });
  if (here.keys) does(here.keys);
  else part("keys").then(does);
}
const early = takeOver();
document.addEventListener("keydown", onKey);

let pointer = "mouse",
  resumes = false; // a press that lifts the veil has no other effect
document.addEventListener(
  "pointerdown",
  (event) => {
    pointer = event.pointerType === "mouse" ? "mouse" : "touch";
    resumes = Boolean(judging.reader.veil);
    if (resumes) judging.reader.uncover();
  },
  true,
);

document.addEventListener("click", (event) => {
  if (resumes) return;
  const device = event.detail === 0 ? "keyboard" : pointer; // Enter or space on a button causes a click without a pointer
  const target = event.target instanceof Element ? event.target : null;
  const grade = target?.closest("#grades :is([data-place], [data-reason])");
  if (grade) {
    judging.input.at = event.timeStamp;
    if (grade.dataset.reason !== undefined)
      judging.press("cannot", grade.dataset.reason, device);
    else judging.press("grade", Number(grade.dataset.place), device);
    return;
  }
  const step = target?.closest("#steps [data-step]");
  if (step) judging.press("goTo", Number(step.dataset.step));
  const opener = target?.closest("[data-action]");
  if (opener) {
    if (opener.tagName === "A") event.preventDefault();
    actions[opener.dataset.action]?.(device);
  }
  if (target?.closest("[data-close]")) target.closest("dialog").close();
  for (const menu of document.querySelectorAll(".jhead details[open]"))
    if (!menu.contains(target) || opener?.closest("#menu")) menu.open = false;
});

const sizes = new ResizeObserver(() => {
  const { style } = document.documentElement;
  style.setProperty(
    "--top",
    `${strips[0].offsetHeight || strips[1].offsetHeight}px`,
  ); // in a low window, only the query remains visible
  style.setProperty("--bar", `${strips[2].offsetHeight}px`);
  head.measureQuery();
});
const strips = [
  document.querySelector(".jtop"),
  document.querySelector(".query"),
  byId("bar"),
];
for (const strip of strips) sizes.observe(strip);

async function setUp() {
  for (let tries = 0; ; tries += 1) {
    try {
      return await api.get("setup");
    } catch (error) {
      api.begun = {};
      if (error instanceof SignedOut) {
        await new Promise(
          (resolve) => void askSignIn({ waiting: outbox.size, done: resolve }),
        );
        continue;
      }
      if (error instanceof Refused) throw error;
      judging.connection.reach(false, error);
      await new Promise((resolve) =>
        setTimeout(
          resolve,
          Math.max(error.waitMs ?? 0, Math.min(10000, 500 * 2 ** tries)),
        ),
      );
    }
  }
}

// Stops while another tab judges, and goes on when that tab is closed and this one is looked at.
async function stepAside() {
  judging.stop();
  await tabs.whenFree();
  while (document.hidden)
    await new Promise((resolve) =>
      document.addEventListener("visibilitychange", resolve, { once: true }),
    );
  location.reload();
}

async function begin() {
  if (!(await leads) || !tabs.leading) return void stepAside();
  outbox.load(); // answers that the tab that judged before has not sent
  const setup = await setUp();
  if (!tabs.leading) return; // another tab has answered it in the meantime
  judging.connection.reach(true);
  settings.take(setup.profile);
  judging.setup = setup;
  showGuidelines(wide.matches && settings.get("guidelines"));
  const tick = () => {
    if (
      head.showDeadline(setup.campaign.deadline, api.serverNow()) < 0 &&
      judging.mode === "judging"
    )
      void judging.check();
  };
  tick();
  const address = new URL(location.href);
  const open = address.searchParams.get("open"),
    later = address.searchParams.get("later");
  if (open || later) window.history.replaceState(null, "", address.pathname);
  await judging.begin(setup, open);
  api.begun = {}; // unrequested data are outdated now
  for (const event of early) onKey(event);
  if (later && judging.mode === "judging")
    judging.review((review) => review.takeUp(later));
  afterPaint(() =>
    fetchAhead(async () => {
      judging.open.repaintTerms();
      void judging.preparePresses();
      ({ reading, questions, near, escape, drawGuidelines } = (
        await part("extras")
      ).join({
        api,
        settings,
        open: judging.open,
        setup,
        banners,
        bar,
        outbox,
        name: `${mine}:pace`,
        progress: () => head.progress,
        build,
        buildUrl,
        tick,
        reader: judging.reader,
        openJudgement: (id) => judging.openJudgement(id),
        input: judging.input,
        wide,
        toggleGuidelines,
        press: (what) => judging.press(what),
        leaveReview: () => judging.leaveReview(),
        heartbeat: (sinceMs) => judging.heartbeat(sinceMs),
        onNewBuild: () => {
          judging.reloadWanted = true;
        },
        hasUnsent: () => outbox.size > 0 && !judging.stopped,
        onNetwork: (isThere) => {
          judging.connection.reach(isThere);
          if (isThere) judging.retry();
        },
      }));
    }),
  );
}

window.history.scrollRestoration = "manual"; // the position is stored by lease
tabs.addEventListener("lost", stepAside);
applySettings();
begin()
  .catch((error) => {
    if (!(error instanceof Refused)) throw error;
    judging.refuse(error.message);
  })
  .then(() => judging.setup || showGuidelines(false));
