// Keys of the page of a pair: 1, 2, … choose a grade, the same key again or Enter saves. Links,
// buttons and folds with data-key have a key of their own, such as z for the undo of a saved label.

const form = document.querySelector("#adjudicate");

function isTyping(target) {
  return (
    target.closest("textarea, select, button, a, summary, dialog") ||
    (target.matches("input") && target.type !== "radio")
  );
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return;
  if (key === "Escape" && target.matches("textarea")) return target.blur();
  if (isTyping(target)) return;
  const chosen = form?.querySelector("input[name=grade]:checked");
  const grade = /^[1-9]$/.test(key)
    ? form?.querySelectorAll("input[name=grade]")[Number(key) - 1]
    : undefined;
  const other = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (grade && grade === chosen && !event.repeat) form.requestSubmit();
  else if (grade) {
    grade.checked = true;
    grade.focus();
  } else if (key === "Enter" && chosen) form.requestSubmit();
  else if (other?.matches("details")) other.open = !other.open;
  else if (other) other.click();
  else return;
  event.preventDefault();
});
