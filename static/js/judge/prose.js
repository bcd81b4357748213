// Texts of people with their markup.

import { make } from "./dom.js";

/** HTML that the server has sanitised (guidelines, consent). Never a document. */
export function trusted(html, className = "prose") {
  const box = make(`div.${className}`);
  box.innerHTML = html ?? "";
  for (const link of box.querySelectorAll("a[href]"))
    Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  return box;
}
