// In a narrow window, a page of more than MAX_HEIGHT pixels shows only the first rows of its lists,
// the longest list first, and a button for the others. Lists inside a closed part of the page are
// complete.

import { t } from "./words.js";

const NARROW = matchMedia("(max-width: 40rem)");
const MAX_HEIGHT = 2900;
const MIN_ROWS = 3; // that stay
const BUTTON_HEIGHT = 70;

function heightOf(element) {
  return element.getBoundingClientRect().height;
}

// Hides the last rows of the table until `excess` pixels are gone.
function shorten(table, excess) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  const later = [];
  let hidden = -BUTTON_HEIGHT;
  while (rows.length > MIN_ROWS && hidden < excess) {
    later.unshift(rows.pop());
    hidden += heightOf(later[0]);
  }
  if (hidden <= 0) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button show-more";
  button.textContent = t("Show more");
  button.addEventListener("click", () => {
    for (const row of later) row.classList.remove("later");
    button.remove();
    later[0].querySelector("a, button, input")?.focus();
  });
  for (const row of later) row.classList.add("later");
  table.after(button);
}

export function shortenLists() {
  if (!NARROW.matches) return;
  const tables = [...document.querySelectorAll("table.card-rows:not(.short)")]
    .filter((table) => table.checkVisibility?.())
    .sort((one, other) => heightOf(other) - heightOf(one));
  for (const table of tables) {
    const excess = document.documentElement.scrollHeight - MAX_HEIGHT;
    if (excess <= 0) return;
    table.classList.add("short");
    shorten(table, excess);
  }
}
