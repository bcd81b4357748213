"""aggregate, agreement and campaign_stats on a campaign in the database."""

from __future__ import annotations

import pytest

from annotation.models import Judgement
from tests.analysis.commands.judged_file import refused, run
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """Four pairs; ada gives 3 to each, bob 0 to each; nobody is too fast."""
    campaign = make_campaign(n_topics=2, n_documents=2, judgements_per_pair=2)
    for grade in (3, 0):
        annotator = make_annotator(campaign)
        for _ in range(4):
            judge(annotator, grade)
    return campaign


def test_the_labels_of_a_campaign_are_those_of_its_counted_judgements(campaign):
    result = run("aggregate", "--campaign", campaign.slug)
    assert result["pairs"] == 4
    assert result["labels"] == {"0": 4, "1": 0, "2": 0, "3": 0}
    assert result["decisions"] == {"unanimous": 0, "majority": 0, "lowest_grade": 4}


def test_what_is_too_fast_or_excluded_there_is_dropped_and_counted(campaign):
    first, second, *_ = Judgement.objects.order_by("pk")
    Judgement.objects.filter(pk=first.pk).update(status=Judgement.Status.TOO_FAST)
    Judgement.objects.filter(pk=second.pk).update(status=Judgement.Status.EXCLUDED)
    result = run("aggregate", "--campaign", campaign.slug)
    assert (
        result["dropped"]["too_fast"],
        result["dropped"]["excluded"],
        result["dropped"]["too_few"],
    ) == (1, 1, 2)
    assert result["judgements"] == 6


def test_the_statistics_know_the_campaigns_pool_and_collection(campaign):
    result = run("campaign_stats", "--campaign", campaign.slug)
    assert (result["documents"], result["complete_depth"], result["annotators"]) == (2, 2, 2)
    assert sum(n for _, n in result["per_12h"]) == 8


def test_agreement_of_a_campaign(campaign):
    result = run("agreement", "--campaign", campaign.slug, "--min-common", "4")
    assert result["graded"]["percent"] == 0
    assert result["graded"]["mean_pairwise_kappa"] == 0  # one grade each, but different ones
    assert set(result["annotators"]) == set(
        campaign.memberships.filter(role="annotator").values_list("pseudonym", flat=True)
    )


def test_an_unknown_campaign_and_another_scale_are_refused(campaign):
    status, out, err = refused("aggregate", "--campaign", "nowhere")
    assert (status, out) == (2, "")
    assert "there is no campaign with the slug 'nowhere'" in err
    status, out, err = refused("aggregate", "--campaign", campaign.slug, "--grades", "3")
    assert (status, out) == (2, "")
    assert "does not match the campaign" in err
    assert "expected 4" in err
