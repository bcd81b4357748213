// Making elements without markup: text is always text.

export function make(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "dataset") Object.assign(element.dataset, value);
    else if (key.startsWith("on"))
      element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(
    ...children.filter(
      (child) => child !== null && child !== undefined && child !== false,
    ),
  );
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Calls back when what was just put on the page has been painted. Waits while the page is hidden: nothing is painted then. */
export function afterPaint(callback) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      callback(performance.now());
    };
    port2.postMessage(null);
  });
}

/** What a screen reader is told. Said again when it repeats, because the region is emptied in between. */
export function announce(text, { urgent = false } = {}) {
  const region = byId(urgent ? "say-now" : "say");
  for (const name of ["say", "say-now"]) byId(name).textContent = ""; // what was urgent is over when something else is said
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}

/** Paints ranges of the document under a name that css/judge.css styles. */
export function paint(name, ranges, priority = 0) {
  if (!window.Highlight) return;
  if (!ranges.length) {
    CSS.highlights.delete(name);
    return;
  }
  const highlight = new Highlight(...ranges);
  highlight.priority = priority;
  CSS.highlights.set(name, highlight);
}
