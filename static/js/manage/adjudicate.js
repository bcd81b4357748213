// Keys of the page of a disputed pair: 1, 2, … choose a grade, Enter saves and continues, n and b
// go to the next and the previous pair, z undoes the last saved decision, also on the page after
// the last pair.

const form = document.querySelector("#adjudicate");

function isTyping(target) {
  return (
    target.closest("textarea, select, button, a, summary, dialog") ||
    (target.matches("input") && target.type !== "radio")
  );
}

document.addEventListener("keydown", (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.isComposing ||
    isTyping(event.target)
  )
    return;
  const grades = form?.querySelectorAll("input[name=grade]") ?? [];
  const grade = /^[1-9]$/.test(event.key)
    ? grades[Number(event.key) - 1]
    : undefined;
  if (grade) {
    grade.checked = true;
    grade.focus();
  } else if (
    event.key === "Enter" &&
    form?.querySelector("input[name=grade]:checked")
  ) {
    form.requestSubmit();
  } else if (event.key === "n" || event.key === "b") {
    document
      .querySelector(`a[rel=${event.key === "n" ? "next" : "prev"}]`)
      ?.click();
  } else if (event.key === "z") {
    document.querySelector("[data-undo]")?.click();
  } else {
    return;
  }
  event.preventDefault();
});
