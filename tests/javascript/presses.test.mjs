// What a press on a grade means.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = {
  getElementById: () => ({ textContent: "" }),
  createElement: () => ({ dataset: {}, setAttribute() {}, append() {} }),
};
globalThis.requestAnimationFrame = () => {};
globalThis.Element = class {};
const { Presses } = await import("../../static/js/judge/presses.js");
const { Steps } = await import("../../static/js/judge/steps.js");

const SCALE = [
  { value: 0, name: "Wrong" },
  { value: 3, name: "Perfect" },
];
const TIMES = { active_ms: 4000, idle_ms: 0, hidden_ms: 0, wall_ms: 4000 };

function made({
  confirm = false,
  campaign = { spans: "off" },
  isPractice = false,
  further = [],
} = {}) {
  const sent = [],
    told = [],
    asked = [];
  const open = Object.assign(new EventTarget(), {
    paintedAt: performance.now() - 5000,
    record: null,
    note: "",
    title: "T",
    pair: { pair: 7, lease: "l7" },
    reader: { clock: { read: () => TIMES } },
    spans: {
      units: [],
      points: [],
      cursor: null,
      guide(on) {
        this.guided = on;
      },
    },
    focus() {},
    keepDraft() {},
    setNote(text) {
      this.note = text;
    },
  });
  const bar = {
    scale: SCALE,
    bar: { classList: { toggle() {}, remove() {} } },
    setScale(scale) {
      this.scale = scale;
    },
    gradeAt(place) {
      return this.scale[place];
    },
    hideToast() {},
    placeOf: () => 4,
    select(value) {
      this.selected = value;
    },
    say() {},
    messageBox: { replaceChildren() {} },
    leaveReason() {},
    toast(text, how = {}) {
      told.push(text);
      this.back = how.back;
    },
  };
  open.steps = new Steps({ bar });
  open.steps.begin({ scale: SCALE, further_questions: further });
  const input = { at: null, last: null, device: "keyboard", pending: null };
  const trail = { add: (record) => told.push(record) };
  const presses = new Presses({
    bar,
    settings: { get: () => confirm, keys: { undo: "z" } },
    open,
    input,
    setup: { scale: SCALE, campaign, guideline: { acknowledged: 2 } },
    trail,
    outbox: { add: (entry) => sent.push(entry), has: () => false },
    askNote: (...about) => asked.push(about),
    isReady: () => true,
    isPractice: () => isPractice,
    onFinish: (pair) => told.push(["finished", pair.pair]),
    onPractice: (grade) => told.push(["practice", grade]),
    advance: (what) => told.push(["next", what]),
  });
  return {
    presses,
    open,
    bar,
    input,
    sent,
    told,
    asked,
    grades: () => sent.map(({ body }) => body.grade),
  };
}

test("a grade is sent with the times of its document, and the next one comes", () => {
  const { presses, sent, told } = made();
  presses.grade(1, "touch");
  const [
    {
      kind,
      pair,
      lease,
      label,
      body: { key, judged_at: at, ...body },
    },
  ] = sent;
  assert.deepEqual([kind, pair, lease, label], ["judge", 7, "l7", "Perfect"]);
  assert.deepEqual(body, {
    grade: 3,
    cannot_reason: "",
    note: "",
    spans: [],
    ...TIMES,
    guideline_version: 2,
    device: "touch",
    lease: "l7",
  });
  assert.deepEqual(
    [told[0], told[1].key, told[1].at, told[2], told[3]],
    [["finished", 7], key, at, "Judged Perfect", ["next", "Judged Perfect. "]],
  );
});

test("the second half of a double press judges nothing", () => {
  const { presses, open, input, grades } = made();
  presses.grade(1, "keyboard");
  Object.assign(input, { at: performance.now() });
  open.paintedAt = performance.now(); // the next document, brought by that press
  presses.grade(1, "keyboard");
  assert.deepEqual(grades(), [3]);
  presses.grade(0, "keyboard"); // another press is meant
  assert.deepEqual(grades(), [3, 0]);
});

test("where grades are confirmed, the second press or Enter sends; Esc takes the choice back", () => {
  const { presses, bar, input, grades } = made({ confirm: true });
  presses.grade(1, "touch");
  assert.deepEqual(
    [grades(), bar.selected, input.pending.name],
    [[], 3, "Perfect"],
  );
  presses.cancel();
  presses.confirm("keyboard");
  assert.deepEqual([grades(), bar.selected], [[], null]);
  presses.grade(1, "touch");
  presses.confirm("keyboard");
  assert.deepEqual(grades(), [3]);
});

test("a grade that needs a passage waits for one; a lower grade needs none", () => {
  const { presses, open, grades } = made({
    campaign: { spans: "required", spans_from: 2 },
  });
  presses.grade(1, "touch");
  presses.confirm("touch");
  assert.deepEqual(grades(), []);
  presses.grade(0, "touch");
  assert.deepEqual(grades(), [0]);
  presses.grade(1, "touch");
  open.spans.units = [[0, 4]];
  presses.confirm("touch");
  assert.deepEqual(grades(), [0, 3]);
});

test("another reason wants words, and is sent when they are written", () => {
  const { presses, sent, asked } = made();
  presses.cannot("other", "keyboard");
  assert.equal(sent.length, 0);
  const [[, { needed, done }]] = asked;
  assert.equal(needed, true);
  done("The scan is upside down");
  const [
    {
      body: { grade, cannot_reason: reason, note },
    },
  ] = sent;
  assert.deepEqual(
    [grade, reason, note],
    [null, "other", "The scan is upside down"],
  );
});

test("a note on an earlier judgement is stored with its grade at once", () => {
  const { presses, open, sent, asked } = made();
  open.record = { grade: 3, reason: "", key: "k", judgement: 5 };
  presses.note();
  asked[0][1].done("Sure");
  assert.deepEqual(
    [sent[0].kind, sent[0].judgement, sent[0].body.note, sent[0].body.grade],
    ["revise", 5, "Sure", 3],
  );
});

test("undo of a new version sends the one before it again, behind it, in no time; of one that changes nothing there is none", () => {
  const { presses, open, bar, sent, told, asked } = made();
  const record = (open.record = {
    grade: 3,
    reason: "",
    note: "old",
    spans: [[0, 4]],
    key: "k",
    judgement: 5,
  });
  Object.assign(open, { note: "old" });
  open.spans.points = [[0, 4]];
  presses.note();
  asked[0][1].done("new");
  assert.deepEqual(
    [told.at(-2), told.at(-1), record.note],
    ["Note saved.", ["next", "Note saved. "], "new"],
  );
  bar.back();
  const [changed, back] = sent.map(({ body }) => body);
  assert.deepEqual(
    [
      changed.note,
      back.note,
      back.grade,
      back.spans,
      back.active_ms,
      back.wall_ms,
    ],
    ["new", "old", 3, [[0, 4]], 0, 0],
  );
  assert.notEqual(back.key, changed.key);
  assert.deepEqual(
    [record.note, record.key, sent[1].judgement],
    ["old", back.key, 5],
  );
  open.note = "old";
  presses.grade(0, "touch");
  assert.equal(told.at(-2), "Changed to Wrong (was Perfect)");
  bar.back();
  assert.deepEqual(
    sent.map(({ body }) => body.grade),
    [3, 3, 0, 3],
  );
  presses.grade(1, "touch");
  assert.deepEqual([told.at(-2), bar.back], ["Unchanged: Perfect", undefined]);
});

test("what is practised is shown with its solution, and is no judgement to come back to", () => {
  const { presses, told } = made({ isPractice: true });
  presses.grade(0, "keyboard");
  assert.deepEqual(told, [
    ["finished", 7],
    ["practice", 0],
  ]);
});

test("Later puts aside what is open, and leaves an earlier judgement as it was", () => {
  const { presses, open, sent, told } = made();
  presses.later("keyboard");
  assert.deepEqual(
    [sent[0].kind, sent[0].body, told.at(-1)],
    ["skip", { lease: "l7" }, ["next", "Skipped for now. "]],
  );
  Object.assign(open, { record: { grade: 0 } });
  Object.assign(presses.input, { last: null });
  presses.later("keyboard");
  assert.equal(sent.length, 1);
});

const EASE = {
  key: "ease",
  title: "Understandability",
  prompt: "How easy?",
  scale: [
    { value: 0, name: "Hard" },
    { value: 1, name: "Easy" },
  ],
  asked_from: 3,
};

test("several questions are one judgement, sent with the last answer", () => {
  const { presses, open, sent, told } = made({ further: [EASE] });
  presses.grade(1, "keyboard");
  assert.equal(sent.length, 0);
  presses.grade(1, "keyboard"); // the second half of a double press
  assert.equal(sent.length, 0);
  open.paintedAt = performance.now() - 5000;
  presses.grade(1, "keyboard");
  assert.deepEqual(
    sent.map(({ label, body }) => [label, body.grade, body.answers]),
    [["Perfect · Easy", 3, { ease: 1 }]],
  );
  assert.equal(told[2], "Judged Perfect · Easy");
});

test("0 answers a further question alone, and the whole document at the first", () => {
  const { presses, sent } = made({ further: [EASE] });
  presses.grade(1, "keyboard");
  presses.askReason();
  assert.deepEqual(
    sent.map(({ body }) => [body.grade, body.cannot_reason, body.answers]),
    [[3, "", { ease: null }]],
  );
  presses.open.steps.open();
  presses.cannot("document", "keyboard");
  assert.deepEqual(
    [sent[1].body.grade, sent[1].body.cannot_reason, sent[1].body.answers],
    [null, "document", {}],
  );
});

test("undo of a changed answer sends the earlier answers again", () => {
  const { presses, open, bar, sent, told } = made({ further: [EASE] });
  open.record = { grade: 3, reason: "", answers: { ease: 0 }, key: "k" };
  open.steps.open({ record: open.record, atEnd: true });
  presses.grade(1, "keyboard");
  assert.equal(told.at(-2), "Changed to Perfect · Easy (was Perfect · Hard)");
  bar.back();
  assert.deepEqual(
    sent.map(({ body }) => body.answers),
    [{ ease: 1 }, { ease: 0 }],
  );
});
