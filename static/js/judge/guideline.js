// Dialogs that must be read before going on: guidelines, and the explanation of a practice answer.

import { gradeList } from "./bar.js";
import { announce, byId, make, trusted } from "./dom.js";

/** Shows a version of the guidelines until it is acknowledged; then judging goes on. */
export function readGuideline(judging, version) {
  const { setup, api } = judging;
  const dialog = byId("guideline-dialog"), button = byId("guideline-read"), title = byId("guideline-title");
  const first = !setup.guideline?.acknowledged;
  title.textContent = first ? "Please read the guidelines" : "The guidelines have changed";
  byId("guideline-new").replaceChildren(...(version.note && !first ? [make("div.callout.info", {}, make("p", {}, make("strong", {}, "What changed: "), version.note))] : []), trusted(version.html), gradeList(setup.scale));
  dialog.oncancel = (event) => event.preventDefault();
  button.onclick = async () => {
    button.disabled = true;
    try {
      const answer = await api.post("guideline/acknowledge", { number: version.number });
      setup.guideline = { ...version, acknowledged: version.number };
      dialog.close();
      judging.resume(answer);
    } catch (error) {
      judging.failed(error);
    }
    button.disabled = false;
  };
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  title.focus();
  announce(title.textContent, { urgent: true });
}

export function explain({ right, gold_grade: gold, explanation }, { scale, done }) {
  const name = scale.find((grade) => grade.value === gold)?.name ?? gold;
  byId("feedback-title").textContent = right ? "Right" : "Not quite";
  byId("feedback-text").replaceChildren(...[right ? null : make("p", {}, `This one is ${name}.`), explanation ? make("p", {}, explanation) : null].filter(Boolean));
  const dialog = byId("feedback-dialog");
  dialog.addEventListener("close", done, { once: true });
  dialog.showModal();
  announce(`${byId("feedback-title").textContent}. ${byId("feedback-text").textContent}`, { urgent: true });
}
