// The list of one's own judgements with their earlier versions.

import { make } from "./dom.js";
import { gradeName } from "./bar.js";
import { shape } from "./shapes.js";

function moment(iso) {
  return new Date(iso).toLocaleString(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

const STANDING = { extra: ["warn", "extra", "Someone else had finished this pair; kept, not counted."], "too fast": ["warn", "too fast", "Made faster than the campaign's minimum; kept, not counted."] };

export class History {
  /** `open(judgement id)` shows one; null where it cannot be opened. */
  constructor({ api, box, open }) {
    Object.assign(this, { api, box, open });
  }

  async show(scale) {
    this.scale = scale;
    this.last = null;
    this.rows = make("tbody");
    this.more = make("button.button.small", { type: "button", hidden: true, onclick: () => this.#load() }, "Show more");
    const table = make("table.table.history", {}, make("thead", {}, make("tr", {}, ...["When", "Query", "Document", "Grade", ""].map((head) => make("th", {}, head || make("span.visually-hidden", {}, "Open"))))), this.rows);
    this.box.replaceChildren(make("div.table-wrap", { tabindex: "0", role: "region", "aria-label": "My judgements" }, table), make("p", {}, this.more));
    await this.#load();
  }

  async #load() {
    let answer;
    try {
      answer = await this.api.get(`history?limit=50${this.last ? `&before=${this.last}` : ""}`);
    } catch (error) {
      this.box.replaceChildren(make("p.callout.warn", {}, `Your judgements could not be fetched (${error.message}). `, make("button.button.small", { type: "button", onclick: () => this.show(this.scale) }, "Try again")));
      return;
    }
    const items = answer.items ?? [];
    for (const item of items) this.rows.append(this.#row(item));
    this.last = items[items.length - 1]?.judgement ?? this.last;
    this.more.hidden = items.length < 50;
    if (!this.rows.children.length) this.box.replaceChildren(make("div.empty", {}, make("p", {}, "You have not judged anything here yet.")));
  }

  #row(item) {
    const { judgement: id } = item;
    const title = item.document.title || item.document.id;
    const place = this.scale.findIndex((grade) => grade.value === item.grade);
    const standing = STANDING[item.standing];
    const earlier = (item.revisions ?? []).slice(0, -1);
    const open = this.open && item.may_revise
      ? make("button.button.small", { type: "button", onclick: () => this.open(id), "aria-label": `Open the judgement of ${title}` }, "Open")
      : null;
    return make("tr", {},
      make("td.nowrap", {}, moment(item.judged_at)),
      make("td", { dir: "auto" }, item.topic.text),
      make("td", { dir: "auto" }, title, item.note ? make("div.faint.small", {}, `Note: ${item.note}`) : null),
      make("td", {}, make("span.grade", {}, place >= 0 ? shape(this.scale[place].shape, place) : null, gradeName(this.scale, item.grade, item.cannot_reason)),
        standing ? make(`span.badge.${standing[0]}`, { title: standing[2] }, standing[1]) : null,
        earlier.length ? make("div.faint.small", {}, `before: ${earlier.map((one) => `${gradeName(this.scale, one.grade, one.cannot_reason)} (${moment(one.judged_at)})`).join(", ")}`) : null),
      make("td", {}, open));
  }
}
