"""Pictures and figures of answers with undefined values and hostile names. Answers are written by
hand in the commands' form."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from analysis.systems.figures import render_figures
from analysis.systems.kinds import KINDS
from assay.tabular import format_rank, to_latex
from tests.assay.charts.forms import usual

PRINTS_PICTURES = True

HOSTILE = '$\\frac{<b>&"x"$'


def rankings(tau: float | None) -> dict[str, Any]:
    def both(value: Any) -> dict[str, Any]:
        return {"AP": {"A": {"B": value}, "B": {"A": value}}}

    means = {tag: {"AP": 0.5} for tag in (HOSTILE, "plain")}
    return {
        "tau": both(tau),
        "tau_a": both(tau),
        "tau_ap": both(tau),
        "tau_ap_variant": both("tau_ap"),
        "rbo": both(None),
        "interval": both([tau, tau]),
        "interval_reason": both("3 topics; a confidence interval needs 10"),
        "undecided": both([]),
        "swaps": both([]),
        "tied": {"AP": {"A": 1, "B": 1}},
        "topics": {"A": {"B": 3}},
        "qrels": {"A": means, "B": means},
        "evaluated": {},
    }


UNDEFINED: list[tuple[str, dict[str, Any], str]] = [
    ("compare_rankings", rankings(None), "Tau is undefined"),
    (
        "label_overlap",
        {
            "clicks": {
                "pairs": 0,
                "relevant": {"unlabelled": None, "0": None},
                "irrelevant": {"unlabelled": None, "0": None},
            }
            | dict.fromkeys(("agree", "disagree"), None)
            | dict.fromkeys(("both", "judged_only", "clicked_only", "contradicting"), 0)
        },
        "None of the pairs considered is judged",
    ),
    (
        "evaluate",
        {
            "qrels": {"q": {"a": {"AP": None}}},
            "topics": {
                "q": {
                    "qrels": 1,
                    "without_relevant": 1,
                    "missing": {"a": 1},
                    "ignored": {"a": 0},
                    "averaged": {"a": 0},
                }
            },
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
            "leave_out": {
                "a": {
                    "pairs": 0,
                    "tau": {"AP": None},
                    "runs": {"a": {"score_change": {"AP": 0.0}, "rank_change": {"AP": 0.0}}},
                }
            },
            "depth": {"1": {"pairs": 3, "tau": {"AP": None}, "mean_abs_change": {"AP": 0.0}}},
            "undefined": "there is only one run of systems",
            "pool_depth": 1,
            "qrels_pairs": 3,
            "topics": 1,
        },
        "there is only one run of systems",
    ),
]


@pytest.mark.parametrize(
    ("kind", "result", "words"),
    UNDEFINED,
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_what_is_undefined_is_said_in_words_and_drawn_nowhere(
    kind: str, result: dict[str, Any], words: str
) -> None:
    pictures = "".join(KINDS[kind].pictures(result))
    assert words in pictures
    assert "nan" not in pictures.lower().replace("nanos", "")
    assert ">None<" not in pictures
    assert KINDS[kind].tables(result)
    render_figures(kind, result)


def test_one_topic_and_one_pair_are_said_in_the_singular() -> None:
    [reusability] = [result for kind, result, _ in UNDEFINED if kind == "reusability"]
    notes = " ".join(
        table.note for table in KINDS["reusability"].tables(reusability | {"qrels_pairs": 1})
    )
    assert "qrels of 1 pair, 1 topic." in notes


def test_names_are_text_in_pictures_and_figures() -> None:
    result = rankings(0.5)
    for picture in KINDS["compare_rankings"].pictures(result):
        assert "<b>" not in picture
        ElementTree.fromstring(picture)
    counts = {
        "qrels": 1,
        "without_relevant": 0,
        "missing": {HOSTILE: 0},
        "ignored": {HOSTILE: 0},
        "averaged": {HOSTILE: 1},
    }
    files = render_figures(
        "evaluate", {"qrels": {"q": {HOSTILE: {"AP": 0.25}}}, "topics": {"q": counts}}
    )
    assert sorted(files) == ["figure-1.pdf", "figure-1.png", "figure-1.svg"]
    assert HOSTILE in "".join(ElementTree.fromstring(files["figure-1.svg"]).itertext())


def test_figures_of_the_same_answer_are_the_same_bytes() -> None:
    assert render_figures("compare_rankings", rankings(0.5)) == render_figures(
        "compare_rankings", rankings(0.5)
    )


def test_a_radar_has_the_elements_as_axes_once_three_are_known() -> None:
    one = UNDEFINED[3][1]
    kin = [
        one | {"element": element, "minimum_overlap": {"AP": least}}
        for element, least in (("documents", 0.4), ("assessments", 0.8))
    ]
    radar = KINDS["stability"].pictures(one, related_results=kin)[-1]
    for words in ("assessments 80%", "documents 40%", "topics 100%"):
        assert words in radar


MEANS = {
    "a": {"AP": 0.2, "P@5": 0.9},
    "b10": {"AP": 0.7, "P@5": None},
    "b9": {"AP": 0.7, "P@5": 0.95},
}
EVALUATED = {
    "qrels": {"q": MEANS},
    "topics": {
        "q": {
            "qrels": 3,
            "without_relevant": 0,
            "missing": dict.fromkeys(MEANS, 0),
            "ignored": dict.fromkeys(MEANS, 0),
            "averaged": dict.fromkeys(MEANS, 3),
        }
    },
    "per_topic": {
        "q": {"a": {"AP": {"1": 0.1, "10": 0.2, "2": 0.3}, "P@5": {"1": 0.0, "10": 0.0, "2": 0.0}}}
    },
}


def row_names(picture: str) -> list[str]:
    return [
        th.text or ""
        for th in ElementTree.fromstring(picture).iter("th")
        if th.get("scope") == "row"
    ]


def test_scores_stand_best_first_for_every_measure_from_zero_on() -> None:
    by_ap, by_p5 = KINDS["evaluate"].pictures(EVALUATED)
    assert row_names(by_ap) == ["b9", "b10", "a"]
    assert row_names(by_p5) == ["b9", "a", "b10"]
    assert by_ap.count("no topic of the run counts") == 0
    assert (
        by_p5.count("no topic of the run counts") == 3
    )  # of b10: its words in both forms, and its note
    ticks = [text.text for text in usual(by_p5).iter("{http://www.w3.org/2000/svg}text")]
    assert "0" in ticks


def with_intervals(**ends: list[float | None]) -> dict[str, Any]:
    """AP of three runs: means .2, .4, .8; an interval of those that are named, else a reason."""
    means = {"a": {"AP": 0.2}, "b": {"AP": 0.4}, "c": {"AP": 0.8}}
    return EVALUATED | {
        "qrels": {"q": means},
        "interval": {"q": {tag: {"AP": ends.get(tag, [None, None])} for tag in means}},
        "interval_reason": {
            "q": {
                tag: {} if tag in ends else {"AP": "24 topics; a confidence interval needs 25"}
                for tag in means
            }
        },
    }


def lines_and_points(picture: str) -> tuple[list[tuple[float, float]], list[float]]:
    """Ends of the lines beside points, and places of the points, of a page's picture."""
    root = usual(picture)
    lines = [
        one for one in root.iter("{http://www.w3.org/2000/svg}line") if one.get("class") == "l1"
    ]
    points = [float(one.get("cx", "")) for one in root.iter("{http://www.w3.org/2000/svg}circle")]
    return [(float(one.get("x1", "")), float(one.get("x2", ""))) for one in lines], points


def test_scores_have_their_intervals_as_lines_and_the_caption_says_what_they_are() -> None:
    [picture] = KINDS["evaluate"].pictures(with_intervals(a=[0.1, 0.3], c=[0.7, 0.9]))
    lines, points = lines_and_points(picture)
    unit = (points[0] - points[2]) / (0.8 - 0.2)
    assert [
        (points[k] - low, high - points[k]) for k, (low, high) in zip((0, 2), lines, strict=True)
    ] == [(pytest.approx(0.1 * unit, abs=0.2), pytest.approx(0.1 * unit, abs=0.2))] * 2
    assert "with 95% CI over topics if there is one (reasons in the table below)" in picture
    [table] = [
        one
        for one in KINDS["evaluate"].tables(with_intervals(a=[0.1, 0.3]))
        if one.key == "intervals"
    ]
    assert table.rows == [
        ["q", "a", "AP", 0.2, 0.1, 0.3, ""],
        ["q", "b", "AP", 0.4, None, None, "24 topics; a confidence interval needs 25"],
        ["q", "c", "AP", 0.8, None, None, "24 topics; a confidence interval needs 25"],
    ]


def test_where_no_score_has_an_interval_the_caption_says_why_and_older_reports_say_nothing() -> (
    None
):
    [picture] = KINDS["evaluate"].pictures(with_intervals())
    assert "; no confidence interval: 24 topics; a confidence interval needs 25" in picture
    assert lines_and_points(picture)[0] == []
    [older] = KINDS["evaluate"].pictures(
        {key: value for key, value in with_intervals().items() if not key.startswith("interval")}
    )
    assert "interval" not in older


def test_topics_stand_in_natural_order_in_tables_and_their_downloads() -> None:
    table = KINDS["evaluate"].tables(EVALUATED)[-1]
    assert [row[1] for row in table.rows] == ["1", "2", "10"]
    latex = to_latex(table)
    assert latex.index("a & 2 &") < latex.index("a & 10 &")


def stable(measures: list[str]) -> dict[str, Any]:
    return {
        "element": "topics",
        "population": 4,
        "size": 2,
        "pairs": 2,
        "threshold": 0.9,
        "levels": [0.0, 0.5, 1.0],
        "shared": [0, 1, 2],
        "probability": {name: [0.0, 0.6, 1.0] for name in measures},
        "mean_tau": {name: [0.1, 0.5, 1.0] for name in measures},
        "undefined": {name: [0, 0, 0] for name in measures},
        "fit": {name: {"slope": 1.2, "intercept": 0.0} for name in measures},
        "minimum_overlap": dict.fromkeys(measures, 1.0),
    }


def test_the_fitted_line_stands_with_its_curve_and_no_radar_has_fewer_than_three_axes() -> None:
    kind = KINDS["stability"]
    found = kind.pictures(stable(["AP", "nDCG"]), [])
    assert len(found) == 2
    svg = usual(found[0])
    thin = [
        line
        for line in svg.iter("{http://www.w3.org/2000/svg}polyline")
        if "thin" in (line.get("class") or "")
    ]
    assert [line.get("class") for line in thin] == ["l1 thin", "l2 thin"]
    frame = [float(pair.split(",")[1]) for line in thin for pair in line.get("points", "").split()]
    assert min(frame) >= 26  # the line ends where it reaches 1, at the top of the frame
    assert len(kind.pictures(stable(["AP", "nDCG", "Bpref"]), [])) == 3


def test_ranks_have_no_decimals_unless_ties_give_them_some() -> None:
    assert [format_rank(rank) for rank in (1.0, 2.5, None, -3.0)] == [1, 2.5, None, -3]
    assert isinstance(format_rank(1.0), int)


def test_bars_of_click_labels_show_the_shares_that_the_figure_for_print_shows() -> None:
    shares = {
        "relevant": {"unlabelled": 0.125, "1": 0.25},
        "irrelevant": {"unlabelled": 0.5, "1": 0.125},
    }
    counts = dict.fromkeys(
        ("agree", "disagree", "both", "judged_only", "clicked_only", "contradicting"), 0
    )
    [picture] = KINDS["label_overlap"].pictures({"clicks": {"pairs": 8, **shares, **counts}})
    svg = usual(picture)
    bars = [
        rect
        for rect in svg.iter("{http://www.w3.org/2000/svg}rect")
        if "bar" in (rect.get("class") or "")
    ]
    widths = [float(bar.get("width", "0")) for bar in bars]
    assert [round(width / widths[0]) for width in widths] == [1, 2, 4, 1]
    tips = [title.text for bar in bars for title in bar]
    assert tips[1] == "clicks: relevant, agree, label 1: 2 (25%)"
    assert [(bar.get("class") or "").split()[0] for bar in bars] == [
        "apart",
        "agree1",
        "apart",
        "disagree1",
    ]
