// When somebody is told that the connection is troubled, and what happens when the session ends.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.document = {
  getElementById: () => ({ dataset: { styles: "" } }),
  createElement: () => ({}),
  head: {
    append(sheet) {
      sheet.onload();
    },
  },
};
const { Connection } = await import("../../static/js/judge/connection.js");

function made({ online = true } = {}) {
  const done = [],
    shown = [];
  const outbox = {
    size: 2,
    hold: () => done.push("hold"),
    release: () => done.push("release"),
  };
  const connection = new Connection({
    outbox,
    leases: {},
    banners: { show: (name, { text }) => shown.push(text), hide() {} },
    here: () => 3,
    online: () => online,
    askSignIn: (question) => {
      connection.question = question;
    },
    onBack: () => done.push("back"),
  });
  return { connection, done, shown };
}

test("two requests without an answer are nothing to speak of, the third is", () => {
  const { connection } = made();
  const told = [];
  for (let n = 0; n < 3; n += 1) {
    connection.reach(false);
    told.push(connection.troubled);
  }
  assert.deepEqual(told, [false, false, true]);
  connection.reach(true);
  assert.equal(connection.troubled, false);
});

test("what the server says is told at once, with the number of the request, what waits and what can be judged", async () => {
  const { connection, shown } = made();
  connection.reach(false, { said: "Too many requests.", request: "r7" });
  assert.deepEqual(
    [connection.troubled, connection.said, connection.request],
    [true, "Too many requests.", "r7"],
  );
  while (!shown.length) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(
    shown[0],
    "Too many requests. (reference r7) 2 answers are kept here and will be sent. You can judge 3 more documents.",
  );
});

test("offline is troubled whatever was answered", () => {
  const { connection } = made({ online: false });
  connection.reach(true);
  assert.equal(connection.troubled, true);
});

test("signed out, answers are held, and go when somebody has signed in again", () => {
  const { connection, done } = made();
  connection.signedOut();
  assert.deepEqual(
    [done, connection.signingIn, connection.question.waiting],
    [["hold"], true, 2],
  );
  connection.question.done();
  assert.deepEqual(
    [done, connection.signingIn],
    [["hold", "release", "back"], false],
  );
});
