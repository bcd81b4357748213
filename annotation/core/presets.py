"""Presets for new campaigns: scale, rules and times, with guidelines generated from the scale.

PRESETS[key].settings      fields of a campaign
DEFAULT_NAMES[n]           names of n grades, for scales without names
guidelines_text(scale)     Markdown that explains the grades, with their examples
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.core.preferences import PREFERENCE_SCALE
from annotation.core.scale import SHAPES


@dataclass(frozen=True)
class Preset:
    """Default settings for new campaigns of one kind of task. settings: fields of a campaign, as in
    `create_campaign`. source: origin of the grades and rules."""

    key: str
    title: str
    says: str
    source: str
    settings: Mapping[str, Any]

    @property
    def guidelines(self) -> str:
        """Return initial guidelines for the preset's scale and passage rules."""
        settings = self.settings
        if settings.get("task") == "preferences":
            return PREFERENCE_GUIDELINES
        return guidelines_text(
            settings["scale"],
            spans=settings["spans"],
            spans_from=settings.get("spans_from", settings["min_relevant"]),
        )


def _make_scale(*grades: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Create the grades of a scale from rows of (name, explanation, example), lowest first."""
    return [
        {
            "value": value,
            "name": name,
            "explanation": explanation,
            "example": example,
            "shape": SHAPES[value],
        }
        for value, (name, explanation, example) in enumerate(grades)
    ]


FOUR_GRADES = _make_scale(
    ("Not relevant", "About something else.", "For “can vitamin d prevent flu”: how to cook rice."),
    (
        "Related",
        "About the topic, but does not answer the query.",
        "For “can vitamin d prevent flu”: what vitamin D is.",
    ),
    (
        "Partly answers",
        "Answers a part of the query.",
        "For “can vitamin d prevent flu”: it was studied in winter, but no result is given.",
    ),
    (
        "Fully answers",
        "Answers the whole query.",
        "For “can vitamin d prevent flu”: a trial found fewer cases with it.",
    ),
)
FIRA_GRADES = _make_scale(
    ("Wrong", "Not about the topic.", "For “can vitamin d prevent flu”: how to cook rice."),
    (
        "Topic",
        "About the topic, but does not answer the query.",
        "For “can vitamin d prevent flu”: what vitamin D is.",
    ),
    (
        "Partial",
        "Answers a part of the query.",
        "For “can vitamin d prevent flu”: it was studied in winter, but no result is given.",
    ),
    (
        "Perfect",
        "Answers the query.",
        "For “can vitamin d prevent flu”: a trial found fewer cases with it.",
    ),
)
TREC_GRADES = _make_scale(
    (
        "Irrelevant",
        "Has nothing to do with the query.",
        "For “how long do cats live”: the weather in Rome.",
    ),
    (
        "Related",
        "Seems related to the query but does not answer it.",
        "For “how long do cats live”: how to feed a cat.",
    ),
    (
        "Highly relevant",
        "Has some answer, but unclear or hidden among other things.",
        "For “how long do cats live”: a long story that names an age once.",
    ),
    (
        "Perfectly relevant",
        "Is dedicated to the query and has the exact answer.",
        "For “how long do cats live”: most live 12 to 18 years.",
    ),
)
TWO_GRADES = _make_scale(
    (
        "Not relevant",
        "Does not help with the query.",
        "For “how long do cats live”: how to feed a cat.",
    ),
    (
        "Relevant",
        "Helps with the query, at least in part.",
        "For “how long do cats live”: most live 12 to 18 years.",
    ),
)
DEFAULT_NAMES = {
    2: tuple(str(grade["name"]) for grade in TWO_GRADES),
    3: ("Not relevant", "Partly relevant", "Relevant"),
    4: tuple(str(grade["name"]) for grade in FOUR_GRADES),
}
"""Default grade names by the number of grades, lowest first."""
PRESETS = {
    preset.key: preset
    for preset in (
        Preset(
            "tripjudge",
            "Graded, three judgements",
            "Four grades, majority vote, full documents. For collections that others will use.",
            "As in TripJudge (Althammer et al. 2022), with other grade names",
            {
                "scale": FOUR_GRADES,
                "min_relevant": 2,
                "judgements_per_pair": 3,
                "target_per_annotator": 300,
                "spans": "off",
                "band": 1,
                "min_active_seconds": 1.0,
                "expected_seconds": 48.0,
            },
        ),
        Preset(
            "fira",
            "Graded with marked passages",
            "Four grades. Annotators mark the words that answer the query. Slower, but easier "
            "to check.",
            "As in FiRA (Hofstätter et al. 2020), without rotated texts",
            {
                "scale": FIRA_GRADES,
                "min_relevant": 2,
                "judgements_per_pair": 3,
                "target_per_annotator": 300,
                "spans": "required",
                "spans_from": 2,
            },
        ),
        Preset(
            "trec",
            "One judgement per pair",
            "Four grades, long blocks of one topic. Fast, and consistent within a topic.",
            "As in the TREC 2019 Deep Learning track (Craswell et al. 2020)",
            {
                "scale": TREC_GRADES,
                "min_relevant": 2,
                "judgements_per_pair": 1,
                "target_per_annotator": 0,
                "spans": "off",
                "block_length": 100,
                "band": 100,
            },
        ),
        Preset(
            "binary",
            "Relevant or not",
            "Two grades, three judgements, so that there is always a majority. For a quick comparison.",
            "As in the first TREC qrels",
            {
                "scale": TWO_GRADES,
                "min_relevant": 1,
                "judgements_per_pair": 3,
                "target_per_annotator": 300,
                "spans": "off",
                "spans_from": 1,
            },
        ),
    )
}
PREFERENCES = Preset(
    "preferences",
    "Two documents side by side",
    "Annotators choose the better of two documents.",
    "As in Clarke et al. (2021)",
    {
        "task": "preferences",
        "scale": PREFERENCE_SCALE,
        "min_relevant": 2,
        "judgements_per_pair": 3,
        "target_per_annotator": 300,
        "spans": "off",
    },
)
"""For pools of battles, whatever the chosen preset."""


def guidelines_text(
    scale: Sequence[Mapping[str, Any]], *, spans: str = "off", spans_from: int = 0
) -> str:
    """Return initial guidelines in Markdown: rules, the grades with explanations and examples, and
    when to use "cannot judge".

    spans: off, optional or required (from the grade spans_from up).
    """
    parts = [
        OPENING_TEXT,
        "## The grades\n\n" + "\n".join(_format_grade(grade) for grade in reversed(scale)),
    ]
    if spans != "off":
        names = ", ".join(
            f"“{grade['name']}”" for grade in scale if int(grade["value"]) >= spans_from
        )
        must = f"For {names} mark" if spans == "required" and names else "You may mark"
        parts.append(
            f"## Passages\n\n{must} the words of the document that answer the query, as few as possible."
        )
    return "\n\n".join([*parts, CANNOT_JUDGE_TEXT])


def _format_grade(grade: Mapping[str, Any]) -> str:
    explained = str(grade.get("explanation") or "say here when to give it").rstrip(".")
    examples = [
        line.strip() for line in str(grade.get("example") or "").splitlines() if line.strip()
    ]
    return "\n".join(
        [f"- **{grade['name']}**: {explained}.", *(f"    - {example}" for example in examples)]
    )


OPENING_TEXT = """# What to do

Read the query, then the document, and choose the grade that fits best.

- Judge each document on its own, as if you had not seen the others.
- Judge what it says about the query, not how well it is written or who wrote it.
- If you hesitate between two grades, choose the lower one."""
CANNOT_JUDGE_TEXT = """## When you cannot judge

Press **0** and choose the reason: the query is unclear, the document is broken, it is in a language that you do not
read, or it needs expertise that you do not have. That is better than a guess.
"""

PREFERENCE_GUIDELINES = f"""# What to do

Read the query, then both documents, and choose the one that answers the query better.

- Judge what they say about the query, not how well they are written or who wrote them.
- Choose “Equally good” if you would accept either.
- Choose “Both bad” if neither answers the query.

{CANNOT_JUDGE_TEXT}"""
