// Which line breaks are a machine's and are joined on the page, and which stay. Places stay those of the stored text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { paragraphs } from "../../static/js/judge/text.js";

const shown = (text) =>
  paragraphs(text, { start: 0, end: text.length }).map(
    ({ start, end, kind }) => [kind, text.slice(start, end)],
  );
const kinds = (text) => shown(text).map(([kind]) => kind);

const STAY = {
  verse:
    "The river takes the colour of the morning\nAnd gives it to the windows of the mill;\nThe miller's daughter wakes without a warning\nAnd hears the wheel, and finds the water still.",
  "verse in small letters":
    "walking out late\nunder a low moon\nthe dog goes first\nand i go soon\n",
  "verse of long lines":
    "we went down slowly through the yellow barley field,\nthe hill behind us, evening ahead,\nand nothing that the summer had concealed\ncould hide from us what autumn said,\nand no one spoke",
  "a list without signs":
    "two large onions, peeled and chopped fine\n500 g of flour\nsalt\none glass of white wine, dry\nolive oil for the pan\npepper",
  "verse whose sentences run over lines (Hardy, 1866)":
    "“Your hands were like paws then, your face blue and bleak\nBut now I’m bewitched by your delicate cheek,\nAnd your little gloves fit like as on any la-dy!”\n“We never do work when we’re ruined,” said she.",
  "verse in small letters that stops at its ends":
    "the barley bent before the summer rain,\nand all of us who stood there at the gate\nremembered how the cart came home again,\nthe driver singing, though the hour was late.\nwe waited there, and nobody would say\nthat what he sang was of another day.",
  "indented verse":
    "the miller went down to the river to see\n     what the frost had done to the\nwheel and the weir and the willow-tree\n     that he planted there with the\nhands of a boy who was hardly three\n     and is now as old as the",
  "a list of ends":
    "bring to the walk, for an hour at least:\nwater for each of those that come with\nyou, and bread;\na coat against the rain and wind;\na stick;\nsomething to read while the others are\nasleep;\na lamp, for it will be dark at seven.",
  "free verse whose sentences begin within lines (Williams, 1923)":
    "By the road to the contagious hospital\nunder the surge of the blue\nmottled clouds driven from the\nnortheast—a cold wind. Beyond, the\nwaste of broad, muddy fields\nbrown with dried weeds, standing and fallen",
  "a list of long words":
    "evaluation of the effects of radiation on the kidney\ndetermination of glomerular filtration in infants\ncomparison of methods that measure the concentration of renin\nhypertrophy of the adrenals",
  "a list of sentences without stops":
    "the absorption of insulin was measured after exercise\nthe concentration of glucose was determined every morning\nparticipants were interviewed\ncomplications have been documented by the physicians",
  "a list of sentences":
    "the absorption of insulin was measured after exercise.\nthe concentration of glucose was determined every morning.\nparticipants were interviewed.\ncomplications have been documented by the physicians.",
  names:
    "Alice Brown, University of Northern Towns\nRobert Greenfield, Institute of Measurements\nMaria Whitestone, College of the Eastern Coast\nJohn Blackwood, Academy of the Western Plains",
  code: "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n    return total / len(values)",
  query:
    "select topic, count(*) from judgements where grade = 3 and member = 17;\nselect topic, count(*) from judgements where grade = 2 and member = 17;\nselect topic, count(*) from judgements where grade = 1 and member = 17;",
  table: "name        n    mean\nwalking    12    5.31\nstrength   10    5.80",
  "numbers of equal length":
    "0.123 0.456 0.789 0.123 0.456 0.789 0.123 0.456 0.789\n0.223 0.556 0.889 0.223 0.556 0.889 0.223 0.556 0.889\n0.323 0.656 0.989 0.323 0.656 0.989 0.323 0.656 0.989",
  quotations:
    "> that is what she had written to all of us on the list\n> and it is still true today, whatever the others say of\n> the measure, which nobody has computed since then now",
};

for (const [name, text] of Object.entries(STAY)) {
  test(`the lines of ${name} stay`, () =>
    assert.ok(!kinds(text).includes("wrapped"), JSON.stringify(shown(text))));
}

test("prose whose lines were filled by a machine is joined", () => {
  const text =
    "Walking after each meal lowered the blood sugar of all the\npatients who took part in the trial, which lasted for twelve\nweeks and was repeated once.";
  assert.deepEqual(shown(text), [["wrapped", text]]);
});

test("prose that was broken twice, so that its lines are long and short by turns, is joined", () => {
  const text =
    "the walkers of the trial were seen by two nurses\nevery week.  those who came less\nthan three times were asked why, and most had\nforgotten.  nothing else\nkept them away from the ward in all twelve weeks";
  assert.deepEqual(shown(text), [["wrapped", text]]);
});

test("what is told in long words is joined, wherever its lines end", () => {
  const text =
    "a modified technique is described for concentration\nof microfilariae,\nsuitable for examination.";
  assert.deepEqual(shown(text), [["wrapped", text]]);
});

test("numbers of items in brackets make no code of prose", () => {
  const parts = [
    "the following conclusions have been drawn from the examination of eleven\npatients.",
    "  (1) urinary excretion is estimated in all patients who were subjected to\nradiotherapy.",
    "  (2) suppression of ovarian function is indicated within two weeks of the\ntreatment.",
  ];
  assert.deepEqual(
    shown(parts.join("\n")),
    parts.map((part) => ["wrapped", part]),
  );
});

test("an indent, an item and a short last line each begin a paragraph of their own", () => {
  const parts = [
    "The first paragraph is as long as a line of the typist, and it\nends early.",
    "  The second one is indented, as typists used to do when paper\nwas dear and lines were counted.",
    "1. The first result concerns the walkers, of whom there were as\nmany as runners.",
    "2. The second result concerns the runners, and it is as long as\nthe first.",
  ];
  assert.deepEqual(
    shown(parts.join("\n")),
    parts.map((part) => ["wrapped", part]),
  );
});

test("a code block between wrapped paragraphs stays", () => {
  const prose =
    "Walking after each meal lowered the blood sugar of all the\npatients who took part in the trial, which lasted for twelve\nweeks and was repeated once.";
  assert.deepEqual(
    kinds(`${prose}\n\n>>> rows = []\n>>> rows\n[]\n\n${prose}`),
    ["wrapped", "fixed", "wrapped"],
  );
});

/** Texts of a collection in SMART form: what stands under .W. */
function smart(path) {
  const records = gunzipSync(readFileSync(path))
    .toString()
    .split(/^\.I .*$/m)
    .slice(1);
  return records
    .map((record) => record.split(/^\.W\s*$/m)[1]?.trim() ?? "")
    .filter((text) => text.includes("\n"));
}

const data = process.env.ASSAY_TEST_DATA;
// [file, texts of more than one line, how many keep a line break]: nearly all abstracts were typed in lines (68 % and 88 % kept them in the first version).
// What still does is a table among MEDLINE's and one abstract that stops at most of its ends, and of Cranfield's one without a verb.
const COLLECTIONS = [
  ["medline-1033/MED.ALL.gz", 1033, 2],
  ["cranfield/smart/cran.all.1400.gz", 1398, 1],
];
for (const [file, n, most] of COLLECTIONS) {
  test(
    `abstracts of ${file.split("/")[0]} are joined`,
    { skip: data ? false : "ASSAY_TEST_DATA is not set" },
    () => {
      const texts = smart(`${data}/${file}`);
      assert.equal(texts.length, n);
      const kept = texts.filter((text) =>
        shown(text).some(
          ([kind, part]) => kind !== "wrapped" && part.trim().includes("\n"),
        ),
      );
      assert.ok(kept.length <= most, `${kept.length} of ${n} keep line breaks`);
      for (const text of texts)
        assert.equal(
          shown(text)
            .map(([, part]) => part)
            .join("")
            .replace(/\s/g, ""),
          text.replace(/\s/g, ""),
        ); // nothing lost
    },
  );
}
