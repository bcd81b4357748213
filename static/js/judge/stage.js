// The visible area of the document.

import { byId } from "./dom.js";

/**
 * Returns the top and bottom, in pixels, of the area between the fixed bars in which the document
 * is visible.
 */
export function stage() {
  const bottoms = [".jtop", ".query", ".finder"].map(
    (name) => document.querySelector(name).getBoundingClientRect().bottom,
  );
  return {
    top: Math.max(0, ...bottoms),
    bottom: byId("bar").getBoundingClientRect().top,
  };
}
