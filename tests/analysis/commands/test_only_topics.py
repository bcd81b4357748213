"""`--only-topics FILE`: as if the other topics were not there. Expected: the same commands on files
without them, and counts by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.commands.judged_file import POOL, ROWS, refused, run, written
from tests.analysis.publishing.exported import BINARY, GRADED, examples_campaign


def without(text: str, topic: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(topic))


@pytest.mark.parametrize("command", ["aggregate", "agreement", "campaign_stats"])
def test_judgements_of_the_topics_named_are_all_that_counts(command: str, tmp_path: Path) -> None:
    only = written(tmp_path, "t2\tquery\n", "only.tsv")
    more = ["--pool", written(tmp_path, POOL, "pool.tsv")] if command == "campaign_stats" else []
    less = (
        ["--pool", written(tmp_path, without(POOL, "t1"), "less.tsv")]
        if command == "campaign_stats"
        else []
    )
    found = run(command, written(tmp_path), "--only-topics", only, *more)
    assert found == run(command, written(tmp_path, without(ROWS, "t1"), "t2.csv"), *less)
    assert found["judgements"] == 3
    assert found["dropped"]["excluded"] == 1
    assert found["dropped"]["repeated"] == found["dropped"]["too_fast"] == 0


def test_topics_that_are_not_there_are_refused_together_and_warned_about_alone(
    tmp_path: Path,
) -> None:
    judgements = written(tmp_path)
    status, out, err = refused(
        "aggregate", judgements, "--only-topics", written(tmp_path, "T2\nt9\n", "no.txt")
    )
    assert (status, out) == (2, "")
    assert "none of its 2 topics is in" in err
    status, out, err = refused(
        "aggregate", judgements, "--only-topics", written(tmp_path, "t2\nt9\n", "some.txt")
    )
    assert status == 0
    assert "1 of 2 topics is not in" in err
    assert "t9" in err


def test_means_are_over_the_topics_named(tmp_path: Path) -> None:
    qrels = written(tmp_path, "b 0 x 1\na 0 x 1\na 0 y 0\nc 0 x 1\n", "q.txt")
    other = written(tmp_path, "c 0 x 1\n", "other.txt")
    ranked = written(tmp_path, "a Q0 y 1 2 t\na Q0 x 2 1 t\nb Q0 x 1 1 t\nc Q0 z 1 1 t\n", "t.run")
    only = written(tmp_path, "a\nb\n", "only.txt")
    found = run(
        "evaluate",
        qrels,
        ranked,
        "--measures",
        "RR P@1",
        "--per-topic",
        "--only-topics",
        only,
        "--qrels",
        f"other={other}",
    )
    # by hand: a has its relevant document at rank 2, b at rank 1
    assert found["qrels"]["q"] == {"t": {"RR": 0.75, "P@1": 0.5}}
    assert found["per_topic"]["q"]["t"]["RR"] == {"a": 0.5, "b": 1.0}
    assert found["topics"]["q"]["qrels"] == 2
    assert found["topics"]["q"]["ignored"] == {"t": 1}
    assert found["qrels"]["other"] == {"t": {"RR": None, "P@1": None}}
    status, _, err = refused("evaluate", qrels, ranked, "--sampled", "--only-topics", only)
    assert status == 2
    assert "--only-topics cannot be used with a sampled pool" in err


@pytest.mark.django_db
@pytest.mark.parametrize(("grades", "all_labels"), [("graded", GRADED), ("binary", BINARY)])
def test_the_qrels_of_a_campaign_hold_the_topics_named(
    grades: str, all_labels: str, tmp_path: Path
) -> None:
    campaign, only = examples_campaign(), written(tmp_path, "t2\n", "only.txt")
    out = tmp_path / "qrels.txt"
    found = run(
        "export_qrels",
        "--campaign",
        campaign.slug,
        "--labels",
        grades,
        "--only-topics",
        only,
        "--comments",
        "--output",
        str(out),
    )
    lines = out.read_text().splitlines(keepends=True)
    assert "".join(line for line in lines if not line.startswith("#")) == without(all_labels, "t1")
    assert "# only the topics t2\n" in lines
    assert (found["pairs"], found["judgements"]) == (3, 9)
    assert (
        run("campaign_stats", "--campaign", campaign.slug, "--only-topics", only)["judgements"] == 9
    )


def test_rankings_and_overlap_over_the_topics_named_are_those_of_files_without_the_others(
    tmp_path: Path,
) -> None:
    judged = "a 0 x 1\na 0 y 0\nb 0 x 0\nb 0 y 1\nb 0 z 1\n"
    clicks = "a 0 y 2\nb 0 x 1\nb 0 y 0\n"
    only = written(tmp_path, "b\n", "only.txt")
    whole = [
        written(tmp_path, text, name) for text, name in ((judged, "judged"), (clicks, "clicks"))
    ]
    less = [
        written(tmp_path, without(text, "a"), f"{name}-b")
        for text, name in ((judged, "judged"), (clicks, "clicks"))
    ]
    orders = {
        order: "".join(
            f"{t} Q0 {d} {n} {9 - n} {order}\n" for t in "ab" for n, d in enumerate(order)
        )
        for order in ("xyz", "zyx", "yxz")
    }
    ranked = [written(tmp_path, text, order) for order, text in orders.items()]
    found = run(
        "compare_rankings",
        *ranked,
        *(f"--qrels=q{n}={path}" for n, path in enumerate(whole)),
        "--only-topics",
        only,
    )
    assert found == run(
        "compare_rankings", *ranked, *(f"--qrels=q{n}={path}" for n, path in enumerate(less))
    )
    overlap = run(
        "label_overlap", "--judged", whole[0], "--clicks", f"c={whole[1]}", "--only-topics", only
    )["c"]
    # by hand, of topic b: x irrelevant and clicked, y relevant and not clicked, z relevant without
    # a click label
    assert (
        overlap["pairs"],
        overlap["contradicting"],
        overlap["both"],
        overlap["clicked_only"],
    ) == (3, 2, 2, 0)
    assert (overlap["agree"], overlap["relevant"]["unlabelled"]) == (0, pytest.approx(1 / 3))
