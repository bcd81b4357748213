// The scale editor: shows as many grades as there are names, and one more on request. Without this script all nine are shown.
const form = document.querySelector("[data-scale]");
if (form) {
  const rows = [...form.querySelectorAll("[data-grade]")];
  const add = form.querySelector("[data-add-grade]");
  const remove = form.querySelector("[data-remove-grade]");
  const nameOf = (row) => row.querySelector("input[name$=-name]");
  let shown = Math.max(2, rows.filter((row) => nameOf(row).value.trim()).length);
  const draw = () => {
    rows.forEach((row, index) => { row.hidden = index >= shown; });
    add.hidden = shown >= rows.length;
    remove.hidden = shown <= 2;
  };
  add.addEventListener("click", () => { shown += 1; draw(); nameOf(rows[shown - 1]).focus(); });
  remove.addEventListener("click", () => {
    shown -= 1;
    for (const field of rows[shown].querySelectorAll("input, textarea")) field.value = "";
    draw();
  });
  draw();
}
