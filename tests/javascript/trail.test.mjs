// One's own judgements of this page, and opening them again.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = {
  getElementById: () => ({ textContent: "" }),
  cookie: "",
};
globalThis.requestAnimationFrame = () => {};
const { Refused } = await import("../../static/js/judge/api.js");
const { Review } = await import("../../static/js/judge/review.js");
const { Trail } = await import("../../static/js/judge/trail.js");
const { entryOf } = await import("../../static/js/judge/entries.js");

const pair = (number, topic = "a") => ({
  pair: number,
  lease: `l${number}`,
  topic: { id: topic },
});

function made({ api = {}, cancel = false } = {}) {
  const trail = new Trail(),
    seen = [];
  const shown = (pair, { record } = {}) =>
    seen.push(record ? ["open", record.judgement] : ["again", pair.pair]);
  const review = new Review({
    trail,
    api,
    outbox: { cancel: async () => cancel },
    leases: { comeBack() {} },
    bar: {
      toast: (text, { tone } = {}) => {
        if (tone || !/^Reopened/.test(text)) seen.push(["toast", text]);
      },
      refresh() {},
      hideToast() {},
    },
    banners: { show() {} },
    open: { setAside() {}, steps: { namesOf: () => [] } },
    scale: [],
    show: shown,
    advance: () => seen.push(["next"]),
    onFail: (error) => seen.push(["fail", error.message]),
  });
  return { trail, review, seen };
}

test("60 judgements are kept, a query is in mind for five, and what the server stored is known", () => {
  const { trail } = made();
  for (let number = 0; number < 61; number += 1)
    trail.add({
      pair: pair(number, number < 57 ? "a" : "b"),
      key: `k${number}`,
    });
  assert.deepEqual(
    [trail.records.length, trail.records[0].key, trail.before],
    [60, "k1", 59],
  );
  assert.deepEqual([trail.isRecent("a"), trail.isRecent("b")], [true, true]);
  trail.add({ pair: pair(61, "b") });
  assert.equal(trail.isRecent("a"), false);
  trail.stored("k60", { id: 9 });
  assert.equal(trail.records.at(-2).judgement, 9);
});

test("a new version follows the answer that is still on its way, or names the judgement that is stored", () => {
  const reviewed = { key: "k1", judgement: 7 },
    body = { key: "k2", grade: 3 };
  const about = { pair: pair(1), title: "T", label: "Perfect", reviewed };
  const { of, judgement, kind } = entryOf(body, { ...about, isWaiting: true });
  assert.deepEqual([kind, of, judgement], ["revise", "k1", null]);
  const stored = entryOf(body, { ...about, isWaiting: false });
  assert.deepEqual([stored.of, stored.judgement], [null, 7]);
  assert.deepEqual(entryOf(body, { ...about, reviewed: null }).body, {
    ...body,
    lease: "l1",
  });
});

test("before the first judgement of the page come those of the server, oldest first, and then nothing", async () => {
  const answers = {
    "history?limit=10&before=5": {
      items: [
        { judgement: 4, may_revise: true },
        { judgement: 3, may_revise: false },
        { judgement: 2, may_revise: true },
      ],
    },
    "history?limit=10&before=2": { items: [] },
  };
  const full = (id) => ({
    pair: pair(id),
    judgement: {
      judgement: id,
      grade: 1,
      cannot_reason: "",
      note: "",
      spans: [],
      judged_at: "2026-01-01T00:00:00Z",
    },
  });
  const { trail, review, seen } = made({
    api: { get: async (path) => answers[path] ?? full(Number(path.slice(8))) },
  });
  trail.add({ pair: pair(1), key: "k", judgement: 5 });
  await review.open(-1);
  assert.deepEqual(
    [trail.records.map(({ judgement }) => judgement), seen],
    [[2, 4, 5], [["open", 4]]],
  );
  await review.openJudgement(2);
  assert.deepEqual(seen.at(-1), ["open", 2]);
  await review.open(-1);
  assert.deepEqual(
    [seen.at(-1), trail.isWhole],
    [["toast", "No earlier document."], true],
  );
  await review.open(3);
  assert.deepEqual(seen.at(-1), ["next"]);
});

test("what was put aside comes back: at once when the server has not heard of it, else by a new lease, or with its reason why not", async () => {
  const here = made({ cancel: true });
  here.trail.add({ pair: pair(3), key: "k", later: true });
  await here.review.open(0);
  assert.deepEqual([here.seen, here.trail.records], [[["again", 3]], []]);
  const there = made({ api: { post: async () => ({ pairs: [pair(3)] }) } });
  await there.review.takeUp(3);
  assert.deepEqual(there.seen, [["again", 3]]);
  const gone = made({
    api: {
      post: async () => {
        throw new Refused(409, "gone", "Someone else judges it.", {}, "");
      },
    },
  });
  await gone.review.takeUp(3);
  assert.deepEqual(gone.seen, [["toast", "Someone else judges it."]]);
});
