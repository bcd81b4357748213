// Creation of elements without markup: text is always inserted as text.

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

/**
 * Calls back after recent changes have been painted. Waits while the page is hidden, because
 * nothing is painted then.
 */
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

/**
 * Announces a message to screen readers. The region is emptied first, so that repeated messages are
 * read again.
 */
export function announce(text, { urgent = false } = {}) {
  const region = byId(urgent ? "say-now" : "say");
  for (const name of ["say", "say-now"]) byId(name).textContent = ""; // a new message ends an urgent one
  requestAnimationFrame(() => {
    region.textContent = text;
  });
}

/** Highlights ranges of the document under a name styled in css/judge.css. */
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
