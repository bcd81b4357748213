// Opening one's own earlier judgements: those of this page first, then those that the server has.

import { Refused } from "./api.js";
import { announce } from "./dom.js";
import { gradeName } from "./bar.js";

/** Opens the judgement at a place of the trail; -1: the one before all of them. */
export async function openReview(judging, place) {
  const { trail } = judging;
  if (place >= trail.length) return void judging.leaveReview();
  if (place < 0) {
    const added = await older(judging);
    if (!added) return void judging.bar.toast("There is nothing earlier.");
    place += added;
  }
  if (trail[place].later) return void (await comeBack(judging, trail.splice(place, 1)[0]));
  if (trail[place].stub && !(await fetched(judging, trail[place]))) return;
  show(judging, place);
}

export async function openJudgement(judging, id) {
  const known = judging.trail.findIndex((record) => String(record.judgement) === String(id));
  if (known >= 0) return void openReview(judging, known);
  const record = { judgement: Number(id), stub: true };
  if (!(await fetched(judging, record))) return;
  judging.trail.unshift(record);
  show(judging, 0);
}

/** Undo of Later: the document is there again, and the one on the page waits behind it. */
async function comeBack(judging, { pair, key }) {
  if (await judging.outbox.cancel(key)) showAgain(judging, pair); // the server has not heard of it
  else await takeUp(judging, pair.pair);
}

/** A pair that was put aside, by a new lease, unless others judge it meanwhile. */
export async function takeUp(judging, id) {
  try {
    const { pairs: [pair] } = await judging.api.post(`later/${id}/take-up`);
    showAgain(judging, pair);
  } catch (error) {
    if (error instanceof Refused) judging.bar.toast(error.said, { tone: "warn" });
    else judging.failed(error);
  }
}

function showAgain(judging, pair) {
  judging.setAside();
  judging.review = null;
  judging.leases.comeBack(pair);
  judging.bar.hideToast();
  judging.show(pair);
  judging.bar.toast("Here it is again; the other one comes next.");
}

function show(judging, place) {
  const record = judging.trail[place];
  judging.setAside();
  judging.review = place;
  judging.bar.hideToast();
  judging.show(record.pair, { record });
  const name = gradeName(judging.setup.scale, record.grade, record.reason);
  const at = new Date(record.at).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  judging.banners.show("review", {
    tone: "info", text: `${record.grade === null ? `You answered “${name}”` : `You judged this ${name}`} at ${at}. Press a grade to change it; the earlier one is kept as a version.`,
    actions: [{ label: "Back to where I was", action: "leave-review" }],
  });
  announce(`Reopened. ${record.grade === null ? "You answered" : "You judged this"} ${name}. Press a grade to change it, Escape to go back.`);
}

/** Puts judgements from the server before those of the trail. Resolves to how many. */
async function older(judging) {
  const [first] = judging.trail;
  if (first && !first.judgement) return 0; // it has not reached the server yet
  try {
    const { items } = await judging.api.get(`history?limit=10${first ? `&before=${first.judgement}` : ""}`);
    const stubs = items.filter((item) => item.may_revise).map(({ judgement }) => ({ judgement, stub: true }));
    judging.trail.unshift(...stubs.reverse());
    judging.nothingEarlier = !stubs.length;
    judging.bar.refresh();
    return stubs.length;
  } catch (error) {
    judging.failed(error);
    return 0;
  }
}

async function fetched(judging, record) {
  try {
    const { pair, judgement } = await judging.api.get(`history/${record.judgement}`);
    Object.assign(record, {
      pair: { ...pair, lease: null }, stub: false, judgement: judgement.judgement, grade: judgement.grade,
      reason: judgement.cannot_reason, note: judgement.note, spans: judgement.spans, at: judgement.judged_at,
    });
    return true;
  } catch (error) {
    judging.failed(error);
    return false;
  }
}
