// What the page says when there is no document on it: every state has words of its own, and a way on.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** As much of a document as drawing a state needs. */
class Node {
  constructor(name) {
    Object.assign(this, {
      name,
      children: [],
      attributes: {},
      dataset: {},
      hidden: true,
      text: "",
    });
  }
  append(...nodes) {
    this.children.push(...nodes);
  }
  replaceChildren(...nodes) {
    this.children = nodes;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  addEventListener() {}
  querySelectorAll() {
    return [];
  }
  get textContent() {
    return (
      this.text +
      this.children.map((child) => child.textContent ?? child).join(" ")
    );
  }
  set textContent(value) {
    this.text = value;
  }
  all(name) {
    return this.children.flatMap((child) =>
      child instanceof Node
        ? [...(child.name === name ? [child] : []), ...child.all(name)]
        : [],
    );
  }
}
globalThis.document = {
  createElement: (name) => new Node(name),
  getElementById: () => new Node("p"),
  title: "Judging: Spring",
};

const { drawState, knows } = await import("../../static/js/judge/states.js");
const source = (name) =>
  readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const FROM_SERVER = [
  ...source("annotation/selectors/judging.py").matchAll(
    /(?:say\(\s*|return \(?\s*)"(\w+)",\s*(?:message|f?"|\w+)/g,
  ),
]
  .map((match) => match[1])
  .filter((state) => !["judging", "qualification"].includes(state));
const FROM_PAGE = [
  "card",
  "other-tab",
  "user-pause",
  "idle",
  "full",
  "unreachable",
  "refused",
];
const context = {
  now: 0,
  deadline: "2026-01-01T00:00:00Z",
  grace: 10,
  waiting: 2,
  online: true,
};

function drawn(state, answer = {}, more = {}) {
  const panel = new Node("section");
  drawState(panel, state, answer, { ...context, ...more });
  return panel;
}

test("the states of the server are found in its source", () => {
  assert.ok(FROM_SERVER.length >= 10, String(FROM_SERVER));
  for (const state of [
    "draft",
    "closed",
    "excluded",
    "deadline_passed",
    "paused",
    "target_reached",
    "daily_limit",
    "nothing_now",
    "done",
  ])
    assert.ok(FROM_SERVER.includes(state), state);
});

for (const state of new Set([
  ...FROM_SERVER.filter((name) => name !== "guideline_changed"),
  ...FROM_PAGE,
])) {
  test(`${state} is known, has a title, and a button whose action there is`, () => {
    assert.ok(knows(state));
    const panel = drawn(state, {
      topic: { text: "knee pain", description: "Why?" },
      left_in_topic: 2,
      message: "A message.",
      progress: { judged: 3, target: 3, today: 3 },
    });
    assert.ok(panel.all("h2")[0].textContent.length > 4);
    assert.doesNotMatch(panel.textContent, /undefined|NaN|null|\[object/);
    assert.equal(panel.hidden, false);
    const actions = panel.all("button").map((button) => button.dataset.action);
    assert.ok(actions.length >= 1);
    for (const action of actions)
      assert.match(
        source("static/js/judge/main.js"),
        new RegExp(`^ {2}(async )?"?${action}"?(:|\\()`, "m"),
      );
  });
}

test("numbers and reasons are those of the answer", () => {
  assert.match(
    drawn("nothing_now", {
      retry_after_s: 30,
      may_return: 3,
      next_return_at: new Date(6 * 60000).toISOString(),
    }).textContent,
    /every 30 seconds\. 3 documents may come back, the first in 6 min/,
  );
  assert.match(
    drawn("paused", {
      message: "The campaign is paused.",
      reason: "New guidelines",
    }).textContent,
    /Reason: New guidelines/,
  );
  assert.match(
    drawn("deadline_passed", {}, { waiting: 1 }).textContent,
    /1 answer given before the deadline is still being sent\. The server accepts it for 10 minutes/,
  );
  assert.match(
    drawn("target_reached", { progress: { target: 1200 }, may_continue: true })
      .textContent,
    /1,?200.*if you want to continue/,
  );
});

const END = {
  panel: "Prolific",
  outcome: "done",
  completion_code: "A1B2C3",
  completion_url: "https://app.prolific.com/submissions/complete?cc=A1B2C3",
  progress: { judged: 2, target: 2 },
};
const actionsOf = (panel) =>
  panel.all("button").map((button) => button.dataset.action);

test("a guest returns to the panel with the code, and nowhere else", () => {
  const panel = drawn("target_reached", END);
  const [link] = panel.all("a");
  assert.equal(link.textContent, "Return to Prolific");
  assert.equal(link.attributes.href, END.completion_url);
  assert.match(link.className, /primary/);
  assert.match(panel.textContent, /Return to Prolific to submit it.*A1B2C3/);
  assert.deepEqual(actionsOf(panel), ["history"]);
  assert.ok(panel.all("button").every((one) => !/primary/.test(one.className)));
});

test("a guest who failed the test or found nothing to judge has an end of their own", () => {
  const failed = drawn("paused", {
    ...END,
    outcome: "failed",
    message: "You got 0 of 1 test answers right. You need 1.",
  });
  assert.match(
    failed.textContent,
    /Qualification test finished You got 0 of 1 .*A1B2C3/,
  );
  assert.deepEqual(actionsOf(failed), ["guidelines"]);
  for (const state of ["done", "closed", "deadline_passed"]) {
    const full = drawn(state, { ...END, outcome: "full" });
    assert.match(full.textContent, /This study is full .*A1B2C3/);
    assert.equal(full.all("form").length, 0);
  }
});

test("others return to the site of the campaign, and home", () => {
  const { panel: _, outcome: __, ...end } = END;
  const done = drawn("done", end);
  assert.equal(
    done.all("a")[0].textContent,
    "Return to the site you came from",
  );
  assert.deepEqual(actionsOf(done), ["history", "leave"]);
});

test("the card of a query drops a description that only repeats it", () => {
  const topic = { text: "Knee pain in runners?", narrative: "Trials count." };
  const lines = (description) =>
    drawn("card", { topic: { ...topic, description }, left_in_topic: 0 })
      .all("p")
      .map((p) => p.textContent);
  assert.deepEqual(lines("knee pain in runners."), [
    "New query",
    "Trials count.",
  ]);
  assert.deepEqual(lines("Knee pain in runners? Which?"), [
    "New query",
    "Knee pain in runners? Which?",
    "Trials count.",
  ]);
});
