// Parts of the page that judging does not begin with. They are fetched on first use, and in any case when the first document has
// been on the page for a moment, so that they are there when the network is not.

const PARTS = {
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
export const here = {}; // the parts that have arrived, by name

/** A part by its name, with the styles of all parts; what sets documents has its own, for the first one may need it. Once it is here, at once. */
export function part(name) {
  return (asked[name] ??= fetched(name));
}

/** Asks again as long as the server does not answer. */
async function fetched(name) {
  if (name !== "typeset")
    styles ??= Promise.all(
      document.getElementById("judge").dataset.styles.split(" ").map(style),
    );
  for (;;) {
    try {
      const [found] = await Promise.all([
        PARTS[name](),
        name === "typeset" ? null : styles,
      ]);
      return (here[name] = found);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** `then` is called as soon as the words of the query can be found. */
export function fetchAhead(then) {
  setTimeout(async () => {
    await part("highlight");
    await Promise.all([then(), ...Object.keys(PARTS).map(part)]);
    document.documentElement.dataset.complete = "yes";
  }, WAIT_MS);
}
