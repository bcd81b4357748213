// The bar of grades at the bottom. It never moves, and messages about a press appear in it.

import { make } from "./dom.js";
import { shape } from "./shapes.js";
import { t } from "../words.js";

export class Bar {
  constructor({ bar, grades, message, toast }) {
    Object.assign(this, { bar, grades, messageBox: message, toastBox: toast });
    this.scale = [];
    this.askingReason = false;
    this.toastTimer = 0;
    this.canUndo = () => false;
  }

  /**
   * scale: answers to the current question; an answer outside its order has `isApart`. spansFrom:
   * grades from this one up require a marked passage.
   */
  setScale(scale, spansFrom = Infinity) {
    Object.assign(this, { scale, spansFrom });
    this.bar.classList.toggle("many", scale.length > 4);
    this.bar.classList.toggle("very-many", scale.length > 5);
    this.#drawGrades();
  }

  gradeAt(place) {
    return this.scale[place];
  }
  named(value) {
    return this.scale.find((grade) => grade.value === value);
  }

  #drawGrades() {
    this.askingReason = false;
    this.bar.classList.remove("asks");
    const nOrdered = this.scale.filter((grade) => !grade.isApart).length;
    const hadFocus = this.grades.contains(document.activeElement);
    this.grades.replaceChildren(
      ...this.scale.map((grade, place) => {
        const needs =
          grade.value >= this.spansFrom ? t("needs a marked passage") : null;
        const step = Math.round((place / Math.max(1, nOrdered - 1)) * 8);
        const kind = grade.isApart ? "apart" : `step-${step}`;
        return make(
          "button.grade-button",
          {
            type: "button",
            class: `grade-button ${kind}${needs ? " needs" : ""}`,
            "aria-pressed": "false",
            "aria-description": needs,
            "aria-keyshortcuts": String(place + 1),
            title: grade.explanation || null,
            dataset: { place },
          },
          make("span.swatch", { "aria-hidden": "true" }),
          make("kbd", {}, String(place + 1)),
          grade.isApart ? null : shape(grade.shape, place),
          make("span.name", {}, grade.name),
        );
      }),
    );
    this.#apply();
    if (hadFocus) this.grades.querySelector("button")?.focus();
  }

  leaveReason() {
    if (!this.askingReason) return false;
    this.#drawGrades();
    this.say("");
    return true;
  }

  select(value) {
    this.selected = value;
    this.#apply();
  }

  /** start: on the card of a new query, phones show its button in place of the grades. */
  enable(on, { undo = true, start = false } = {}) {
    this.on = on;
    this.undo = undo;
    this.grades.querySelector(".start")?.remove();
    if (start)
      this.grades.append(
        make(
          "button.button.primary.start",
          { type: "button", dataset: { action: "start" } },
          t("Start"),
        ),
      );
    this.#apply();
  }

  #apply() {
    for (const button of this.grades.querySelectorAll("[data-place]")) {
      const chosen =
        this.selected !== null &&
        this.selected !== undefined &&
        this.scale[Number(button.dataset.place)].value === this.selected;
      button.setAttribute("aria-pressed", String(chosen));
      button.disabled = !this.on;
    }
    for (const button of this.bar.querySelectorAll(".bar-more [data-action]"))
      button.disabled =
        button.dataset.action === "undo"
          ? !this.undo || !this.canUndo()
          : !this.on;
  }

  refresh() {
    this.#apply();
  }

  say(text) {
    this.messageBox.textContent = text;
    this.messageBox.hidden = !text;
  }

  /**
   * Shows a message at the top of the bar for eight seconds. undo: key of the undo button, null for none.
   * back: called by undo instead of the page's own undo.
   */
  toast(text, { undo = null, tone = "", back = null } = {}) {
    clearTimeout(this.toastTimer);
    this.toastBox.className = `toast ${tone}`;
    this.toastBox.replaceChildren(
      make("span", {}, text),
      ...(undo
        ? [
            make(
              "button.button.small",
              { type: "button", dataset: { action: "undo" } },
              t("Undo"),
              " ",
              make("kbd", {}, undo),
            ),
          ]
        : []),
    );
    this.toastBox.hidden = false;
    this.back = back;
    this.#apply();
    this.toastTimer = setTimeout(() => this.hideToast(), 8000);
  }

  hideToast() {
    this.toastBox.hidden = true;
    this.back = null;
    this.#apply();
  }
}
