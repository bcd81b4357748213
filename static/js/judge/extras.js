// Parts loaded after the first document: reading controls, questions to the manager,
// near-duplicates, examples of the grades, the annotator's pace, and periodic tasks.

import { Examples } from "./examples.js";
import { drawGuidelines } from "./guideline.js";
import { NearDuplicates } from "./near_duplicates.js";
import { attend } from "./presence.js";
import { Questions } from "./questions.js";
import { Reading } from "./reading.js";
import { Rhythm } from "./rhythm.js";
import { keepUp } from "./upkeep.js";

/** Esc closes what is open, most recent first. */
function escapeFrom({
  open,
  bar,
  input,
  wide,
  toggleGuidelines,
  press,
  leaveReview,
}) {
  const menu = document.querySelector(".jhead details[open]"),
    guidelines = document.getElementById("guidelines");
  if (menu) {
    menu.open = false;
    open.focus();
  } else if (open.spans.cancel() || bar.leaveReason()) return;
  else if (!wide.matches && !guidelines.hidden) toggleGuidelines();
  else if (input.pending) press("cancel");
  else if (!leaveReview()) bar.hideToast();
}

/**
 * parts: the dependencies of each part, by the same names. Returns {reading, questions, near,
 * drawGuidelines(), escape()}.
 */
export function join({ api, settings, open, setup, ...parts }) {
  const draw = () => drawGuidelines(setup);
  draw();
  const reading = new Reading({ settings, open, bar: parts.bar });
  const questions = new Questions({
    api,
    open,
    setup,
    drawGuidelines: draw,
    ...parts,
  });
  questions.take(setup);
  api.heard = (answer) => questions.take(answer);
  const near = setup.campaign.show_near_duplicates
    ? new NearDuplicates({ api, settings, open, setup, ...parts })
    : null;
  new Examples(parts);
  new Rhythm({ settings, ...parts });
  keepUp({ api, leaseMinutes: setup.campaign.lease_minutes ?? 10, ...parts });
  attend({ onReturn: () => parts.heartbeat(), ...parts });
  return {
    reading,
    questions,
    near,
    drawGuidelines: draw,
    escape: () => escapeFrom({ open, ...parts }),
  };
}
