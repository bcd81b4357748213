// One slot for notices: the newest is visible, the others are opened.
import assert from "node:assert/strict";
import { test } from "node:test";

/** As much of an element as notices need. */
class Node {
  constructor(name) {
    Object.assign(this, { name, children: [], dataset: {}, text: "" });
  }
  setAttribute() {}
  addEventListener(name, does) {
    this[`on${name}`] = does;
  }
  append(...nodes) {
    for (const node of nodes) {
      if (node instanceof Node) {
        node.remove();
        node.parent = this;
      }
      this.children.push(node);
    }
  }
  prepend(node) {
    node.parent = this;
    this.children.unshift(node);
  }
  remove() {
    const { children } = this.parent ?? { children: [] };
    if (children.includes(this)) children.splice(children.indexOf(this), 1);
  }
  replaceWith(node) {
    node.parent = this.parent;
    this.parent.children.splice(this.parent.children.indexOf(this), 1, node);
  }
  set textContent(text) {
    this.text = text;
  }
}
globalThis.document = {
  createElement: (name) => new Node(name),
  getElementById: () => null,
};
const { Banners } = await import("../../static/js/judge/banners.js");

function made(...texts) {
  const box = new Node("div"),
    banners = new Banners(box);
  for (const text of texts) banners.show(text, { text });
  const seen = () =>
    box.children
      .filter(({ hidden }) => !hidden)
      .map(({ dataset }) => dataset.text);
  const more = () => box.children[0]?.children.at(-1);
  return { banners, seen, more };
}

test("the newest notice is visible, with the number of the others", () => {
  const { seen, more, banners } = made("answer", "example", "too fast");
  assert.deepEqual(seen(), ["too fast"]);
  assert.equal(more().text, "2 more notices");
  banners.hide("too fast");
  assert.deepEqual(seen(), ["example"]);
  assert.equal(more().text, "1 more notice");
  banners.hide("example");
  assert.deepEqual(seen(), ["answer"]);
  assert.equal(more().name, "p");
});

test("the others are opened, the newest first", () => {
  const { seen, more } = made("answer", "example", "too fast");
  more().onclick();
  assert.deepEqual(seen(), ["too fast", "example", "answer"]);
  assert.notEqual(more().text, "2 more notices");
});

test("a notice with a new text stays in its place", () => {
  const { seen, banners } = made("offline", "answer");
  banners.show("offline", { text: "offline, 2 kept" });
  assert.deepEqual(seen(), ["answer"]);
  banners.hide("answer");
  assert.deepEqual(seen(), ["offline, 2 kept"]);
});
