// The list of shortcuts, and the user's settings with the keys.

import { announce, byId, make } from "./dom.js";
import { FIXED, keyName } from "./key_presses.js";
import { DEFAULTS, label } from "./keyboard.js";
import { t } from "../words.js";

const NAMES = {
  later: t("Skip for now"),
  cannot: t("Cannot judge"),
  undo: t("Undo: reopen the last document"),
  note: t("Note"),
  highlight: t("Highlight query words"),
  find: t("Find in the document"),
  guidelines: t("Guidelines"),
  need: t("Information need"),
  span: t("Mark a passage"),
  unspan: t("Remove a marked passage"),
  down: t("Scroll down"),
  up: t("Scroll up"),
  back: t("Previous in my history"),
  forward: t("Next in my history"),
  pause: t("Pause: stop the timer"),
  sofar: t("My judgements for this query"),
  reading: t("Reading: size, line spacing, typeface"),
  ask: t("Ask the manager about this document"),
  compare: t("Compare with a similar document I graded"),
  help: t("Keyboard shortcuts"),
};
/** Groups of the list: the name, and the actions or other keys of each. The grades come first. */
export const GROUPS = [
  [
    t("Grade"),
    [
      "later",
      "cannot",
      "undo",
      "note",
      [["enter"], t("Confirm the selected grade")],
      [
        ["shift", "1"],
        t("Explain grade 1 with examples (same for other grades)"),
      ],
      [["control", "z"], t("Undo")],
      [["control", "enter"], t("Save the note and go back")],
    ],
  ],
  [
    t("Read"),
    [
      "down",
      "up",
      [[" "], t("Page down")],
      "need",
      "find",
      "highlight",
      "compare",
      "reading",
      "pause",
    ],
  ],
  [
    t("Mark"),
    [
      "span",
      [["↓", "↑"], t("Next or previous sentence while marking")],
      [["←", "→"], t("Move the end of the passage by a word")],
      [["shift", "←", "→"], t("Move the start of the passage by a word")],
      "unspan",
    ],
  ],
  [
    t("Move"),
    ["back", "forward", "sofar", [["escape"], t("Close, cancel, go back")]],
  ],
  [t("Help"), ["help", "guidelines", "ask"]],
];

const RESERVED = new Set([
  "1",
  "2",
  "3",
  "4",
  "5",
  "6",
  "7",
  "8",
  "9",
  " ",
  "tab",
  ...Object.keys(FIXED),
]);

/** Returns why a key cannot be assigned to an action, "" if it can. */
function refusal(key, action, keys) {
  if (RESERVED.has(key)) return t("{key} is reserved.", { key: label(key) });
  const other = Object.keys(DEFAULTS).find(
    (name) => name !== action && keys[name] === key,
  );
  return other
    ? t("{key} is already used for “{action}”.", {
        key: label(key),
        action: NAMES[other],
      })
    : "";
}

export class Preferences {
  constructor(settings) {
    this.settings = settings;
    this.capturing = null;
    this.back = make(
      "button.button.quiet",
      { type: "button", hidden: true },
      t("Undo"),
    );
    document.querySelector("[data-action=reset-keys]").after(this.back);
    const dialog = byId("settings-dialog");
    dialog.addEventListener("input", ({ target }) => {
      if (!target.dataset.setting) return;
      settings.set({
        [target.dataset.setting]:
          target.type === "checkbox" ? target.checked : target.value,
      });
    });
    dialog.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-remap]");
      if (!button) return;
      this.capturing = button.dataset.remap;
      button.textContent = t("Press a key …");
    });
    dialog.addEventListener("keydown", (event) => this.#captured(event), true);
  }

  help(scale) {
    const { keys } = this.settings;
    const row = (pressed, text) =>
      make(
        "div",
        {},
        make("dt", {}, ...pressed.map((key) => make("kbd", {}, label(key)))),
        make("dd", {}, text),
      );
    const rowOf = (item) =>
      typeof item === "string" ? row([keys[item]], NAMES[item]) : row(...item);
    byId("help-list").replaceChildren(
      ...GROUPS.map(([name, items], place) =>
        make(
          "section",
          {},
          make("h3", {}, name),
          make(
            "dl.keys",
            {},
            ...(place === 0 ? scale : []).map((grade, at) =>
              row([String(at + 1)], grade.name),
            ),
            ...items.map(rowOf),
          ),
        ),
      ),
      make("p.hint", {}, t("Shortcuts are off while you type in a field.")),
    );
    byId("help-dialog").showModal();
  }

  open() {
    byId("help-dialog").close();
    this.back.hidden = true;
    this.#drawKeys();
    for (const field of document.querySelectorAll("[data-setting]")) {
      const value = this.settings.get(field.dataset.setting);
      if (field.type === "checkbox") field.checked = Boolean(value);
      else field.value = String(value ?? 0);
    }
    byId("settings-dialog").showModal();
  }

  #captured(event) {
    if (!this.capturing) return;
    event.preventDefault();
    event.stopPropagation();
    const key = keyName(event);
    if (["shift", "control", "alt", "meta", "dead"].includes(key)) return;
    const action = this.capturing;
    this.capturing = null;
    const why =
      key === "escape" ? "" : refusal(key, action, this.settings.keys);
    byId("key-message").textContent = why;
    byId("key-message").hidden = !why;
    if (why) announce(why, { urgent: true });
    else if (key !== "escape") {
      this.settings.set({ keys: { ...this.settings.keys, [action]: key } });
      this.back.hidden = true;
    }
    this.#drawKeys();
    document.querySelector(`[data-remap="${action}"]`).focus();
  }

  /**
   * Shows a message with a button that restores the user's keys, because the dialog covers the bar.
   */
  resetKeys() {
    const { keys } = this.settings;
    const set = (wanted) => {
      this.settings.set({ keys: { ...wanted } });
      this.#drawKeys();
    };
    set(DEFAULTS);
    if (Object.keys(DEFAULTS).every((name) => keys[name] === DEFAULTS[name]))
      return;
    this.back.hidden = false;
    this.back.onclick = () => {
      set(keys);
      this.back.hidden = true;
      announce(t("Restored."));
      document.querySelector("[data-action=reset-keys]").focus();
    };
  }

  #drawKeys() {
    const { keys } = this.settings;
    byId("key-rows").replaceChildren(
      ...Object.entries(NAMES).map(([name, text]) =>
        make(
          "tr",
          {},
          make("td", {}, text),
          make("td", {}, make("kbd", {}, label(keys[name]))),
          make(
            "td",
            {},
            make(
              "button.button.small",
              {
                type: "button",
                dataset: { remap: name },
                "aria-label": t("Change the key for “{action}”", {
                  action: text,
                }),
              },
              t("Change"),
            ),
          ),
        ),
      ),
    );
  }
}
