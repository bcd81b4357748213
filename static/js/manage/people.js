// The side panel of the list of annotators: a click on a name opens it, up and down show the
// neighbours, Esc closes it. In a narrow window, and without this script, the link opens a page.

const WIDE = matchMedia("(min-width: 60rem)");
const panel = document.getElementById("panel");
const links = () => [...document.querySelectorAll("a[data-annotator]")];
const current = () => links().find((link) => link.ariaCurrent === "true");

function showAddress(annotator) {
  const address = new URL(location.href);
  if (annotator) address.searchParams.set("annotator", annotator);
  else address.searchParams.delete("annotator");
  history.replaceState(null, "", address);
  const back = document.querySelector("#chosen-people [name=back]");
  back.value = address.pathname + address.search;
}

function mark(link) {
  current()?.removeAttribute("aria-current");
  link?.setAttribute("aria-current", "true");
}

async function open(link) {
  mark(link);
  const response = await fetch(`${link.href}?panel`);
  if (!response.ok || response.redirected) return location.assign(link.href);
  const content = new DOMParser().parseFromString(
    await response.text(),
    "text/html",
  );
  if (current() !== link) return; // another one was chosen meanwhile
  panel.replaceChildren(...content.body.children);
  showAddress(link.dataset.annotator);
  link.scrollIntoView({ block: "nearest" });
  panel.querySelector("h2").focus({ preventScroll: true });
}

function move(by) {
  const all = links();
  const next = all[all.indexOf(current()) + by];
  if (next) open(next);
}

function close() {
  const link = current();
  panel.replaceChildren();
  mark(null);
  showAddress("");
  link?.focus();
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || !WIDE.matches) return;
  const link = event.target.closest("a[data-annotator]");
  const mover = event.target.closest("[data-panel-move]");
  if (link) open(link);
  else if (mover) move(Number(mover.dataset.panelMove));
  else if (event.target.closest("[data-panel-close]")) close();
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!panel?.firstElementChild || !WIDE.matches) return;
  if (target.closest("dialog, input, textarea, select, details[open]")) return;
  if (key === "Escape") close();
  else if (key === "ArrowDown") move(1);
  else if (key === "ArrowUp") move(-1);
  else return;
  event.preventDefault();
});
