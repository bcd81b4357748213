// What joins the page when its first document is there: the reading controls, questions to the manager, and what is done from time to time.

import { attend } from "./presence.js";
import { Questions } from "./questions.js";
import { Reading } from "./reading.js";
import { keepUp } from "./upkeep.js";

/** `parts`: what each of them needs (see there), by the same names. Returns what answers to keys: {reading, questions}. */
export function join({ api, settings, open, setup, ...parts }) {
  const reading = new Reading({ settings, open });
  const questions = new Questions({ api, open, setup, ...parts });
  questions.take(setup);
  api.heard = (answer) => questions.take(answer);
  keepUp({ api, leaseMinutes: setup.campaign.lease_minutes ?? 10, ...parts });
  attend({ onReturn: () => parts.heartbeat(), ...parts });
  return { reading, questions };
}
