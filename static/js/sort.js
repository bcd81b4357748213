// Sortable tables: <table data-sortable>. A cell may have data-value if its text is not the sort
// key.

const collator = new Intl.Collator(undefined, {
  numeric: true,
  sensitivity: "base",
});

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell?.dataset.value ?? cell?.textContent.trim() ?? "";
  const number = Number(text.replace("−", "-").replace(/[\s,\u202f%]/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return collator.compare(a, b);
}

export function sortable(table) {
  if (table.dataset.sortableReady) return;
  table.dataset.sortableReady = "yes";
  const heads = [
    ...(table.tHead?.rows[table.tHead.rows.length - 1].cells ?? []),
  ];
  heads.forEach((head, column) => {
    if (head.dataset.sort === "none" || head.textContent.trim() === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down =
        head.getAttribute("aria-sort") === "ascending" ||
        (!head.hasAttribute("aria-sort") && head.classList.contains("number"));
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      // Empty cells ("undefined") remain last in both directions.
      const rows = [...body.rows].map((row, place) => ({
        row,
        place,
        value: valueOf(row, column),
      }));
      rows.sort((a, b) => {
        const emptyA = a.value === "" || a.value === "–",
          emptyB = b.value === "" || b.value === "–";
        if (emptyA !== emptyB) return emptyA ? 1 : -1;
        return (down ? -1 : 1) * compare(a.value, b.value) || a.place - b.place;
      });
      body.append(...rows.map(({ row }) => row));
    });
  });
}
