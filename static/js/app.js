// Scripts of every page: appearance, dialogs, menus, copying, local times, sortable tables, long
// lists on phones and invalid fields.

import { shortenLists } from "./short_lists.js";
import { sortable } from "./sort.js";
import { locale, t } from "./words.js";

function setTheme(choice) {
  document.documentElement.dataset.theme = choice;
  document.cookie = `theme=${choice}; path=/; max-age=31536000; samesite=lax`;
  showTheme();
}

function showTheme() {
  const chosen = document.documentElement.dataset.theme || "auto";
  for (const button of document.querySelectorAll("[data-theme-choice]"))
    button.setAttribute(
      "aria-pressed",
      String(button.dataset.themeChoice === chosen),
    );
}

// Browsers provide the clipboard only over HTTPS and on localhost. Elsewhere the selected text is
// copied.
async function keep(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.className = "visually-hidden";
  field.value = text;
  (focused?.closest("dialog") ?? document.body).append(field);
  field.focus({ preventScroll: true });
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  if (!copied) throw new Error("not copied");
}

async function copy(button) {
  const text =
    button.dataset.copyText ??
    button.closest(".code-block")?.querySelector("code")?.textContent ??
    "";
  const before = button.textContent;
  try {
    await keep(text);
    button.textContent = t("Copied");
  } catch {
    if (button.dataset.copyText === undefined)
      button.textContent = t("Select the text and copy it");
    else window.prompt(t("Select the text and copy it"), text); // the text is not on the page, so it cannot be selected there
  }
  setTimeout(() => {
    button.textContent = before;
  }, 2000);
}

document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const theme = target?.closest("[data-theme-choice]");
  if (theme) setTheme(theme.dataset.themeChoice);
  const opener = target?.closest("[data-dialog]");
  if (opener) openDialog(opener, event);
  if (target?.closest("[data-close]")) target.closest("dialog")?.close();
  const copier = target?.closest("[data-copy], [data-copy-text]");
  if (copier) copy(copier);
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(target)) menu.open = false;
});

// A link with data-dialog opens the dialog in place of its page.
function openDialog(opener, event) {
  event.preventDefault();
  document.getElementById(opener.dataset.dialog)?.showModal();
}

// Ctrl-K and / open the search, arrow keys move through its results.
document.addEventListener("keydown", (event) => {
  const search = document.getElementById("search-dialog");
  if (!search) return;
  const typing = event.target.closest?.("input, textarea, select, dialog");
  const letter = event.key.toLowerCase();
  if (
    ((event.ctrlKey || event.metaKey) && letter === "k" && !event.shiftKey) ||
    (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey)
  ) {
    event.preventDefault();
    if (!search.open) search.showModal();
  } else if (
    search.open &&
    (event.key === "ArrowDown" || event.key === "ArrowUp")
  ) {
    const stops = [...search.querySelectorAll("input, a")];
    const step = event.key === "ArrowDown" ? 1 : -1;
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
});

// A form with data-confirm asks for confirmation before it is sent.
document.addEventListener("submit", (event) => {
  const question =
    event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (question && !window.confirm(question.replace(/\s+/g, " ")))
    event.preventDefault();
});

// A second press before the response sends nothing, otherwise it could create two campaigns. After
// this time the response is lost, or was a download.
const SENT_MS = 10_000;
const sent = new Map();

window.addEventListener("submit", (event) => {
  // on the window, because handlers that send or confirm the form themselves have run before
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (performance.now() - (sent.get(form) ?? -SENT_MS) < SENT_MS)
    event.preventDefault();
  else sent.set(form, performance.now());
});
window.addEventListener("pageshow", () => sent.clear()); // the user came back to the page

// <time datetime="…" data-relative> shows "in 2 days", with the full time as its title.
function relative(time) {
  const at = new Date(time.dateTime);
  const seconds = (at - Date.now()) / 1000;
  const [unit, size] = [
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ].find(([, s]) => Math.abs(seconds) >= s) ?? ["second", 1];
  time.title = time.title || at.toLocaleString(locale);
  time.textContent = new Intl.RelativeTimeFormat(locale, {
    numeric: "auto",
  }).format(Math.round(seconds / size), unit);
}

// <time datetime="…" data-local> is shown in the browser's time zone.
function local(time) {
  const style = {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  };
  time.textContent = new Date(time.dateTime).toLocaleString(locale, style);
}

function prepare(root) {
  for (const table of root.querySelectorAll("table[data-sortable]"))
    sortable(table);
  for (const time of root.querySelectorAll("time[data-relative]"))
    relative(time);
  for (const time of root.querySelectorAll("time[data-local]")) local(time);
}

showTheme();
prepare(document);
document.addEventListener("htmx:load", (event) => prepare(event.detail.elt));

// On a narrow screen, the current tab is scrolled into view.
const here = document.querySelector(".tabs [aria-current]");
here?.parentElement.scrollTo({
  left:
    here.offsetLeft -
    (here.parentElement.clientWidth - here.offsetWidth) / 2 -
    here.parentElement.offsetLeft,
});

shortenLists();
document.addEventListener("htmx:afterSettle", shortenLists);
