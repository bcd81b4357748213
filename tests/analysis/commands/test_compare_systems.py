"""compare_systems and plan_study on plain files."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from assay.analyses.shared.planning import parse_depths
from assay.comparison.system_comparison import assign_letters, list_pairs
from assay.comparison.verdict_sentences import make_groups_column
from tests.analysis.commands.called import answer, refused
from tests.analysis.commands.ranked_files import files, printed


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """Six topics, one relevant document r each: `good` has it first, `late` at rank 2, `mixed`
    first in three topics and nowhere else."""
    good = "".join(f"{t} Q0 r 1 2 good\n{t} Q0 x 2 1 good\n" for t in range(6))
    late = "".join(f"{t} Q0 x 1 2 late\n{t} Q0 r 2 1 late\n" for t in range(6))
    mixed = "".join(f"{t} Q0 {'r' if t < 3 else 'x'} 1 2 mixed\n" for t in range(6))
    return files(
        tmp_path, qrels="".join(f"{t} 0 r 1\n" for t in range(6)), good=good, late=late, mixed=mixed
    )


def test_every_pair_has_the_keys_of_the_contract_and_the_numbers_of_the_hand(
    arguments: list[str],
) -> None:
    """RR: good 1, late .5, mixed 1 1 1 0 0 0. good against late: constant -.5. All changes of signs
    of three ones: p = 2/8."""
    found, _ = answer("compare_systems", *arguments, "--measures", "RR", "--correction", "none")
    rr = found["RR"]
    assert rr["means"] == {"good": 1.0, "late": 0.5, "mixed": 0.5}
    assert rr["topics"] == 6
    pairs = {(row["a"], row["b"]): row for row in rr["pairs"]}
    assert list(pairs) == [("good", "late"), ("good", "mixed"), ("late", "mixed")]
    first = pairs["good", "late"]
    assert (first["difference"], first["t"], first["effect"], first["losses"]) == (
        -0.5,
        None,
        None,
        6,
    )
    assert first["randomisation"] == pytest.approx(2 / 64)
    assert (first["interval"], first["interval_reason"]) == (
        [None, None],
        "6 topics; a confidence interval needs 30",
    )
    assert first["different"] is True  # by the permutation test: without variance t knows nothing
    second = pairs["good", "mixed"]
    assert (second["wins"], second["ties"], second["losses"]) == (0, 3, 3)
    assert second["randomisation"] == pytest.approx(2 / 8)
    assert second["sign"] == pytest.approx(0.25)
    assert second["effect"] == pytest.approx(-0.5 / (0.3) ** 0.5)  # variance of 0 0 0 1 1 1 is .3
    third = pairs["late", "mixed"]
    assert (third["difference"], third["t"]) == (0.0, 1.0)
    assert (second["different"], third["different"]) == (False, False)
    assert rr["groups"]["good"] != rr["groups"]["late"]
    assert rr["no_verdict"] == ""


@pytest.mark.parametrize(
    "options", [(), ("--correction", "holm"), ("--correction", "max"), ("--against", "A")]
)
@pytest.mark.parametrize("n_topics", [2, 3, 5])
def test_fewer_than_six_topics_have_no_verdict_of_any_kind(
    n_topics: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    """B finds one more relevant document on each topic; the exact tests of five topics say .0625 at
    least."""
    judged = "".join(f"{t} 0 r{k} 1\n" for t in range(n_topics) for k in (1, 2))
    one = "".join(f"{t} Q0 r1 1 2 A\n{t} Q0 x 2 1 A\n" for t in range(n_topics))
    two = "".join(f"{t} Q0 r1 1 2 B\n{t} Q0 r2 2 1 B\n" for t in range(n_topics))
    paths = files(tmp_path, qrels=judged, A=one, B=two)
    found = answer("compare_systems", *paths, "--measures", "P@10", *options)[0]["P@10"]
    why = f"{n_topics} topics; a verdict needs at least 6"
    assert (found["no_verdict"], found["groups"], found["pairs"][0]["different"]) == (
        why,
        {"A": "", "B": ""},
        None,
    )
    assert (found["pairs"][0]["t"], found["pairs"][0]["interval"]) == (None, [None, None])
    text, _ = printed("compare_systems", *paths, "--measures", "P@10", *options)
    assert f"B has the highest mean P@10 (0.2000, {n_topics} topics). No verdict: {why}." in text
    assert f"{n_topics} topics; a confidence interval needs 30" in text
    assert not any(word in text for word in ("leads", "told apart from", "significant"))
    plan, _ = answer("plan_study", *paths, "--measures", "P@10")
    assert plan["P@10"]["variance"] is plan["P@10"]["topics_needed"] is None
    assert (
        plan["undefined"]["P@10"]
        == f"the differences of no pair of runs vary over {n_topics} topics"
    )


def test_many_groups_are_names_in_place_of_letters() -> None:
    """Twenty runs in a row, each different from the tenth next but from no nearer one: eleven
    groups of ten."""
    tags = [f"run{k:02}" for k in range(20)]
    pairs = [{"a": tags[a], "b": tags[b], "different": b - a >= 10} for a, b in list_pairs(20)]
    means = np.arange(20, 0, -1.0)
    groups = assign_letters(means, list_pairs(20), np.array([row["different"] for row in pairs]))
    found = {
        "means": dict(zip(tags, means, strict=True)),
        "pairs": pairs,
        "groups": dict(zip(tags, groups, strict=True)),
    }
    head, cells = make_groups_column(found)
    assert head == "not significantly different from"
    assert cells["run00"] == "run01, run02, run03, run04, run05 and 4 more"
    assert cells["run19"] == "run10, run11, run12, run13, run14 and 4 more"
    few = {**found, "groups": dict.fromkeys(tags, "a")}
    assert make_groups_column(few) == ("group", few["groups"])


def test_one_against_all_and_a_family_make_p_larger_and_say_which(arguments: list[str]) -> None:
    found, _ = answer(
        "compare_systems",
        *arguments,
        "--measures",
        "RR",
        "--against",
        "good",
        "--correction",
        "bonferroni",
    )
    assert [(row["a"], row["b"]) for row in found["RR"]["pairs"]] == [
        ("good", "late"),
        ("good", "mixed"),
    ]
    assert all(row["corrected"]["sign"] == min(1, 2 * row["sign"]) for row in found["RR"]["pairs"])
    held, _ = answer(
        "compare_systems",
        *arguments,
        "--measures",
        "RR",
        "--correction",
        "max",
        "--permutations",
        500,
    )
    assert {row["corrected"]["t"] for row in held["RR"]["pairs"]} == {None}
    assert all(row["corrected"]["randomisation"] >= 1 / 501 for row in held["RR"]["pairs"])


def test_the_same_within_groups_of_topics(arguments: list[str], tmp_path: Path) -> None:
    (groups,) = files(
        tmp_path, groups="topic\tgroup\n0\thead\n1\thead\n2\thead\n3\ttail\n4\ttail\n"
    )
    found, warnings = answer(
        "compare_systems", *arguments, "--measures", "RR", "--topic-groups", groups
    )
    by_group = found["RR"]["by_group"]
    assert by_group["head"]["means"]["mixed"] == 1.0
    assert by_group["tail"]["means"]["mixed"] == 0.0
    assert (by_group["head"]["topics"], by_group["tail"]["topics"]) == (3, 2)
    assert "1 topic of the qrels is in no group: 5" in warnings


def test_the_answer_comes_first_and_in_words(arguments: list[str]) -> None:
    """good and late differ by .5 on each of six topics (permutation p = 2 / 2^6, times 3 by Holm);
    good and mixed on three of them."""
    text, _ = printed("compare_systems", *arguments, "--measures", "RR")
    mixed = stats.ttest_1samp([0, 0, 0, 1, 1, 1], 0).pvalue * 2
    assert text.startswith(
        "good leads by RR (1.0000, 6 topics). After Holm correction it does not differ "
        f"significantly from late (p = 0.094) and mixed (p = {mixed:.2f})."
        " Topics of good against late: 6 won, 0 tied, 0 lost.\n"
    )
    assert (
        "Where all topics have the same difference, t is undefined and the permutation test decides."
        in text
    )
    assert "uncorrected" not in text
    text, _ = printed("compare_systems", *arguments, "--measures", "RR", "--correction", "none")
    assert (
        "Without correction for multiple comparisons it does not differ significantly from mixed (p = "
        in text
    )
    assert "With uncorrected p-values of many pairs, expect false positives" in text
    assert "\nEffectiveness of the systems (uncorrected)\n" in text
    assert "\nPairwise tests by RR (uncorrected)\n" in text


def test_runs_with_the_same_mean_lead_together(arguments: list[str], tmp_path: Path) -> None:
    """late and mixed have the mean .5 both, good 1: told to lead alone, one of two equal runs would
    be called the best."""
    qrels, good, late, mixed = arguments
    text, _ = printed("compare_systems", qrels, late, mixed, "--measures", "RR")
    assert text.startswith("late and mixed lead together by RR (0.5000, 6 topics).\n")
    (same,) = files(tmp_path, same=Path(good).read_text().replace(" good\n", " same\n"))
    text, _ = printed("compare_systems", qrels, good, same, late, "--measures", "RR")
    lead = "good and same lead together by RR (1.0000, 6 topics)."
    assert (
        f"{lead} After Holm correction they do not differ significantly from late (p = 0.094)."
        in text
    )
    text, _ = printed("compare_systems", qrels, good, same, mixed, "--measures", "RR")
    assert f"{lead} After Holm correction they do not differ significantly from mixed (p = " in text


def test_contradictions_are_refused(arguments: list[str]) -> None:
    assert "--against: unknown run nobody; choose from good, late, mixed" in refused(
        "compare_systems", *arguments, "--against", "nobody"
    )
    assert "there is only one run" in refused("compare_systems", *arguments[:2])
    assert "cannot be used together" in refused(
        "plan_study", *arguments, "--difference", 0.1, "--width", 0.1
    )
    assert "must be greater than --alpha" in refused("plan_study", *arguments, "--power", 0.05)


def test_topics_needed_follow_the_variance_of_the_differences(tmp_path: Path) -> None:
    """Differences 1 and 0 in turn over 8 topics: variance 2/7; d = .1 / sqrt(2/7) = .187: 227
    topics (noncentral t)."""
    one = "".join(f"{t} Q0 r 1 2 one\n" for t in range(8))
    two = "".join(f"{t} Q0 {'r' if t % 2 else 'x'} 1 2 two\n" for t in range(8))
    paths = files(tmp_path, qrels="".join(f"{t} 0 r 1\n" for t in range(8)), one=one, two=two)
    found, _ = answer("plan_study", *paths, "--measures", "P@1", "--difference", 0.1)
    assert found["P@1"]["variance"]["median"] == pytest.approx(2 / 7)
    assert found["P@1"]["topics"] == 8
    assert (
        abs(found["P@1"]["topics_needed"] - (1.96 + 0.8416) ** 2 * (2 / 7) / 0.01) < 4
    )  # the normal approximation, two topics short
    assert found["P@1"]["labels"] is None
    assert "individual judgements" in found["undefined"]["labels"]
    assert "topics needed" in printed("plan_study", *paths, "--measures", "P@1")[0]


def test_the_noise_of_labels_is_planned_from_the_single_judgements(tmp_path: Path) -> None:
    """Eight topics, one document each, judged by three: all agree on six topics, two of three on
    the others."""
    one = "".join(f"{t} Q0 r 1 2 one\n" for t in range(8))
    two = "".join(f"{t} Q0 {'r' if t % 2 else 'x'} 1 2 two\n" for t in range(8))
    rows = "".join(f"{t},r,{who},{int(t < 6 or who != 'c')}\n" for t in range(8) for who in "abc")
    qrels, *runs, judged = files(
        tmp_path,
        qrels="".join(f"{t} 0 r 1\n" for t in range(8)),
        one=one,
        two=two,
        judged=f"topic,document,annotator,grade\n{rows}",
    )
    found, _ = answer(
        "plan_study",
        qrels,
        *runs,
        "--measures",
        "P@1",
        "--judgements",
        judged,
        "--grades",
        2,
        "--label-trials",
        400,
    )
    labels = found["P@1"]["labels"]
    assert labels["pairs"] == 8
    # topic 6 is found by `one` only, 7 by both: of three drawn the majority is relevant with 20/27
    assert labels["as_judged"] == pytest.approx((20 / 27 * 7 / 27) ** 0.5 / 8, abs=0.01)
    assert labels["per_pair"]["1"] == pytest.approx((2 / 9) ** 0.5 / 8, abs=0.01)
    assert labels["topics"] == pytest.approx((2 / 7 / 8) ** 0.5)
    assert labels["tau"] == 1
    assert "undefined" not in found
    open_, more = files(
        tmp_path,
        open="".join(f"{t} 0 r {int(t < 8)}\n" for t in range(9)),
        more=f"topic,document,annotator,grade\n{rows}8,r,a,1\n8,r,b,0\n8,r,c,0\n",
    )
    asked = [
        open_,
        *runs,
        "--measures",
        "P@1",
        "--judgements",
        more,
        "--grades",
        2,
        "--label-trials",
        400,
    ]
    of_eight = answer("plan_study", *asked, "--only-with-relevant")[0]["P@1"]["labels"]
    assert (of_eight["pairs"], of_eight["topics"]) == (
        8,
        labels["topics"],
    )  # the ninth has nothing relevant, which labels drawn anew do not change
    assert of_eight["as_judged"] == pytest.approx((20 / 27 * 7 / 27) ** 0.5 / 8, abs=0.005)
    assert answer("plan_study", *asked)[0]["P@1"]["labels"]["pairs"] == 9
    assert (
        "Label noise"
        in printed(
            "plan_study", qrels, *runs, "--measures", "P@1", "--judgements", judged, "--grades", "2"
        )[0]
    )
    alone = files(tmp_path, alone="topic,document,annotator,grade\n0,r,a,1\n")[0]
    assert "no pair has two judgements" in refused(
        "plan_study", qrels, *runs, "--judgements", alone
    )


def test_pools_of_other_depths_are_planned_with(tmp_path: Path) -> None:
    """Eight topics; `one` has r first, `two` in every second topic, else third behind x and y.
    Depth 1: r and, in four topics, x."""
    one = "".join(f"{t} Q0 r 1 2 one\n" for t in range(8))
    two = "".join(
        f"{t} Q0 {document} {k} {3 - k} two\n"
        for t in range(8)
        for k, document in enumerate("r" if t % 2 else "xyr")
    )
    paths = files(
        tmp_path, qrels="".join(f"{t} 0 r 1\n{t} 0 x 0\n" for t in range(8)), one=one, two=two
    )
    depths = answer(
        "plan_study", *paths, "--measures", "P@1", "--difference", 0.1, "--depths", "1,2,3,4"
    )[0]["P@1"]["depths"]
    assert {depth: (one["pairs"], one["judged"]) for depth, one in depths.items()} == {
        "1": (1.5, 1.0),
        "2": (2.0, 12 / 16),
        "3": (2.0, 12 / 16),
    }
    for one in depths.values():
        assert one["variance"] == pytest.approx(
            2 / 7
        )  # as in the whole: differences 1 and 0 in turn
        assert one["pairs_needed"] == pytest.approx(one["topics_needed"] * one["pairs"], abs=1)
        assert one["tau"] == 1
    with pytest.raises(ArgumentTypeError, match="not a list of depths"):
        parse_depths("0,x")
    assert "depth" in printed("plan_study", *paths, "--measures", "P@1")[0]
