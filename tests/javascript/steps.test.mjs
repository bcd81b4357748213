// Several questions about one document: which is asked, and what is answered.
import assert from "node:assert/strict";
import { test } from "node:test";

const region = { textContent: "" };
globalThis.document = { getElementById: () => region };
globalThis.requestAnimationFrame = (then) => then();
const { Steps } = await import("../../static/js/judge/steps.js");

const grades = (...names) => names.map((name, value) => ({ value, name }));
const SCALE = grades("No", "Related", "Full");
const FURTHER = [
  {
    key: "ease",
    title: "Understandability",
    prompt: "How easy?",
    scale: grades("Hard", "Easy"),
    asked_from: 1,
  },
  {
    key: "trust",
    title: "Credibility",
    prompt: "Would you trust it?",
    scale: grades("Low", "High"),
    asked_from: 2,
  },
];
const LAYOUT = {
  key: "layout",
  title: "Layout",
  prompt: "Readable?",
  scale: grades("Bad", "Good"),
  required: false,
};

function made(further = FURTHER) {
  const bar = {
    setScale(scale) {
      this.scale = scale;
    },
    select(value) {
      this.selected = value;
    },
  };
  const steps = new Steps({ bar });
  steps.begin({ scale: SCALE, further_questions: further });
  steps.open();
  return { steps, bar };
}

test("with one question, every answer is the last, and there are no further answers", () => {
  const { steps, bar } = made([]);
  assert.equal(bar.scale, SCALE);
  assert.equal(steps.answer(2), true);
  assert.deepEqual([steps.grade, steps.answers, steps.draft], [2, undefined, null]);
});

test("questions whose condition fails are not asked: Not relevant is one key", () => {
  const { steps } = made();
  assert.equal(steps.answer(0), true);
  assert.deepEqual([steps.grade, steps.answers], [0, {}]);
});

test("an answer leads to the next question that is asked, and the last one is the end", () => {
  const { steps, bar } = made();
  assert.equal(steps.answer(1), false);
  assert.deepEqual([steps.current.key, bar.scale], ["ease", FURTHER[0].scale]);
  assert.equal(region.textContent, "Relevance: Related. Understandability: How easy?");
  assert.equal(steps.answer(0), true); // credibility is asked from grade 2
  assert.deepEqual(steps.answers, { ease: 0 });
});

test("cannot judge is an answer to a further question", () => {
  const { steps } = made();
  steps.answer(2);
  steps.answer(null);
  assert.equal(steps.answer(1), true);
  assert.deepEqual(steps.answers, { ease: null, trust: 1 });
});

test("an optional question can be left without an answer, by the last button", () => {
  const { steps, bar } = made([LAYOUT]);
  steps.answer(1);
  assert.deepEqual(
    bar.scale.map(({ name, isApart }) => [name, isApart]),
    [
      ["Bad", undefined],
      ["Good", undefined],
      ["No answer", true],
    ],
  );
  assert.equal(steps.answer(bar.scale[2].value), true);
  assert.deepEqual(steps.answers, {});
});

test("a lower grade drops the answers to questions that are no longer asked", () => {
  const { steps } = made();
  steps.answer(2);
  steps.answer(1);
  steps.to(0);
  assert.equal(steps.answer(1), true);
  assert.deepEqual([steps.grade, steps.answers], [1, { ease: 1 }]);
});

test("Tab moves among the questions that are asked, and no further", () => {
  const { steps } = made();
  assert.equal(steps.neighbour(1), -1); // no grade yet
  assert.equal(steps.to(1), false);
  steps.answer(2);
  assert.deepEqual([steps.neighbour(-1), steps.neighbour(1)], [0, 2]);
  steps.to(2);
  assert.equal(steps.neighbour(1), -1);
});

test("undo goes back answer by answer and removes it", () => {
  const { steps } = made();
  steps.answer(2);
  steps.answer(1);
  assert.equal(steps.undo(), true);
  assert.deepEqual([steps.current.key, steps.selected], ["ease", null]);
  assert.equal(steps.undo(), true);
  assert.deepEqual([steps.onPrimary, steps.grade], [true, undefined]);
  assert.equal(steps.undo(), false);
});

test("an earlier judgement opens with its answers, at its last question after an undo", () => {
  const { steps, bar } = made([...FURTHER, LAYOUT]);
  const record = { grade: 1, answers: { ease: null } };
  steps.open({ record });
  assert.deepEqual([steps.onPrimary, bar.selected], [true, 1]);
  steps.open({ record, atEnd: true });
  assert.equal(steps.current.key, "layout");
  steps.undo();
  assert.deepEqual([steps.current.key, steps.answers], ["ease", { ease: null }]);
  assert.equal(steps.answer(1), true); // one press changes it
  assert.deepEqual(steps.answers, { ease: 1 });
});

test("a draft continues at the first open question, also after a reload", () => {
  const { steps } = made();
  steps.answer(2);
  steps.answer(0);
  const draft = JSON.parse(JSON.stringify(steps.draft));
  const { steps: again } = made();
  again.open({ draft });
  assert.deepEqual([again.current.key, again.grade], ["trust", 2]);
  again.answer(1);
  assert.deepEqual(again.answers, { ease: 0, trust: 1 });
});

test("answers have names", () => {
  const { steps } = made();
  assert.deepEqual(steps.namesOf({ ease: 1, trust: null }), ["Easy", "Cannot judge"]);
  assert.deepEqual(steps.namesOf(undefined), []);
});
