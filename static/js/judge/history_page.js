// The page of the annotator's judgements.

import { Api } from "./api.js";
import { History } from "./history.js";
import { make } from "./dom.js";
import { t } from "../words.js";

const box = document.getElementById("history-page");
const api = new Api({ root: box.dataset.api, csrf: box.dataset.csrf });
try {
  const setup = await api.get("setup");
  const open = ["closed", "deadline_passed", "excluded"].includes(setup.state)
    ? null
    : (id) => {
        location.assign(`${box.dataset.judge}?open=${id}`);
      };
  const takeUp =
    open &&
    ((pair) => {
      location.assign(`${box.dataset.judge}?later=${pair}`);
    });
  await new History({ api, box, open, takeUp }).show(setup);
} catch (error) {
  box.replaceChildren(
    make(
      "p.callout.warn",
      {},
      t("Your judgements could not be loaded ({reason}).", {
        reason: error.message,
      }),
    ),
  );
}
