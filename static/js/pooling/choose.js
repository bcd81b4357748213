// A checkbox in the header of a list selects all rows of the page. It exists only with this script.
// The checkboxes may be outside their form, and may be replaced by htmx. A form that is a bar of
// actions (.chosen-bar) is shown while rows are selected, with their number.
for (const form of document.querySelectorAll("form[data-choose]")) {
  const find = (selector) =>
    [...form.elements].filter(
      (field) => field.type === "checkbox" && field.closest(selector),
    );
  const count = form.querySelector("[data-chosen-count]");
  const draw = () => {
    const [all] = find("[data-choose-all]");
    const boxes = find("tbody");
    const chosen = boxes.filter((box) => box.checked).length;
    if (all) {
      all.hidden = false;
      all.checked = chosen > 0 && chosen === boxes.length;
      all.indeterminate = chosen > 0 && !all.checked;
    }
    if (count) {
      form.hidden = !chosen;
      count.value = chosen;
    }
  };
  document.addEventListener("change", ({ target }) => {
    if (target.form !== form) return;
    if (target.matches("[data-choose-all]"))
      for (const box of find("tbody")) box.checked = target.checked;
    draw();
  });
  document.addEventListener("htmx:afterSettle", draw);
  draw();
}
