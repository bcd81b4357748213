// What the browser answers in the server's place while a manager tries the page.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Refused } from "../../static/js/judge/api.js";
import { TrialApi } from "../../static/js/judge/trial.js";

globalThis.document = { cookie: "" };
const asked = [];

const pair = (number, topic, known = null) => ({
  pair: number,
  topic: { id: topic, text: topic },
  document: { id: `d${number}`, title: "" },
  skipped_before: false,
  previous: null,
  known,
  near: [],
});

function made({ pairs, guideline = null, consent = "", fast = 0, needed = 0 }) {
  globalThis.fetch = async (address) => {
    asked.push(address);
    return {
      ok: true,
      status: 200,
      redirected: false,
      headers: new Map(),
      json: async () => ({
        campaign: {},
        scale: [],
        guideline,
        consent_html: consent,
        profile: {},
        min_active_ms: fast,
        needed,
        pairs: structuredClone(pairs),
      }),
    };
  };
  return new TrialApi({
    root: "/api/v1/judging/spring/",
    csrf: "",
    trial: "/api/v1/campaigns/spring/trial",
  });
}

const answer = (lease, grade, more = {}) => ({
  lease,
  grade,
  cannot_reason: "",
  note: "",
  spans: [],
  active_ms: 5000,
  judged_at: "2026-01-01T00:00:00Z",
  want: 0,
  held: [],
  ...more,
});

test("everything is asked for once, and nothing else goes to the server", async () => {
  asked.length = 0;
  const api = made({ pairs: [pair(1, "a")] });
  const setup = await api.get("setup");
  assert.equal(setup.state, "judging");
  const {
    pairs: [first],
  } = await api.post("leases", { want: 3, held: [] });
  const { state, trial, progress } = await api.post(
    "judgements",
    answer(first.lease, 2),
  );
  assert.deepEqual(
    [state, trial, progress.judged, progress.target],
    ["done", true, 1, 1],
  );
  await api.put("profile", {});
  assert.deepEqual(asked, ["/api/v1/campaigns/spring/trial"]);
});

test("terms first, then guidelines, then practice, then the others, one topic after the other", async () => {
  const api = made({
    pairs: [
      pair(9, "a", { grade: 3, right: [3], explanation: "A trial." }),
      pair(1, "a"),
      pair(2, "a"),
      pair(3, "b"),
    ],
    guideline: { number: 4 },
    consent: "Agree?",
    needed: 1,
  });
  assert.equal((await api.get("setup")).state, "consent_needed");
  assert.deepEqual((await api.post("leases", { want: 3, held: [] })).pairs, []);
  assert.equal((await api.post("consent")).state, "guideline_changed");
  assert.equal(
    (await api.post("guideline/acknowledge", { number: 4 })).state,
    "qualification",
  );
  const { pairs, total, needed } = await api.post("leases", {
    want: 3,
    held: [],
  });
  assert.deepEqual([pairs.map((one) => one.pair), total, needed], [[9], 1, 1]);
  const { feedback, pairs: others } = await api.post(
    "judgements",
    answer(pairs[0].lease, 1, { want: 4 }),
  );
  assert.deepEqual(feedback, {
    right: false,
    grade: 1,
    gold_grade: 3,
    explanation: "A trial.",
    judged: 1,
    n_right: 0,
    total: 1,
    needed: 1,
    passed: false,
  });
  assert.deepEqual(
    others.map((one) => [one.pair, one.left_in_topic]),
    [
      [1, 1],
      [2, 0],
      [3, 0],
    ],
  );
});

test("what was put aside comes last, is listed, and can be taken up", async () => {
  const api = made({ pairs: [pair(1, "a"), pair(2, "a"), pair(3, "a")] });
  await api.get("setup");
  const {
    pairs: [first, second],
  } = await api.post("leases", { want: 2, held: [] });
  const old = first.lease;
  const { pairs } = await api.post("skip", {
    lease: old,
    want: 4,
    held: [second.lease],
  });
  assert.deepEqual(
    pairs.map((one) => one.pair),
    [3, 1],
  );
  assert.notEqual(pairs[1].lease, old);
  assert.ok(pairs[1].order > pairs[0].order);
  assert.deepEqual(
    (await api.get("skipped")).items.map((one) => one.pair),
    [1],
  );
  const {
    pairs: [taken],
  } = await api.post("skipped/1/resume");
  assert.equal(taken.pair, 1);
  assert.deepEqual((await api.get("skipped")).items, []);
});

test("a change is a version of its own, and the history has both", async () => {
  const api = made({ pairs: [pair(1, "a"), pair(2, "a")], fast: 1000 });
  await api.get("setup");
  const {
    pairs: [first],
  } = await api.post("leases", { want: 1, held: [] });
  const { judgement, progress } = await api.post(
    "judgements",
    answer(first.lease, 1, { active_ms: 600 }),
  );
  assert.deepEqual([judgement.status, progress.judged], ["too fast", 0]);
  const changed = await api.post(
    `judgements/${judgement.id}/revise`,
    answer(undefined, 2, { active_ms: 600 }),
  ); // both openings count
  assert.deepEqual(
    [
      changed.judgement.status,
      changed.judgement.revision,
      changed.progress.judged,
    ],
    ["counted", 2, 1],
  );
  const {
    items: [line],
  } = await api.get("history?limit=50");
  assert.deepEqual(
    [line.grade, line.revisions.map((one) => one.grade), line.may_revise],
    [2, [1, 2], true],
  );
  assert.equal((await api.get("history?limit=50&topic=a")).items.length, 1);
  assert.equal((await api.get("history?limit=50&topic=b")).items.length, 0);
  const opened = await api.get(`history/${line.judgement}`);
  assert.deepEqual(
    [opened.pair.pair, opened.pair.lease, opened.judgement.grade],
    [1, null, 2],
  );
  await assert.rejects(api.get("history/77"), Refused);
});

test("near-duplicates are those that were graded, three at most, the most alike first, of equals the one judged last", async () => {
  const near = [
    [1, 0.6],
    [2, 0.9],
    [3, 0.6],
    [4, 0.5],
    [5, 1],
    [6, 0.8],
  ].map(([number, resemblance]) => ({ pair: number, resemblance }));
  const api = made({
    pairs: [
      ...[1, 2, 3, 4, 5, 6].map((number) => pair(number, "a")),
      { ...pair(7, "a"), near },
    ],
    fast: 1000,
  });
  await api.get("setup");
  const { pairs } = await api.post("leases", { want: 7, held: [] });
  const told = async () =>
    (await api.get("pairs/7/near-duplicates")).items.map(
      ({ document, judgement, resemblance }) => [
        document.id,
        judgement.grade,
        resemblance,
      ],
    );
  assert.deepEqual(await told(), []);
  const grade = async (place, value, more) =>
    (await api.post("judgements", answer(pairs[place].lease, value, more)))
      .judgement;
  const { id } = await grade(0, 2);
  await grade(3, 0);
  await grade(1, 1);
  await grade(2, 3);
  await grade(4, null);
  await grade(5, 3, { active_ms: 10 }); // too fast
  assert.deepEqual(await told(), [
    ["d2", 1, 0.9],
    ["d3", 3, 0.6],
    ["d1", 2, 0.6],
  ]);
  await api.post(`judgements/${id}/revise`, answer(undefined, 0));
  assert.deepEqual(await told(), [
    ["d2", 1, 0.9],
    ["d1", 0, 0.6],
    ["d3", 3, 0.6],
  ]);
});
