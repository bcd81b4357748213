// What the states of the server (and of the page) do to the document that is on it. Their words are in states.js.

/**
 * stops: whatever is on the page. gates: only the next document. over: nothing can be changed any more. polled: the page asks again by
 * itself. A state without a row comes when there is no document anyway.
 */
const TABLE = {
  closed: { stops: true, over: true },
  consent_needed: { gates: true },
  daily_limit: { gates: true, polled: true },
  deadline_passed: { stops: true, over: true },
  draft: { stops: true, over: true, polled: true },
  excluded: { stops: true, over: true },
  guideline_changed: { gates: true },
  nothing_now: { polled: true },
  paused: { stops: true, polled: true },
  refused: { stops: true, over: true },
  target_reached: { gates: true },
};

export const stops = (state) => TABLE[state]?.stops ?? false;
export const gates = (state) => TABLE[state]?.gates ?? false;
export const isOver = (state) => TABLE[state]?.over ?? false;
export const isPolled = (state) => TABLE[state]?.polled ?? false;
