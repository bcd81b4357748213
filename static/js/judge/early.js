// First requests of the page, sent while its other modules are loading, which saves a round trip
// before the first document. Only the tab that judges sends them. The first document is shown by
// first.js, and then the scripts for judging are loaded.

import { AHEAD, send } from "./request.js";
import { api, begun, csrf, leads, trial, unsent } from "./tabs.js";

const SLOW_MS = 1000; // after this time the scripts no longer wait for the responses

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function ask(method, path, body) {
  return (begun[`${method} ${path}`] = send(api + path, {
    method,
    csrf,
    body,
  }).catch(() => null));
}

async function showFirst() {
  if (!(await leads) || trial !== undefined) return;
  const setup = ask("GET", "setup");
  if (Object.keys(localStorage).some((name) => name.startsWith(unsent))) return; // the responses to pending answers include pairs
  const served = ask("POST", "leases", { want: AHEAD + 1 });
  const first = await import("./first.js");
  await first.showFirst(setup, served);
}

/** Loads the scripts for judging in parallel, and repeats this until it succeeds. */
async function goOn() {
  document.head.append(document.getElementById("modules").content);
  for (let last = null; ; ) {
    try {
      await (await import("../words.js")).allWords();
      return await import("./main.js");
    } catch (error) {
      if (error === last) throw error; // loaded, but they fail to run
      last = error;
      await pause(1000);
    }
  }
}

Promise.race([showFirst().catch(() => null), pause(SLOW_MS)]).then(goOn);
