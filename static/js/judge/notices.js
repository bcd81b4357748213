// Notices that the annotator must acknowledge: a manager's message, or an answer that was refused.

import { numbered } from "./api.js";
import { tn } from "../plurals.js";
import { locale, t } from "../words.js";

export function messages(unread, { api, banners }) {
  for (const { id, text } of unread) {
    const read = () =>
      api.post(`messages/${id}/read`).catch(() => {
        /* shown again next time */
      });
    banners.show(`message-${id}`, {
      text: t("Message from the manager: {text}", { text }),
      actions: [{ label: t("Got it"), run: read }],
    });
  }
}

/** Shows one notice for all refused answers, with their documents. */
export function refused({ outbox, banners }) {
  const entries = [...outbox.refused];
  const what = ({ title, label, refused: why }) =>
    `${title ? `“${title}”, ${label}` : label}: ${why}`;
  banners.show("refused-answers", {
    tone: "warn",
    text: `${tn("One answer was not accepted.", "{n} answers were not accepted.", entries.length)} ${entries.map(what).join(" ")}`,
    actions: [
      {
        label: t("Got it"),
        run: () => {
          for (const { key } of entries) outbox.forgetRefused(key);
        },
      },
    ],
  });
}

/** Shows the state of the connection, which may have recovered since the call. */
export function connection(
  { troubled, said, request, online },
  { banners, waiting, here },
) {
  if (!troubled) return;
  const counts = `${waiting ? `${tn("{n} answer is kept here and will be sent.", "{n} answers are kept here and will be sent.", waiting)} ` : ""}${here ? tn("You can judge {n} more document.", "You can judge {n} more documents.", here) : ""}`;
  if (!online())
    banners.show("connection", {
      tone: "warn",
      text: `${t("You are offline.")} ${counts}`,
    });
  else
    banners.show("connection", {
      tone: "warn",
      text: `${said || t("The server isn't responding. We'll keep trying.")}${numbered(request)} ${counts}`,
      actions: [{ label: t("Try now"), action: "retry" }],
    });
}

const WORTH_SAYING = new Set(["extra", "excluded"]);

/**
 * Shows the result of an answer that needs attention. After an answer that was too fast, reopen(id)
 * returns to its document.
 */
export function outcome(
  { kind, title, label, body },
  { id, status, late, revision, after_deadline: afterDeadline, message },
  { banners, reopen },
) {
  const what = `“${title ?? label}”`;
  const say = (notice) => banners.show("status", { closes: true, ...notice });
  if (afterDeadline)
    say({
      text: t(
        "{document} is saved. You judged it before the deadline, but it arrived later and is marked as late.",
        { document: what },
      ),
    });
  else if (status === "too fast") {
    const seconds = (body.active_ms / 1000).toLocaleString(locale, {
      maximumFractionDigits: 1,
    });
    say({
      tone: "warn",
      text: t(
        "You judged {document} in {seconds} s, too fast to count. Reopen it?",
        {
          document: what,
          seconds,
        },
      ),
      actions: [{ label: t("Reopen"), run: () => reopen(id) }],
    });
  } else if (
    message &&
    (late || WORTH_SAYING.has(status) || (kind === "judge" && revision > 1))
  ) {
    say({
      tone: status === "counted" ? "info" : "warn",
      text: `${what}: ${message}`,
    });
  }
}

/** Before judging: explains the qualification test. */
export function practice({ message: what, needed, total }, { banners }) {
  banners.show("practice", {
    text: `${what} ${t("You need {needed} of {total} answers correct. Test answers do not count as judgements.", { needed, total })}`,
  });
}

export function expired({ banners }) {
  banners.show("expired", {
    tone: "warn",
    text: t(
      "This document was open for a long time and has been assigned to someone else. Your answer counts if it is still needed. Otherwise it is saved as an extra judgement.",
    ),
  });
}

export function storage({ banners }) {
  banners.show("storage", {
    tone: "bad",
    text: t(
      "This browser can't store your answers. Don't close this page until “Saved” appears at the top.",
    ),
  });
}
