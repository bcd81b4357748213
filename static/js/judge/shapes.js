// The symbol of a grade, shown with its colour. The same symbols as in templates/_shape.html.

const SHAPES = {
  cross: [["path", { d: "M3.5 3.5l9 9M12.5 3.5l-9 9" }]],
  ring: [["circle", { cx: 8, cy: 8, r: 6 }]],
  half: [
    ["circle", { cx: 8, cy: 8, r: 6 }],
    [
      "path",
      { d: "M8 2a6 6 0 0 1 0 12z", fill: "currentColor", stroke: "none" },
    ],
  ],
  disc: [
    ["circle", { cx: 8, cy: 8, r: 7, fill: "currentColor", stroke: "none" }],
  ],
  triangle: [["path", { d: "M8 2.5l6 11H2z" }]],
  square: [["path", { d: "M3 3h10v10H3z" }]],
  diamond: [["path", { d: "M8 1.5L14.5 8 8 14.5 1.5 8z" }]],
  star: [
    [
      "path",
      {
        d: "M8 1l2.1 4.6 4.9.5-3.7 3.3 1.1 4.9L8 11.8l-4.4 2.5 1.1-4.9L1 6.1l4.9-.5z",
        fill: "currentColor",
        stroke: "none",
      },
    ],
  ],
  plus: [["path", { d: "M8 2v12M2 8h12" }]],
};
const ORDER = [
  "cross",
  "ring",
  "half",
  "disc",
  "square",
  "triangle",
  "diamond",
  "plus",
  "star",
];
const SVG = "http://www.w3.org/2000/svg";

export function shape(name, place = 0) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 16 16",
    class: "shape",
    "aria-hidden": "true",
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 2,
  }))
    svg.setAttribute(key, value);
  for (const [tag, attributes] of SHAPES[name] ??
    SHAPES[ORDER[place % ORDER.length]]) {
    const part = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes))
      part.setAttribute(key, value);
    svg.append(part);
  }
  return svg;
}
