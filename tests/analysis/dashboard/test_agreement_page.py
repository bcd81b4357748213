"""The page Quality: its verdict, and alpha without each annotator, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.dashboard.agreement_metrics import _alpha_without_annotators, request_agreement_job
from analysis.dashboard.agreement_page import describe_agreement
from analysis.dashboard.views.agreement import alpha_time_chart
from annotation.models import Campaign
from assay.labels.labels import make_label_table
from pooling.platform import jobs
from tests.analysis.judgements.test_one_answer import client_of_manager
from tests.builders import judged_campaign, make_campaign


def statistics(alpha: float | None, **changes: Any) -> dict[str, Any]:
    graded = {"alpha": alpha, "alpha_ci": [0.46, 0.59], "reasons": {}} | changes
    return {"graded": graded, "n_judgements": 1240, "n_pairs": 520}


def test_alpha_without_an_annotator_is_that_of_the_others():
    # A and B agree on ten pairs, half of them 0 and half 3. C gives the opposite grade. Without C
    # alpha is 1. Without A each pair has a 0 and a 3: of 20 * 19 ordered pairs of grades
    # 2 * 10 * 10 differ, so that alpha is 1 - 1 / (200 / 380) = -0.9.
    a = [0] * 5 + [3] * 5
    grades = np.array([a, a, [3 - grade for grade in a]]).T.ravel()
    table = make_label_table(
        topics=["t"],
        documents=[f"d{i}" for i in range(10)],
        annotators=["A", "B", "C"],
        topic=np.zeros(30, dtype=int),
        document=np.repeat(np.arange(10), 3),
        annotator=np.tile(np.arange(3), 10),
        grade=grades,
        n_grades=4,
    )
    found = _alpha_without_annotators(table, np.array([0.5, 0.5, -1.0]))
    assert found == {
        "A": pytest.approx(-0.9),
        "B": pytest.approx(-0.9),
        "C": pytest.approx(1.0),
    }


def test_a_single_day_is_a_sentence_instead_of_a_chart():
    first = {"day": "22 Nov", "alpha": -0.1, "low": -0.3, "high": 0.1}
    says = "Only one day so far, 22 Nov, with an alpha of −0.10."
    assert says in alpha_time_chart({"over_time": [first]})
    unknown = {"day": "23 Nov", "alpha": None, "low": None, "high": None}
    assert says in alpha_time_chart({"over_time": [first, unknown]})
    both = alpha_time_chart({"over_time": [first, first | {"day": "23 Nov"}]})
    assert "Only one day" not in both
    assert "22 Nov" in both


def test_the_verdict_names_the_annotator_without_whom_alpha_rises_most():
    heavy = statistics(0.53) | {"alpha_without": {"A1": 0.57, "A2": 0.65, "A3": None, "A4": 0.5}}
    verdict = describe_agreement(heavy, 4)
    assert verdict.text == "Moderate agreement: alpha 0.53 (95% CI 0.46 to 0.59)."
    assert verdict.without == "Without A2, alpha would be 0.65."
    assert verdict.evidence == (
        "Krippendorff's alpha, ordinal, on 4 grades: 1,240 judgements of 520 pairs."
    )


def test_a_small_rise_is_not_mentioned():
    verdict = describe_agreement(statistics(0.53) | {"alpha_without": {"A1": 0.55}}, 4)
    assert (verdict.annotator, verdict.without) == ("", "")


def test_statistics_of_an_earlier_version_have_no_alpha_without_annotators():
    assert describe_agreement(statistics(0.81), 4).annotator == ""


def test_an_undefined_alpha_has_its_reason():
    undefined = statistics(None, reasons={"alpha": "no pair has two judgements"})
    assert describe_agreement(undefined, 4).text == (
        "Agreement is undefined: no pair has two judgements."
    )


def test_alpha_without_an_interval_says_why():
    few = statistics(-0.1, alpha_ci=[None, None], alpha_ci_reason="8 topics; it needs 10")
    verdict = describe_agreement(few, 2)
    assert verdict.text == "Poor agreement: alpha −0.10."
    assert verdict.evidence.endswith("No confidence interval: 8 topics; it needs 10.")


def disagreeing_campaign() -> Campaign:
    """Three annotators judge twelve pairs of one topic. Two agree, the third does not."""
    return judged_campaign(
        {("t1", f"d{i + 1}"): (3 * (i % 2), 3 * (i % 2), 3 - 3 * (i % 2)) for i in range(12)},
        names=("ada", "bob", "eve"),
        judgements_per_pair=3,
    )


@pytest.mark.django_db
def test_the_page_shows_each_annotator_with_alpha_without_them():
    campaign = disagreeing_campaign()
    job = request_agreement_job(campaign)
    assert job is not None
    jobs.run_job(job.pk)
    answer = client_of_manager(campaign).get(f"/campaigns/{campaign.slug}/agreement/")
    worst = answer.context["annotators"][0]
    assert worst.alpha_without == pytest.approx(1.0)
    assert worst.is_worst
    name = worst.person.membership.pseudonym
    page = " ".join(answer.content.decode().split())
    assert f"Without {name}, alpha would be 1.00." in page
    assert f"Review {name}" in page


@pytest.mark.django_db
def test_a_campaign_without_judgements_has_no_verdict():
    campaign = make_campaign()
    answer = client_of_manager(campaign).get(f"/campaigns/{campaign.slug}/agreement/")
    assert answer.context["verdict"] is None
    assert answer.context["annotators"] == []
