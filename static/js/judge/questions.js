// Questions to the manager about the document, and their answers. Also the notice about a new
// example in the guidelines.

import { announce, make } from "./dom.js";
import { uuid } from "./entries.js";
import { tn } from "../plurals.js";
import { t } from "../words.js";

const MOST = 2000;

export class Questions {
  /**
   * open: OpenPair. setup: receives new guidelines. openJudgement: shows the judged document by id.
   * drawGuidelines(): redraws the guidelines.
   */
  constructor({ api, banners, open, setup, openJudgement, drawGuidelines }) {
    Object.assign(this, {
      api,
      banners,
      open,
      setup,
      openJudgement,
      drawGuidelines,
      told: 0,
      draft: "",
      turn: 0,
      drawn: 0,
      changing: Promise.resolve(),
    });
  }

  /** Applies the data about questions and guidelines in an answer of the server. */
  take({ state, progress, guideline }) {
    const n = progress?.unread_answers ?? 0;
    if (!n) this.banners.hide("answers");
    else if (n !== this.told) {
      const text = tn(
        "A manager has answered your question.",
        "Managers have answered {n} of your questions.",
        n,
      );
      this.banners.show("answers", {
        text,
        actions: [
          {
            label: tn("Read the answer", "Read the answers", n),
            run: () => void this.ask({ toRead: true }),
          },
        ],
        closes: true,
      });
    }
    this.told = n;
    if (
      state === "judging" &&
      guideline &&
      guideline.number > this.setup.guideline.acknowledged
    )
      this.#tellExample(guideline);
  }

  /** A version that only adds an example needs no acknowledgement. */
  #tellExample(version) {
    this.setup.guideline = { ...version, acknowledged: version.number };
    this.drawGuidelines();
    this.banners.show("example", {
      text: t("New example in the guidelines (version {number}): {note}", {
        number: version.number,
        note: version.note,
      }),
      actions: [{ label: t("Guidelines"), action: "guidelines" }],
      closes: true,
    });
    this.api
      .post("guideline/acknowledge", { number: version.number })
      .catch(() => {
        /* shown again next time */
      });
  }

  /**
   * toRead: opened to read answers, without the keyboard of a phone covering them. unsent: {pair,
   * title, draft, key} of a question that was not sent.
   */
  async ask({ toRead = false, unsent = null } = {}) {
    const { pair, title } = unsent ?? this.open;
    this.dialog ??= this.#made();
    if (unsent) this.draft = unsent.draft;
    else if (pair?.pair !== this.pair?.pair) this.draft = "";
    Object.assign(this, {
      pair,
      title,
      key: unsent?.key ?? (this.draft ? this.key : uuid()),
    });
    this.form.hidden = !pair;
    this.without.hidden = Boolean(pair);
    this.hint.textContent = pair
      ? t(
          "About “{document}” and the query “{query}”. Managers see the document and your pseudonym.",
          { document: title, query: pair.topic.text },
        )
      : "";
    this.field.value = this.draft;
    this.#complain("");
    this.dialog.showModal();
    if (pair && !toRead) this.field.focus();
    else this.dialog.querySelector("h2").focus();
    const before = this.drawn;
    try {
      const items = await this.#drawn(() => this.api.get("questions"));
      for (const { id } of items.filter(
        (item) => item.answered_at && !item.is_read,
      ))
        await this.api.post(`questions/${id}/read`);
      this.banners.hide("answers");
      this.told = 0;
    } catch (error) {
      if (this.drawn === before)
        this.list.replaceChildren(
          make(
            "p.callout.warn",
            {},
            t("Your questions could not be loaded ({reason}).", {
              reason: error.message,
            }),
          ),
        );
    }
  }

  #made() {
    this.hint = make("p.hint", { id: "ask-hint", dir: "auto" });
    this.field = make("textarea", {
      id: "ask-text",
      maxlength: MOST,
      rows: 4,
      dir: "auto",
      "aria-describedby": "ask-hint ask-error",
    });
    this.error = make("p.field-error", {
      id: "ask-error",
      role: "alert",
      hidden: true,
    });
    this.button = make(
      "button.button.primary",
      {},
      t("Send question"),
      " ",
      make("kbd", {}, t("Ctrl")),
      " ",
      make("kbd", {}, t("Enter")),
    );
    this.form = make(
      "form.stack",
      {},
      this.hint,
      make(
        "div.field.wide",
        {},
        make("label", { for: "ask-text" }, t("Your question")),
        this.field,
        this.error,
      ),
      make("div.button-row", {}, this.button),
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.field.addEventListener("input", () => {
      this.draft = this.field.value;
    });
    this.without = make(
      "p",
      {},
      t("You can ask a question only while a document is shown."),
    );
    this.list = make("section", { "aria-label": t("Your questions") });
    const dialog = make(
      "dialog.dialog.wide",
      { id: "ask-dialog", "aria-labelledby": "ask-title" },
      make("h2", { id: "ask-title", tabindex: "-1" }, t("Ask the manager")),
      this.form,
      this.without,
      this.list,
      make(
        "div.dialog-foot",
        {},
        make(
          "button.button",
          { type: "button", dataset: { close: "" } },
          t("Close"),
        ),
      ),
    );
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        void this.#send();
      }
    });
    document.body.append(dialog);
    return dialog;
  }

  #complain(text) {
    this.error.textContent = text;
    this.error.hidden = !text;
    this.field.setAttribute("aria-invalid", String(Boolean(text)));
  }

  async #send() {
    if (!this.draft.trim())
      return void (this.#complain(t("Enter a question.")), this.field.focus());
    const { key, pair, title, draft } = this;
    this.button.disabled = true;
    try {
      await this.#drawn(
        () => this.api.post("questions", { key, pair: pair.pair, text: draft }),
        { changes: true },
      );
      if (this.key === key) this.key = uuid();
      if (this.pair.pair === pair.pair && this.draft === draft)
        this.field.value = this.draft = "";
      this.#complain("");
      if (this.unsent === key) this.banners.hide("unsent");
      announce(t("Question sent. The answer will appear here."));
    } catch (error) {
      const text = t(
        "The question was not sent ({reason}). Your text is kept. Try again.",
        { reason: error.said ?? error.message },
      );
      this.unsent = key;
      if (this.dialog.open && this.key === key) this.#complain(text);
      else
        this.banners.show("unsent", {
          text,
          actions: [
            {
              label: t("Ask the manager"),
              run: () => void this.ask({ unsent: { pair, title, draft, key } }),
            },
          ],
          closes: true,
        });
    }
    this.button.disabled = false;
  }

  /** Withdraws a question without an answer and restores its text in the field. */
  async #takeBack({ id, text, pair }, button) {
    button.disabled = true;
    try {
      await this.#drawn(() => this.api.post(`questions/${id}/withdraw`), {
        changes: true,
      });
      if (pair === this.pair?.pair && !this.draft)
        this.field.value = this.draft = text;
      this.#complain("");
      announce(t("Question withdrawn."));
      (this.form.hidden ? this.dialog.querySelector("h2") : this.field).focus();
    } catch (error) {
      button.disabled = false;
      button.after(
        make(
          "span.field-error",
          { role: "alert" },
          t("The question was not withdrawn ({reason}).", {
            reason: error.said ?? error.message,
          }),
        ),
      );
    }
  }

  /**
   * Draws the questions returned by `request()`. Changes are sent one after the other, and a list
   * is requested when no change is being sent. A list requested before the last change arrived is
   * not drawn.
   */
  async #drawn(request, { changes = false } = {}) {
    let turn = 0;
    const answer = this.changing.then(() => {
      turn = ++this.turn;
      return request();
    });
    if (changes)
      this.changing = answer.catch(() => {
        /* reported by the caller */
      });
    const { items } = await answer;
    if (changes) turn = ++this.turn;
    if (turn > this.drawn) {
      this.drawn = turn;
      this.#list(items);
    }
    return items;
  }

  #list(items) {
    if (!items.length) return void this.list.replaceChildren();
    this.list.replaceChildren(
      make("h3", {}, t("Your questions")),
      make(
        "ul.questions",
        { role: "list" },
        ...items.map((item) => this.#item(item)),
      ),
    );
  }

  #item(item) {
    const {
      text,
      answer,
      answered_at: at,
      is_read: isRead,
      example_in: version,
      judgement,
      topic,
      document: { id, title },
    } = item;
    const name = title || id;
    const undo = (event) => void this.#takeBack(item, event.currentTarget);
    const open = () => {
      this.dialog.close();
      this.openJudgement(judgement);
    };
    return make(
      `li${at && !isRead ? ".is-new" : ""}`,
      {},
      make("p.faint.small", { dir: "auto" }, `${topic.text} · ${name}`),
      make("p", { dir: "auto" }, text),
      at
        ? make(
            "p.answer",
            { dir: "auto" },
            make("strong", {}, t("Answer:")),
            " ",
            answer,
          )
        : make(
            "p.faint",
            {},
            t(
              "No answer yet. You can keep judging. The answer will appear here.",
            ),
          ),
      version
        ? make(
            "p.faint.small",
            {},
            t("Example in the guidelines since version {number}.", {
              number: version,
            }),
          )
        : null,
      at
        ? null
        : make(
            "button.button.small",
            {
              type: "button",
              onclick: undo,
              "aria-label": t("Withdraw the question about {document}", {
                document: name,
              }),
            },
            t("Withdraw"),
          ),
      " ",
      judgement
        ? make(
            "button.button.small",
            {
              type: "button",
              onclick: open,
              "aria-label": t("Open the judgement of {document}", {
                document: name,
              }),
            },
            t("Open"),
          )
        : null,
    );
  }
}
