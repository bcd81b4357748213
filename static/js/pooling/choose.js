// A checkbox in the header of a list selects all rows of the page. It exists only with this script.
// The checkboxes may be outside their form. A form that is a bar of actions (.chosen-bar) is shown
// while rows are selected, with their number.
for (const form of document.querySelectorAll("form[data-choose]")) {
  const ticked = [...form.elements].filter(
    (field) => field.type === "checkbox",
  );
  const all = ticked.find((box) => box.matches("[data-choose-all]"));
  const boxes = ticked.filter((box) => box.closest("tbody"));
  const count = form.querySelector("[data-chosen-count]");
  const draw = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    all.checked = chosen > 0 && chosen === boxes.length;
    all.indeterminate = chosen > 0 && !all.checked;
    if (count) {
      form.hidden = !chosen;
      count.value = chosen;
    }
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    draw();
  });
  document.addEventListener("change", ({ target }) => {
    if (target.form === form) draw();
  });
  draw();
}
