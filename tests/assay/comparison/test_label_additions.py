"""What added labels change, with values by hand."""

from __future__ import annotations

import math

from assay.comparison.label_additions import compare_added_labels, rank_scores
from assay.formats.qrels import make_qrels
from assay.formats.runs import make_run
from assay.measures.measures import parse_measures

OLD = make_run("old", [("t1", "a", 2.0), ("t1", "b", 1.0), ("t2", "a", 2.0), ("t2", "b", 1.0)])
NEW = make_run("new", [("t1", "x", 2.0), ("t1", "a", 1.0), ("t2", "y", 2.0), ("t2", "z", 1.0)])
BEFORE = [("t1", "a", 1), ("t1", "b", 0), ("t2", "a", 1), ("t2", "b", 0)]
ADDED = [("t1", "x", 1), ("t2", "y", 2), ("t2", "z", 0)]


def test_scores_ranks_and_unjudged_documents_before_and_after() -> None:
    old, new = compare_added_labels(
        [OLD, NEW],
        make_qrels("before", BEFORE),
        make_qrels("after", [*BEFORE, *ADDED]),
        parse_measures("P@2 RR"),
        min_relevant=1,
        cutoff=2,
    )
    # P@2 of new: (1/2 + 0) / 2, then (2/2 + 1/2) / 2; RR: (1/2 + 0) / 2, then 1
    assert (old.tag, old.scores) == ("old", {"P@2": (0.5, 0.5), "RR": (1.0, 1.0)})
    assert (new.tag, new.scores) == ("new", {"P@2": (0.25, 0.75), "RR": (0.25, 1.0)})
    assert old.ranks == {"P@2": (1, 2), "RR": (1, 1)}
    assert new.ranks == {"P@2": (2, 1), "RR": (2, 1)}
    assert (old.unjudged, new.unjudged) == ((0, 0), (3, 0))


def test_a_negative_grade_is_unjudged_and_depth_counts() -> None:
    before = make_qrels("before", [("t1", "a", 1), ("t1", "x", -1)])
    after = make_qrels("after", [("t1", "a", 1), ("t1", "x", 0)])
    (new,) = compare_added_labels(
        [NEW], before, after, parse_measures("P@1"), min_relevant=1, cutoff=1
    )
    assert new.unjudged == (1, 0)
    (new,) = compare_added_labels(
        [OLD], before, after, parse_measures("P@1"), min_relevant=1, cutoff=2
    )
    assert new.unjudged == (1, 1)  # b of topic t1; t2 is not in the qrels


def test_equal_scores_share_the_best_rank_and_nan_has_none() -> None:
    assert rank_scores([0.2, 0.5, 0.1 + 0.2, 0.3, math.nan]) == [4, 1, 2, 2, None]
