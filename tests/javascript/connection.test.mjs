// When somebody is told that the connection is troubled.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Connection } from "../../static/js/judge/connection.js";

test("two requests without an answer are nothing to speak of, the third is", () => {
  const connection = new Connection({ online: () => true });
  const told = [];
  for (let n = 0; n < 3; n += 1) { connection.note(false); told.push(connection.troubled); }
  assert.deepEqual(told, [false, false, true]);
  connection.note(true);
  assert.equal(connection.troubled, false);
});

test("what the server says is told at once, with the number of the request", () => {
  const connection = new Connection({ online: () => true });
  connection.note(false, { said: "Too many requests.", request: "r7" });
  assert.deepEqual([connection.troubled, connection.said, connection.request], [true, "Too many requests.", "r7"]);
});

test("offline is troubled whatever was answered", () => {
  const connection = new Connection({ online: () => false });
  connection.note(true);
  assert.equal(connection.troubled, true);
});
