from __future__ import annotations

import pytest

from assay.comparison.verdict_sentences import describe_run_verdict


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        ((True, True, True), "R2 (B) is significantly better than R1 (A). B wins."),
        ((False, False, True), "R2 (B) is better than R1 (A) by the do-no-harm rule. B wins."),
        ((True, False, False), "R2 (B) is better than R1 (A), but not significantly. B wins."),
        ((False, False, False), "R2 (B) is not better than R1 (A). B wins."),
        ((None, False, False), "No verdict on whether R2 (B) is better than R1 (A). B wins."),
    ],
)
def test_the_strongest_verdict_is_stated_with_its_reasons(verdict, says):
    better, significantly_better, do_no_harm = verdict
    row = {
        "a": "R1",
        "b": "R2",
        "verdict": {
            "better": better,
            "significantly_better": significantly_better,
            "do_no_harm": do_no_harm,
            "because": ["B wins"],
        },
    }
    assert describe_run_verdict(row) == says


def test_the_reason_for_no_verdict_is_not_introduced_twice():
    verdict = dict.fromkeys(("better", "significantly_better", "do_no_harm"))
    row = {"a": "R1", "b": "R2", "verdict": {**verdict, "because": ["no verdict: 3 topics"]}}
    assert describe_run_verdict(row) == (
        "No verdict on whether R2 (B) is better than R1 (A). 3 topics."
    )
