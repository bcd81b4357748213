// Where the document is seen.

import { byId } from "./dom.js";

/** The part of the window, from top to bottom in pixels, in which the document is seen: between what stands fast above and below. */
export function stage() {
  const bottoms = [".jtop", ".query", ".finder"].map(
    (name) => document.querySelector(name).getBoundingClientRect().bottom,
  );
  return {
    top: Math.max(0, ...bottoms),
    bottom: byId("bar").getBoundingClientRect().top,
  };
}
