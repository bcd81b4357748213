// One box in the head of a list chooses all rows of the page; it is there only with this script.
for (const form of document.querySelectorAll("form[data-choose]")) {
  const all = form.querySelector("[data-choose-all]");
  const boxes = () => [...form.querySelectorAll("tbody input[type=checkbox]")];
  const draw = () => {
    const chosen = boxes().filter((box) => box.checked).length;
    all.checked = chosen > 0 && chosen === boxes().length;
    all.indeterminate = chosen > 0 && !all.checked;
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
  });
  form.addEventListener("change", draw);
  draw();
}
