// Shows the first document before the scripts for judging are loaded, so that the annotator can
// start to read. main.js continues with the parts created here. Only a document that will certainly
// be shown is shown: not with a pending notice, and not in another state than judging.

import { afterPaint, byId } from "./dom.js";
import { mine } from "./tabs.js";
import { Head } from "./head.js";
import { label } from "./keyboard.js";
import { Memory } from "./memory.js";
import { Settings } from "./settings.js";
import { Views } from "./views.js";
import { t } from "../words.js";

export const settings = new Settings({
  api: null,
  name: `assay:${byId("judge").dataset.user}:settings`,
});
export const head = new Head();
export const memory = new Memory({ prefix: `${mine}:` });
export const views = new Views();
export const wide = matchMedia("(min-width: 64rem)");

let isOver = false; // main.js has started
const pressed = [];
const keep = (event) => pressed.push(event);

/**
 * Hands over to main.js. Returns the keys pressed while it was loading and a document was visible.
 */
export function takeOver() {
  isOver = true;
  document.removeEventListener("keydown", keep);
  return pressed;
}

export function applySettings() {
  const { style } = document.documentElement;
  style.setProperty("--doc-size", `${settings.get("text_size") / 16}rem`);
  for (const name of ["measure", "leading"])
    style.setProperty(`--${name}`, settings.get(name));
  for (const name of ["font", "terms"])
    document.body.dataset[name] = settings.get(name);
  document.body.classList.toggle("no-keys", !settings.get("shortcuts"));
  if (document.documentElement.dataset.theme !== settings.get("theme")) {
    document.documentElement.dataset.theme = settings.get("theme");
    document.cookie = `theme=${settings.get("theme")}; path=/; max-age=31536000; samesite=lax`;
  }
  for (const kbd of document.querySelectorAll("[data-key]"))
    kbd.textContent = label(settings.keys[kbd.dataset.key]);
}

export function showGuidelines(open) {
  byId("guidelines").hidden = !open;
  document.body.classList.toggle("with-guidelines", open);
}

/** Returns the body of a response, which api.js reads again, or null if there is none yet. */
async function read(begun) {
  const { response } = (await begun) ?? {};
  return response?.ok && !response.redirected
    ? response
        .clone()
        .json()
        .catch(() => null)
    : null;
}

/**
 * setup, served: requests as sent by early.js. Resolves when the document is shown, or cannot be
 * shown yet.
 */
export async function showFirst(setup, served) {
  const [{ state, profile, campaign, messages } = {}, given] = (
    await Promise.all([setup, served].map(read))
  ).map((answer) => answer ?? {});
  const [pair] = [...(given.pairs ?? [])].sort((a, b) => a.order - b.order);
  if (
    isOver ||
    location.search ||
    state !== "judging" ||
    given.state !== state ||
    messages.length ||
    !pair
  )
    return;
  if (
    pair.expired ||
    pair.skipped_before ||
    pair.previous ||
    memory.place(pair.lease)
  )
    return;
  settings.take(profile);
  views.isMarkdown = campaign.text_format === "markdown";
  await views.prepare(given.pairs);
  if (isOver) return;
  applySettings();
  showGuidelines(wide.matches && settings.get("guidelines"));
  head.showTopic(pair.topic, { isNew: false, label: t("Query") });
  head.showNeed(settings.get("need"));
  const view = views.of(pair),
    stands = {};
  byId("grades").append(document.querySelector(".slow-start")); // until the grades are shown
  byId("document").replaceChildren(view.element);
  view.stands = stands; // OpenPair keeps it in place
  afterPaint(() => {
    stands.since = Date.now();
  });
  document.addEventListener("keydown", keep);
}
