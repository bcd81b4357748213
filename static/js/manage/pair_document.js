// The document of a pair as annotators see it, with the query's words and the annotators' passages
// highlighted. Uses the view of the judging page.

import { paint } from "../judge/dom.js";
import { part } from "../judge/lazy.js";
import { Views } from "../judge/views.js";

const box = document.getElementById("document");
const stored = document.getElementById("pair");

async function show(pair) {
  const views = new Views();
  views.isMarkdown =
    document.getElementById("judge").dataset.format === "markdown";
  await Promise.all([views.prepare([pair]), part("highlight")]);
  const view = views.of(pair);
  const mark = () => {
    paint("term", view.terms(), 1);
    const passages = pair.spans.flatMap(([start, end]) =>
      view.ranges(view.stored.toUnit(start), view.stored.toUnit(end)),
    );
    paint("span", passages);
  };
  box.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-action=show-rest]")) return;
    view.showRest();
    mark();
  });
  box.replaceChildren(view.element);
  if (view.later.length) await view.complete();
  mark();
}

if (stored) void show(JSON.parse(stored.textContent));
