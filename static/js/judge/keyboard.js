// Keys of the page and their labels. Users can change them, except for the digits of the grades.

import { t } from "../words.js";

export const DEFAULTS = {
  later: "l",
  cannot: "0",
  undo: "z",
  note: "n",
  highlight: "h",
  find: "/",
  guidelines: "g",
  need: "i",
  span: "s",
  unspan: "delete",
  down: "j",
  up: "k",
  back: "[",
  forward: "]",
  pause: "p",
  help: "?",
  sofar: "t",
  reading: "a",
  ask: "q",
  compare: "c",
};

export function label(key) {
  return (
    {
      delete: t("Del"),
      enter: t("Enter"),
      escape: t("Esc"),
      control: t("Ctrl"),
      shift: t("Shift"),
      " ": t("Space"),
    }[key] ?? (key.length === 1 ? key.toUpperCase() : key)
  );
}
