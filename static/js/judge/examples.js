// Explanation and examples of a grade, shown at the grade by Shift and its digit or by a long
// press. Nothing is judged by that.

import { announce, make } from "./dom.js";
import { shape } from "./shapes.js";
import { t } from "../words.js";

const LONG_MS = 500,
  STILL_PX = 10;

/** Returns the examples of a grade, one per line. */
export const examplesOf = ({ example }) =>
  (example ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

export class Examples {
  /** bar: Bar. */
  constructor({ bar }) {
    Object.assign(this, {
      bar,
      box: null,
      place: null,
      timer: 0,
      isHeld: false,
    });
    document.addEventListener("keydown", (event) => this.#key(event), true);
    bar.grades.addEventListener("pointerdown", (event) => this.#press(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"])
      bar.grades.addEventListener(name, () => clearTimeout(this.timer));
    bar.grades.addEventListener("pointermove", ({ clientX, clientY }) => {
      if (Math.hypot(clientX - this.x, clientY - this.y) > STILL_PX)
        clearTimeout(this.timer);
    });
    bar.grades.addEventListener("contextmenu", (event) =>
      event.preventDefault(),
    ); // otherwise shown by a long press
    document.addEventListener("click", (event) => this.#click(event), true);
  }

  #key(event) {
    const { code, key, shiftKey, ctrlKey, metaKey, altKey, repeat, target } =
      event;
    if (["Shift", "Control", "Alt", "Meta"].includes(key)) return;
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1];
    // On keyboards that need Shift for digits (French), these are grades.
    const isOurs =
      digit &&
      shiftKey &&
      !ctrlKey &&
      !metaKey &&
      !altKey &&
      !/^\d$/.test(key) &&
      !target.closest?.("input, textarea, select, dialog");
    if (!isOurs || this.bar.askingReason) return void (!repeat && this.hide());
    event.preventDefault();
    event.stopPropagation();
    if (repeat) return;
    if (this.place === Number(digit) - 1) this.hide();
    else this.show(Number(digit) - 1);
  }

  #press({ target, clientX, clientY }) {
    clearTimeout(this.timer);
    const place = target.closest("[data-place]")?.dataset.place;
    if (place === undefined) return;
    Object.assign(this, { x: clientX, y: clientY, isHeld: false });
    this.timer = setTimeout(() => {
      this.isHeld = true;
      this.show(Number(place));
    }, LONG_MS);
  }

  /** Releasing a long press is not a press. */
  #click(event) {
    clearTimeout(this.timer);
    if (!this.isHeld)
      return void (this.box?.contains(event.target) || this.hide());
    this.isHeld = false;
    if (!event.target.closest?.("#grades")) return;
    event.preventDefault();
    event.stopPropagation();
  }

  show(place) {
    const grade = this.bar.gradeAt(place);
    if (!grade) return;
    this.hide();
    this.place = place;
    const examples = examplesOf(grade);
    this.box = make(
      "section.grade-examples.callout",
      { "aria-label": t("What {grade} means", { grade: grade.name }) },
      make(
        "p.grade-head",
        {},
        shape(grade.shape, place),
        make("strong", {}, grade.name),
      ),
      grade.explanation ? make("p", { dir: "auto" }, grade.explanation) : null,
      examples.length
        ? make(
            "ul",
            {},
            ...examples.map((line) => make("li", { dir: "auto" }, line)),
          )
        : make(
            "p.faint",
            {},
            t("No examples here. The guidelines may have some."),
          ),
    );
    this.bar.bar.append(this.box);
    announce(
      [...this.box.querySelectorAll("p, li")]
        .map((one) => one.textContent)
        .join(". "),
    );
  }

  hide() {
    this.box?.remove();
    Object.assign(this, { box: null, place: null });
  }
}
