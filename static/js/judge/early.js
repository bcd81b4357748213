// The first requests of the page, sent while its other modules are on their way: a round trip less before the first document. Only the
// tab that judges asks.

import { AHEAD, send } from "./request.js";
import { Tabs } from "./tabs.js";

const { api, slug, user, csrf, trial } = document.getElementById("judge").dataset;
export const mine = `assay:${user}:${slug}`;
export const unsent = `${mine}:out:`; // begins the names of what waits to be sent
export const tabs = new Tabs(`${mine}:tab`);
export const begun = {}; // as Api takes it

function ask(method, path, body) {
  begun[`${method} ${path}`] = send(api + path, { method, csrf, body }).catch(() => null);
}

const take = sessionStorage.getItem(`${mine}:take`) === "yes";
sessionStorage.removeItem(`${mine}:take`);

/** Resolves to whether this tab judges. */
export const leads = tabs.lead({ take }).then((leading) => {
  if (!leading || trial !== undefined) return leading;
  ask("GET", "setup");
  if (!Object.keys(localStorage).some((name) => name.startsWith(unsent))) ask("POST", "leases", { want: AHEAD + 1 }); // else answers bring the pairs
  return leading;
});
