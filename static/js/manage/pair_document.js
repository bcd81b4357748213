// The document of a pair as annotators see it, with the query's words highlighted. Uses the view of
// the judging page.

import { paint } from "../judge/dom.js";
import { part } from "../judge/lazy.js";
import { Views } from "../judge/views.js";

const box = document.getElementById("judge");

async function show(pair) {
  const views = new Views();
  views.isMarkdown = box.dataset.format === "markdown";
  await Promise.all([views.prepare([pair]), part("highlight")]);
  const view = views.of(pair),
    mark = () => paint("term", view.terms());
  box.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-action=show-rest]")) return;
    view.showRest();
    mark();
  });
  box.replaceChildren(view.element);
  if (view.later.length) await view.complete();
  mark();
}

if (box) void show(JSON.parse(document.getElementById("pair").textContent));
