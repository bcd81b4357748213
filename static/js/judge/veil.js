// The document is veiled while the reader pauses or seems to be away.

import { announce, byId } from "./dom.js";

/** `why`: "idle" or "user-pause". */
export function cover(judging, why) {
  if (judging.veil !== why) return; // over already
  judging.keepClock();
  byId("document").hidden = true;
  byId("marks").hidden = true;
  judging.bar.enable(false);
  judging.stateShown = why;
  judging.stateAnswer = {};
  void judging.drawPanel({ fresh: true });
}

export function uncover(judging) {
  byId("panel").hidden = true;
  byId("document").hidden = false;
  judging.bar.enable(true);
  judging.spans.repaint();
  judging.view?.heading.focus({ preventScroll: true });
  judging.watchIdle();
  announce("Going on.");
  void judging.heartbeat();
}
