// The first requests of the page, sent while its other modules are on their way: a round trip less before the first document. Only the
// tab that judges asks. The first document comes before the scripts of judging (first.js), which are asked for when it is there.

import { AHEAD, send } from "./request.js";
import { api, begun, csrf, leads, trial, unsent } from "./tabs.js";

const SLOW_MS = 1000; // after that the scripts do not wait for the answers

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
  if (Object.keys(localStorage).some((name) => name.startsWith(unsent))) return; // the answers that wait bring pairs
  const served = ask("POST", "leases", { want: AHEAD + 1 });
  const first = await import("./first.js");
  await first.showFirst(setup, served);
}

/** The scripts of judging, all at once; again while they do not come. */
async function goOn() {
  document.head.append(document.getElementById("modules").content);
  for (let last = null; ; ) {
    try {
      await (await import("../words.js")).allWords();
      return await import("./main.js");
    } catch (error) {
      if (error === last) throw error; // they have come, and do not run
      last = error;
      await pause(1000);
    }
  }
}

Promise.race([showFirst().catch(() => null), pause(SLOW_MS)]).then(goOn);
