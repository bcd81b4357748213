// Texts written by managers, with their markup.

import { make } from "./dom.js";

/**
 * Returns an element with HTML that the server has sanitised (guidelines, consent). Never used for
 * documents.
 */
export function trusted(html, className = "prose") {
  const box = make(`div.${className}`);
  box.innerHTML = html ?? "";
  for (const link of box.querySelectorAll("a[href]"))
    Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  return box;
}
