// From keys to actions, on the keyboard layouts that people have.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.Element = class {
  closest() {
    return null;
  }
};
globalThis.HTMLElement = class extends Element {
  matches(selector) {
    return selector.includes(this.tag);
  }
};
const { DEFAULTS, label } = await import("../../static/js/judge/keyboard.js");
const { FIXED, actionOf, keyName } = await import(
  "../../static/js/judge/key_presses.js"
);

const press = (key, code = "", more = {}) => ({
  key,
  code,
  target: null,
  ...more,
});
const action = (event, keys = DEFAULTS) => actionOf(event, keys);

test("digits of the top row and of the number pad are grades, the first is 0", () => {
  assert.deepEqual(action(press("1", "Digit1")), { action: "grade", place: 0 });
  assert.deepEqual(action(press("9", "Numpad9")), {
    action: "grade",
    place: 8,
  });
  assert.deepEqual(action(press("0", "Digit0")), { action: "cannot" });
});

test("the place of the key counts where a layout has no digit there: AZERTY, Arabic, full width", () => {
  assert.deepEqual(action(press("&", "Digit1")), { action: "grade", place: 0 });
  assert.deepEqual(action(press("٣", "Digit3")), { action: "grade", place: 2 });
  assert.deepEqual(action(press("１", "Digit1")), {
    action: "grade",
    place: 0,
  });
  assert.equal(keyName(press("я", "KeyZ")), "z"); // Cyrillic
});

test("with Shift a digit's place is no grade, and a capital letter is no action", () => {
  assert.equal(action(press("!", "Digit1", { shiftKey: true })), null);
  assert.equal(action(press("L", "KeyL", { shiftKey: true })), null);
});

test("a held key grades once; scrolling goes on", () => {
  assert.equal(action(press("1", "Digit1", { repeat: true })), null);
  assert.deepEqual(action(press("j", "KeyJ", { repeat: true })), {
    action: "down",
  });
});

test("keys with a modifier belong to the browser, but Ctrl-Z is undo", () => {
  for (const modifier of ["ctrlKey", "metaKey", "altKey"])
    assert.equal(action(press("1", "Digit1", { [modifier]: true })), null);
  assert.deepEqual(action(press("z", "KeyZ", { ctrlKey: true })), {
    action: "undo",
  });
  assert.equal(
    action(press("z", "KeyZ", { ctrlKey: true, shiftKey: true })),
    null,
  );
  assert.equal(
    action(press("z", "KeyZ", { ctrlKey: true, repeat: true })),
    null,
  );
});

test("brackets that a layout has only with AltGr or Option are keys; letters with them are not", () => {
  const held = (modifier) => modifier === "AltGraph";
  assert.deepEqual(
    action(
      press("[", "Digit8", {
        ctrlKey: true,
        altKey: true,
        getModifierState: held,
      }),
    ),
    { action: "back" },
  ); // German, Windows
  assert.deepEqual(action(press("]", "Digit6", { altKey: true })), {
    action: "forward",
  }); // German, Mac
  assert.equal(action(press("l", "KeyL", { altKey: true })), null);
  assert.equal(
    action(press("/", "Slash", { ctrlKey: true, altKey: true })),
    null,
  );
});

test("without keys of one character only named keys and Ctrl-Z act", () => {
  for (const key of ["1", "0", "l", "?", "["])
    assert.equal(actionOf(press(key), DEFAULTS, false), null);
  assert.deepEqual(actionOf(press("Enter"), DEFAULTS, false), {
    action: "confirm",
  });
  assert.deepEqual(
    actionOf(press("z", "KeyZ", { ctrlKey: true }), DEFAULTS, false),
    { action: "undo" },
  );
});

test("nothing happens while somebody types or composes", () => {
  const field = Object.assign(new HTMLElement(), { tag: "textarea" });
  assert.equal(action(press("1", "Digit1", { target: field })), null);
  assert.equal(action(press("1", "Digit1", { isComposing: true })), null);
});

test("a remapped key takes the old one's place", () => {
  const keys = { ...DEFAULTS, later: "w" };
  assert.deepEqual(action(press("w", "KeyW"), keys), { action: "later" });
  assert.equal(action(press("l", "KeyL"), keys), null);
});

test("every action has one key of its own", () => {
  const keys = [...Object.values(DEFAULTS), ...Object.keys(FIXED)];
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(label("delete"), "Del");
  assert.equal(label("l"), "L");
});

test("the list of shortcuts has every action once, those of every document first", async () => {
  const { GROUPS } = await import("../../static/js/judge/preferences.js");
  const actions = GROUPS.flatMap(([, items]) => items).filter(
    (item) => typeof item === "string",
  );
  assert.deepEqual([...actions].sort(), Object.keys(DEFAULTS).sort());
  assert.deepEqual(actions.slice(0, 4), ["later", "cannot", "undo", "note"]);
});
