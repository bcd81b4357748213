"""Which disputed pairs could change the ranking, on the page of judgements and in its queue.

Three runs on one topic, judged to rank 1, so that the measure is nDCG@1: A has d1 first, B d2, C d3.
"""

from __future__ import annotations

import re

import pytest

from analysis.dashboard import ranking_effects
from analysis.dashboard.to_do_list import get_to_do_list
from analysis.judgements import live as kept
from analysis.judgements.live import get_snapshot
from annotation.models import Campaign, Pair
from annotation.services.judging.submission import adjudicate_pair
from pooling.models import Job, Pool
from pooling.platform import jobs
from tests.analysis.dashboard.test_pages import manager_of, text_of
from tests.analysis.real_campaign import store_run
from tests.builders import judged_campaign

pytestmark = pytest.mark.django_db
GRADES = {
    ("t1", "d1"): (3, 3),  # A: 1
    ("t1", "d2"): (0, 2),  # B: 0 by the lower grade, at most 2/3: below A, and from 1 on above C
    ("t1", "d3"): (0, 0),  # C: 0, tied with B
    ("t1", "d4"): (0, 3),  # first of no run
}


@pytest.fixture
def campaign(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    kept._snapshots.clear()
    made = judged_campaign(GRADES)
    Pool.objects.filter(pk=made.pool_id).update(depth=1)
    rankings = {"A": "d1 d2 d3 d4", "B": "d2 d1 d3 d4", "C": "d3 d1 d2 d4"}
    for tag, documents in rankings.items():
        scores = {name: -float(rank) for rank, name in enumerate(documents.split())}
        store_run(made.collection, tag, {"t1": scores})
    yield Campaign.objects.get(pk=made.pk)
    kept._snapshots.clear()


def compute(campaign: Campaign) -> ranking_effects.RankingEffects:
    _, job = ranking_effects.newest_ranking_effects(campaign, get_snapshot(campaign))
    assert job is not None
    jobs.run_job(job.pk)
    effects, _ = ranking_effects.newest_ranking_effects(campaign, get_snapshot(campaign))
    assert effects is not None
    return effects


def pair_of(campaign: Campaign, docno: str) -> Pair:
    return campaign.pairs.get(entry__docno=docno)


def test_a_label_counts_if_another_grade_of_its_annotators_changes_the_order(campaign):
    effects = compute(campaign)
    second, fourth = pair_of(campaign, "d2"), pair_of(campaign, "d4")
    assert effects.measure == "nDCG@1"
    assert set(effects.effects) == {second.pk, fourth.pk}
    assert effects.could_change(second.pk)
    assert not effects.could_change(fourth.pk)
    assert effects.effects[second.pk].change == pytest.approx(2 / 3)
    assert effects.effects[second.pk].swaps == 1
    assert not effects.effects[second.pk].leader


def test_the_page_counts_them_and_begins_with_them(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/judgements/"
    assert "2 disputed pairs need your decision." in text_of(client.get(address))
    assert "Checking which pairs could change the ranking" in text_of(client.get(address))
    jobs.run_job(Job.objects.get(kind=ranking_effects.RANKING_EFFECT_JOB).pk)
    page = client.get(address)
    assert "1 of 2 disputed pairs could change the ranking." in text_of(page)
    assert "Checking" not in text_of(page)
    second, fourth = pair_of(campaign, "d2"), pair_of(campaign, "d4")
    links = re.findall(r'href="[^"]*/pairs/(\d+)/\?([^"]*)"', page.content.decode())
    assert links[:2] == [
        (str(second.pk), "view=disputed"),
        (str(second.pk), "view=disputed&amp;ranking=changes"),
    ]
    assert "Effect (nDCG@1)" in text_of(page)
    only = client.get(f"{address}?view=disputed&ranking=changes")
    shown = re.findall(r'name="pair" value="(\d+)"', only.content.decode())
    assert shown == [str(second.pk)]
    adjudicate_pair(second, 1, reason="", actor=campaign.created_by)
    kept._snapshots.clear()
    assert "0 of 1 disputed pair could change the ranking." in text_of(client.get(address))
    queue = client.get(f"/campaigns/{campaign.slug}/pairs/{fourth.pk}/?view=disputed")
    assert "1 of 2 left" in text_of(queue)


def test_the_to_do_list_says_how_many_could_change_the_ranking_if_all_were_checked(campaign):
    def listed():
        kept._snapshots.clear()
        (disputed, _done), _jobs = get_to_do_list(campaign.created_by)
        return disputed

    assert listed().words == "2 disputed pairs to adjudicate"
    compute(campaign)
    second, fourth = pair_of(campaign, "d2"), pair_of(campaign, "d4")
    assert listed().words == "2 disputed pairs to adjudicate: 1 could change the ranking"
    assert listed().actions[0].address.endswith(f"/pairs/{second.pk}/")
    adjudicate_pair(second, 1, reason="", actor=campaign.created_by)
    assert listed().words == "1 disputed pair to adjudicate: 0 could change the ranking"
    Job.objects.update(report={"measure": "nDCG@1", "effects": {str(second.pk): [0.0, 0, False]}})
    assert listed().words == "1 disputed pair to adjudicate", "the other pair was not checked"
    assert listed().actions[0].address.endswith(f"/pairs/{fourth.pk}/")


@pytest.mark.parametrize("n_runs", [0, 1])
def test_without_two_runs_nothing_is_computed(campaign, n_runs):
    campaign.collection.runs.exclude(
        pk__in=campaign.collection.runs.values_list("pk", flat=True)[:n_runs]
    ).delete()
    effects, job = ranking_effects.newest_ranking_effects(campaign, get_snapshot(campaign))
    assert (effects, job) == (None, None)
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/judgements/")
    assert "2 disputed pairs need your decision." in text_of(page)
    assert "Checking" not in text_of(page)
