// The slider over the depths of a pool shows the cost of each without a request. Slider and depth
// field follow each other, and the cost follows the way of selecting pairs.

import { locale, number, t } from "../words.js";

const hours = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

function ready(form) {
  const field = form.querySelector(".depth-slider");
  if (!field?.hidden) return;
  const slider = field.querySelector("input");
  const says = field.querySelector("output");
  const depth = document.getElementById("build-depth");
  const perPair = document.getElementById("cost-judgements");
  const seconds = document.getElementById("cost-seconds");
  const pairs = form.dataset.depths.split(" ").map(Number);
  const figuresOf = (share) => {
    const n = Math.round(pairs[slider.value - 1] * share);
    const judgements = n * perPair.value;
    return {
      depth: slider.value,
      pairs: number(n),
      judgements: number(judgements),
      hours: hours.format((judgements * seconds.value) / 3600),
    };
  };
  const draw = () => {
    const chosen = form.querySelector("[name=kind]:checked");
    const share = Number(chosen?.dataset.share ?? 1);
    for (const shown of form.querySelectorAll("[data-figure]")) {
      const own = shown.closest("[data-share]")?.dataset.share;
      shown.textContent = figuresOf(own ?? share)[shown.dataset.figure];
    }
    says.textContent = t(
      "Depth {depth}: {pairs} pairs, {judgements} judgements, {hours} hours",
      figuresOf(share),
    );
    slider.setAttribute("aria-valuetext", says.textContent);
  };
  slider.addEventListener("input", () => {
    depth.value = slider.value;
    draw();
  });
  depth.addEventListener("input", () => {
    const known = depth.value >= 1 && depth.value <= pairs.length;
    if (!known) says.textContent = t("Not calculated for this depth.");
    if (!known) return;
    slider.value = depth.value;
    draw();
  });
  for (const cost of [perPair, seconds]) cost.addEventListener("input", draw);
  for (const kind of form.querySelectorAll("[name=kind]"))
    kind.addEventListener("change", draw);
  field.hidden = false;
  draw();
}

const look = () => document.querySelectorAll("[data-depths]").forEach(ready);
document.addEventListener("htmx:afterSettle", look); // the page is reloaded when its job has finished
look();
