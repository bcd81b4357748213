// The scale editor shows as many grades as there are names, and another one on request. Without
// this script all nine are shown.
import { t } from "../words.js";

const form = document.querySelector("[data-scale]");
if (form) {
  const rows = [...form.querySelectorAll("[data-grade]")];
  const add = form.querySelector("[data-add-grade]");
  const remove = form.querySelector("[data-remove-grade]");
  const renamed = form.querySelector("[data-renamed]");
  const nameOf = (row) => row.querySelector("input[name$=-name]");
  const presets = new Map(
    [...form.querySelectorAll("[data-preset]")].map((list) => [
      Number(list.dataset.preset),
      [...list.children].map((one) => one.textContent),
    ]),
  );
  let shown = Math.max(
    2,
    rows.filter((row) => nameOf(row).value.trim()).length,
  );
  const draw = () => {
    rows.forEach((row, index) => {
      row.hidden = index >= shown;
    });
    add.hidden = shown >= rows.length;
    remove.hidden = shown <= 2;
  };
  const clear = (row) => {
    for (const field of row.querySelectorAll("input, textarea"))
      field.value = "";
  };

  // Unchanged default names are replaced by those for the new number of grades: "Not relevant" and
  // "Related", the first two of four, would not form a scale.
  const rename = (before) => {
    const names = presets.get(shown);
    const own = rows.slice(0, before).map((row) => nameOf(row).value.trim());
    const untouched = presets
      .get(before)
      ?.every((name, index) => name === own[index]);
    renamed.textContent =
      names && untouched
        ? t("The names were changed to match the number of grades. Check the explanations.")
        : "";
    if (!names || !untouched) return;
    rows.slice(0, shown).forEach((row, index) => {
      clear(row);
      nameOf(row).value = names[index];
    });
  };
  add.addEventListener("click", () => {
    shown += 1;
    draw();
    rename(shown - 1);
    nameOf(rows[shown - 1]).focus();
  });
  remove.addEventListener("click", () => {
    shown -= 1;
    rename(shown + 1);
    clear(rows[shown]);
    draw();
  });
  draw();
}
