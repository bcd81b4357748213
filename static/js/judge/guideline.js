// Dialogs that must be read before going on: guidelines, and the explanation of a practice answer.

import { gradeList, gradeName } from "./bar.js";
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
      resume(judging, answer);
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

/** Says how a practice answer was, above the document it is about, until the reader goes on. */
export function explain({ right, grade, gold_grade: gold, explanation, judged, n_right: nRight, total, needed, passed }, { scale, done }) {
  const name = (value) => (value === null ? "Cannot judge" : gradeName(scale, value));
  const standing = passed === null ? `${judged} of ${total}; ${nRight} right so far, ${needed} are needed.`
    : passed ? `${nRight} of ${total} right: passed. From here on it counts.` : `${nRight} of ${total} right; ${needed} were needed.`;
  const box = byId("practice"), title = make("h2", { tabindex: "-1" }, right ? "Right" : "Not quite");
  const goOn = () => { box.hidden = true; done(); };
  box.className = `callout practice ${right ? "good" : "warn"}`;
  box.replaceChildren(title, make("p", {}, "You: ", make("strong", {}, name(grade)), ". Expected: ", make("strong", {}, name(gold)), "."),
    ...(explanation ? [make("p", { dir: "auto" }, explanation)] : []), make("p", {}, standing),
    make("p", {}, make("button.button.primary", { type: "button", onclick: goOn }, "Continue ", make("kbd", {}, "Enter"))));
  box.hidden = false;
  scrollTo(0, 0);
  box.querySelector("button").focus({ preventScroll: true });
  announce(`${title.textContent}. ${[...box.querySelectorAll("p")].slice(0, -1).map((p) => p.textContent).join(" ")}`, { urgent: true });
}

/** What stood in the way is done. */
function resume(judging, answer) {
  judging.drawGuidelines();
  judging.gate = null;
  judging.react(answer, { quiet: true });
  judging.mode = "waiting";
  return judging.check();
}

export function consent(judging) {
  return judging.api.post("consent").then((answer) => resume(judging, answer), (error) => judging.failed(error));
}

/** Beyond the target. */
export function onward(judging) {
  judging.leases.onward = true;
  judging.gate = null;
  judging.serverState = "judging";
  judging.advance();
}
