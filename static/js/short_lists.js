// In a narrow window, a page of more than MAX_HEIGHT pixels shows only the first rows of its lists
// and tables, the longest first, then the beginning of its long texts, and buttons for the rest.
// Lists inside a closed part of the page are complete.

import { t } from "./words.js";

const NARROW = matchMedia("(max-width: 40rem)");
const MAX_HEIGHT = 2900;
const MIN_ROWS = 2; // that stay
const BUTTON_HEIGHT = 70;

function heightOf(element) {
  return element.getBoundingClientRect().height;
}

function visible(selector) {
  return [...document.querySelectorAll(selector)]
    .filter((element) => element.checkVisibility?.())
    .sort((one, other) => heightOf(other) - heightOf(one));
}

function excess() {
  return document.documentElement.scrollHeight - MAX_HEIGHT;
}

// Adds a button below the element that shows its rest.
function offerRest(element, show) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button show-more";
  button.textContent = t("Show more");
  const reveal = () => {
    show();
    button.remove();
  };
  button.addEventListener("click", reveal);
  element.after(button);
  return reveal;
}

// Hides the last rows of the table until `tooMuch` pixels are gone. Sorting shows all rows.
function shortenTable(table, tooMuch) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  const later = [];
  let hidden = -BUTTON_HEIGHT;
  while (rows.length > MIN_ROWS && hidden < tooMuch) {
    later.unshift(rows.pop());
    hidden += heightOf(later[0]);
  }
  if (hidden <= 0) return;
  for (const row of later) row.classList.add("later");
  const reveal = offerRest(table, () => {
    for (const row of later) row.classList.remove("later");
    later[0].querySelector("a, button, input")?.focus();
  });
  table.tHead?.addEventListener("click", reveal, { once: true });
}

function shortenText(text) {
  text.classList.add("beginning");
  offerRest(text, () => text.classList.remove("beginning"));
}

export function shortenLists() {
  if (!NARROW.matches) return;
  for (const table of visible(
    "table:is(.card-rows, [data-sortable]):not(.short)",
  )) {
    if (excess() <= 0) return;
    table.classList.add("short");
    shortenTable(table, excess());
  }
  for (const text of visible("[data-long-text]:not(.short)")) {
    if (excess() <= 0) return;
    text.classList.add("short");
    shortenText(text);
  }
}
