"""Pictures and figures of answers with undefined values and hostile names. Answers are written by hand in the commands' form."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from analysis.figures.canvas import draw_all
from analysis.reports.pictures import pictures_of
from analysis.reports.tables import tables_of

HOSTILE = '$\\frac{<b>&"x"$'


def rankings(tau: float | None) -> dict[str, Any]:
    def both(value: Any) -> dict[str, Any]:
        return {"AP": {"A": {"B": value}, "B": {"A": value}}}

    means = {tag: {"AP": 0.5} for tag in (HOSTILE, "plain")}
    return {
        "tau": both(tau),
        "tau_a": both(tau),
        "tau_ap": both(tau),
        "interval": both([tau, tau]),
        "swaps": both([]),
        "tied": {"AP": {"A": 1, "B": 1}},
        "topics": {"A": {"B": 3}},
        "qrels": {"A": means, "B": means},
    }


UNDEFINED: list[tuple[str, dict[str, Any], str]] = [
    ("compare_rankings", rankings(None), "Tau is undefined"),
    (
        "label_overlap",
        {
            "clicks": {"pairs": 0, "relevant": {"unlabelled": None, "0": None}, "irrelevant": {"unlabelled": None, "0": None}}
            | dict.fromkeys(("agree", "disagree"), None)
            | dict.fromkeys(("both", "judged_only", "clicked_only", "contradicting"), 0)
        },
        "No judged pair is among those considered",
    ),
    (
        "evaluate",
        {
            "qrels": {"q": {"a": {"AP": None}}},
            "topics": {"q": {"qrels": 1, "without_relevant": 1, "missing": {"a": 1}, "ignored": {"a": 0}, "averaged": {"a": 0}}},
        },
        "No run has a defined score",
    ),
    (
        "stability",
        {
            "element": "topics",
            "population": 4,
            "size": 2,
            "pairs": 2,
            "threshold": 0.9,
            "levels": [1.0],
            "shared": [2],
            "probability": {"AP": [0.0]},
            "mean_tau": {"AP": [None]},
            "undefined": {"AP": [2]},
            "fit": {"AP": {"slope": None, "intercept": None}},
            "minimum_overlap": {"AP": None},
        },
        "Tau is undefined throughout",
    ),
    (
        "reusability",
        {
            "leave_out": {"a": {"pairs": 0, "tau": {"AP": None}, "runs": {"a": {"score_change": {"AP": 0.0}, "rank_change": {"AP": 0.0}}}}},
            "depth": {"1": {"pairs": 3, "tau": {"AP": None}, "mean_abs_change": {"AP": 0.0}}},
            "undefined": "one run makes no ranking of systems",
            "pool_depth": 1,
            "qrels_pairs": 3,
            "topics": 1,
        },
        "one run makes no ranking of systems",
    ),
]


@pytest.mark.parametrize(
    ("kind", "result", "words"), UNDEFINED, ids=lambda value: value if isinstance(value, str) and " " not in value else ""
)
def test_what_is_undefined_is_said_in_words_and_drawn_nowhere(kind: str, result: dict[str, Any], words: str) -> None:
    pictures = "".join(pictures_of(kind, result))
    assert words in pictures
    assert "nan" not in pictures.lower().replace("nanos", "")
    assert ">None<" not in pictures
    assert tables_of(kind, result)
    draw_all(kind, result)


def test_names_are_text_in_pictures_and_figures() -> None:
    result = rankings(0.5)
    for picture in pictures_of("compare_rankings", result):
        assert "<b>" not in picture
        ElementTree.fromstring(picture)
    files = draw_all("evaluate", {"qrels": {"q": {HOSTILE: {"AP": 0.25}}}})
    text = "".join(ElementTree.fromstring(files["scores-1.svg"]).itertext())
    assert HOSTILE in text


def test_figures_of_the_same_answer_are_the_same_bytes() -> None:
    assert draw_all("compare_rankings", rankings(0.5)) == draw_all("compare_rankings", rankings(0.5))


def test_a_radar_has_the_elements_as_axes_once_three_are_known() -> None:
    one = UNDEFINED[3][1]
    kin = [one | {"element": element, "minimum_overlap": {"AP": least}} for element, least in (("documents", 0.4), ("assessments", 0.8))]
    radar = pictures_of("stability", one, kin=kin)[-1]
    for words in ("assessments 80 %", "documents 40 %", "topics 100 %"):
        assert words in radar
