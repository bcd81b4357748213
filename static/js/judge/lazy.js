// Parts of the page that the first document does not need. They are loaded on first use or shortly
// after the first document, so that they are available if the network fails.

const PARTS = {
  battle: () => import("./battle.js"),
  dialogs: () => import("./dialogs.js"),
  extras: () => import("./extras.js"),
  highlight: () => import("./highlight.js"),
  guideline: () => import("./guideline.js"),
  keys: () => import("./key_presses.js"),
  marking: () => import("./spans.js"),
  notices: () => import("./notices.js"),
  presence: () => import("./presence.js"),
  presses: () => import("./presses.js"),
  review: () => import("./review.js"),
  states: () => import("./states.js"),
  typeset: async () =>
    (
      await Promise.all([
        import("./typeset.js"),
        style(document.getElementById("judge").dataset.typeset),
      ])
    )[0],
  whole_text: () => import("./whole_text.js"),
};
const WAIT_MS = 250;
let styles = null;

function style(href) {
  return new Promise((resolve) => {
    const sheet = document.createElement("link");
    Object.assign(sheet, {
      rel: "stylesheet",
      href,
      onload: resolve,
      onerror: resolve,
    });
    document.head.append(sheet);
  });
}

const asked = {};
export const here = {}; // loaded parts by name

/**
 * Returns a part by name, immediately if it is loaded. The styles of all parts are loaded with the
 * first one. The parts that the first document may need have their own.
 */
export function part(name) {
  return (asked[name] ??= fetched(name));
}

/** Repeats a request until the server responds. */
async function fetched(name) {
  const hasStyles = name === "typeset" || name === "battle";
  if (!hasStyles)
    styles ??= Promise.all(
      document.getElementById("judge").dataset.styles.split(" ").map(style),
    );
  for (;;) {
    try {
      const [found] = await Promise.all([
        PARTS[name](),
        hasStyles ? null : styles,
      ]);
      return (here[name] = found);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** Calls `then` as soon as the query's words can be found. */
export function fetchAhead(then) {
  setTimeout(async () => {
    await part("highlight");
    const parts = Object.keys(PARTS).filter((name) => name !== "battle");
    await Promise.all([then(), ...parts.map(part)]);
    document.documentElement.dataset.complete = "yes";
  }, WAIT_MS);
}
