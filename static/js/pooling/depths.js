// The slider over the depths of a pool shows the cost of each without a request. Slider and depth
// field follow each other.

import { locale, number, t } from "../words.js";

const hours = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

function ready(field) {
  if (!field.hidden) return;
  const slider = field.querySelector("input");
  const says = field.querySelector("output");
  const depth = document.getElementById("build-depth");
  const pairs = field.dataset.depths.split(" ").map(Number);
  const draw = () => {
    const n = pairs[slider.value - 1];
    const judgements = n * Number(field.dataset.judgements);
    const cost = hours.format(
      (judgements * Number(field.dataset.seconds)) / 3600,
    );
    const figures = {
      depth: slider.value,
      pairs: number(n),
      judgements: number(judgements),
      hours: cost,
    };
    says.textContent = t(
      "Depth {depth}: {pairs} pairs, {judgements} judgements, {hours} hours",
      figures,
    );
    slider.setAttribute("aria-valuetext", says.textContent);
  };
  slider.addEventListener("input", () => {
    depth.value = slider.value;
    draw();
  });
  depth.addEventListener("input", () => {
    const known = depth.value >= 1 && depth.value <= pairs.length;
    if (!known) says.textContent = t("Not counted at this depth.");
    if (!known) return;
    slider.value = depth.value;
    draw();
  });
  field.hidden = false;
  draw();
}

const look = () => document.querySelectorAll("[data-depths]").forEach(ready);
document.addEventListener("htmx:afterSettle", look); // the page is reloaded when its job has finished
look();
