// The authors of the page Publication: empty rows appear on request, rows move up, and removed rows
// are empty, which the server ignores. Without this script all rows are shown.
import { t } from "../words.js";

const list = document.querySelector("[data-authors]");
if (list) {
  const total = document.querySelector("#id_authors-TOTAL_FORMS");
  const add = list.querySelector("[data-add-author]");
  const rowsOf = () => [...list.querySelectorAll("[data-author]")];
  const fieldsOf = (row) => [...row.querySelectorAll("input")];
  const isEmpty = (row) =>
    !row.querySelector(".error") &&
    fieldsOf(row).every((field) => !field.value.trim());
  const shownRows = () => rowsOf().filter((row) => !row.hidden);

  const draw = () => {
    shownRows().forEach((row, index) => {
      row.querySelector("legend").textContent = t("Author {n}", {
        n: index + 1,
      });
      row.querySelector("[data-raise-author]").hidden = index === 0;
      row.querySelector("[data-remove-author]").hidden =
        shownRows().length === 1;
    });
    add.hidden = false;
  };
  const renumber = (row, from, to) => {
    for (const element of row.querySelectorAll("*"))
      for (const name of ["id", "name", "for", "aria-describedby"]) {
        const value = element.getAttribute(name);
        if (value)
          element.setAttribute(
            name,
            value.replaceAll(`authors-${from}-`, `authors-${to}-`),
          );
      }
  };
  const addRow = () => {
    const rows = rowsOf();
    const last = rows.at(-1);
    let row = last;
    if (!last.hidden) {
      row = last.cloneNode(true);
      renumber(row, rows.length - 1, rows.length);
      for (const error of row.querySelectorAll(".error")) error.remove();
      last.after(row);
      total.value = String(rows.length + 1);
    } else {
      row = rows.find((one) => one.hidden);
      // behind the rows shown, whose order is that of the citation
      shownRows().at(-1)?.after(row);
    }
    clear(row);
    row.hidden = false;
    draw();
    fieldsOf(row)[0].focus();
  };
  const clear = (row) => {
    for (const field of fieldsOf(row)) {
      field.value = "";
      field.removeAttribute("aria-invalid");
    }
    for (const error of row.querySelectorAll(".error")) error.remove();
  };
  const swap = (one, other) => {
    fieldsOf(one).forEach((field, index) => {
      const twin = fieldsOf(other)[index];
      [field.value, twin.value] = [twin.value, field.value];
    });
  };

  list.addEventListener("click", (event) => {
    const row = event.target.closest("[data-author]");
    if (event.target.closest("[data-add-author]")) addRow();
    if (event.target.closest("[data-raise-author]")) {
      const shown = shownRows();
      const above = shown[shown.indexOf(row) - 1];
      swap(row, above);
      above.querySelector("input").focus();
    }
    if (event.target.closest("[data-remove-author]")) {
      clear(row);
      row.hidden = true;
      draw();
      add.focus();
    }
  });
  rowsOf().forEach((row, index) => {
    row.hidden = index > 0 && isEmpty(row);
  });
  draw();
}
