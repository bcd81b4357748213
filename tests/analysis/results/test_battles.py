"""The result of a campaign of preferences, its file, and the pages that it does not offer."""

from __future__ import annotations

import io

import pytest
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.exceptions import NoReverseMatch
from django.utils import timezone

from analysis.commandline.stored_campaigns import get_campaign
from analysis.judgements.battles import (
    count_answers,
    iterate_battle_lines,
    list_judged_battles,
    make_system_battles,
    measure_side_bias,
)
from analysis.judgements.live import get_snapshot
from analysis.judgements.rows import read_rows
from annotation.core.preferences import BOTH_BAD, LEFT, RIGHT, TIE, is_swapped, mirror_answer
from annotation.models import Campaign, Membership, Pair
from annotation.permissions import OFFERED_FOR_PREFERENCES
from annotation.services.errors import CampaignError
from assay.cli.base import BadInput
from assay.formats.battles import read_battles
from assay.labels.agreement.alpha import krippendorff_alpha
from tests.battles import make_battle_campaign, make_battle_pool
from tests.builders import judge_pair, make_annotator, make_user

pytestmark = pytest.mark.django_db
PREFERRED = {
    "ada": {("d1", "d2"): LEFT, ("d2", "d3"): TIE, ("d2", "d1"): LEFT},
    "bob": {("d1", "d2"): LEFT, ("d2", "d3"): BOTH_BAD},
}
"""Answers by document: LEFT if the first is better. (d2, d1) is in t2 and, repeated, in t1."""


def prefer(annotator: Membership, pair: Pair, answer: int) -> None:
    swapped = is_swapped(seed=annotator.seed, topic=pair.topic_row)
    by_side = mirror_answer(answer) if swapped else answer
    judge_pair(annotator, pair, by_side, now=timezone.now())


@pytest.fixture
def campaign() -> Campaign:
    campaign = make_battle_campaign(judgements_per_pair=2)
    for name, answers in PREFERRED.items():
        annotator = make_annotator(campaign, name)
        for pair in campaign.pairs.select_related("entry__topic").order_by("position"):
            answer = answers.get((pair.entry.docno, pair.entry.other_docno))
            if answer is not None:
                prefer(annotator, pair, answer)
    return campaign


@pytest.fixture
def manager(campaign: Campaign, client: Client) -> Client:
    member = campaign.memberships.get(role="manager")
    client.force_login(member.user)
    return client


def test_the_file_holds_one_row_per_pair_of_systems(campaign: Campaign) -> None:
    """By hand: ada prefers d1 to d2, calls d2 and d3 a tie, and prefers d2 to d1 in t2, which stands
    for y against x and z against x, and in the repeated battle."""
    text = "".join(iterate_battle_lines(list_judged_battles(campaign)))
    read = read_battles(io.BytesIO(text.encode()), name="battles.tsv")
    rows = {
        (
            read.annotators[read.annotator[i]],
            read.topics[read.topic[i]],
            read.systems[read.a[i]],
            read.systems[read.b[i]],
            int(read.outcome[i]),
        )
        for i in range(len(read))
    }
    names = dict(campaign.memberships.values_list("user__username", "pseudonym"))
    ada = next(names[name] for name in names if name.startswith("ada"))
    bob = next(names[name] for name in names if name.startswith("bob"))
    a_wins, tie, bad = 0, 2, 3
    assert rows == {
        (ada, "t1", "x", "y", a_wins),
        (ada, "t1", "y", "z", tie),
        (ada, "t2", "y", "x", a_wins),
        (ada, "t2", "z", "x", a_wins),
        (ada, "t1", "y", "x", a_wins),
        (bob, "t1", "x", "y", a_wins),
        (bob, "t1", "y", "z", bad),
    }
    assert len(read) == 7
    made = make_system_battles(list_judged_battles(campaign))
    assert (made.systems, made.outcome.tolist()) == (read.systems, read.outcome.tolist())
    assert made.left.tolist() == read.left.tolist()


def test_agreement_is_nominal_over_the_answers(campaign: Campaign) -> None:
    """Two pairs have two judgements: LEFT and LEFT, TIE and BOTH_BAD. Of the four values, the
    observed disagreement is 1/2; two of the twelve ordered pairs agree by chance, so the expected
    one is 10/12, and alpha is 1 - (1/2)/(5/6) = 0.4."""
    counts, topic = count_answers(list_judged_battles(campaign))
    assert sorted(counts.sum(axis=1).tolist()) == [1, 1, 2, 2]
    assert krippendorff_alpha(counts, level="nominal") == pytest.approx(0.4)
    assert len(set(topic.tolist())) == 2


def test_side_bias_counts_by_the_side_that_was_shown(campaign: Campaign) -> None:
    judged = list_judged_battles(campaign)
    by_name = {one.annotator: one for one in measure_side_bias(judged)}
    for name, one in by_name.items():
        own = [row for row in judged if row.annotator == name]
        left = [
            row
            for row in own
            if (row.answer == LEFT and row.left == "a") or (row.answer == RIGHT and row.left == "b")
        ]
        assert (one.judged, one.left) == (len(own), len(left))
    assert sorted((one.judged, one.decided) for one in by_name.values()) == [(2, 1), (4, 3)]


def test_the_overview_leads_to_the_result(campaign: Campaign, manager: Client) -> None:
    page = manager.get(reverse("campaign", args=[campaign.slug]), follow=True)
    text = page.content.decode()
    assert page.status_code == 200
    assert page.redirect_chain[-1][0] == reverse("campaign-battles", args=[campaign.slug])
    assert "6 of 8 judgements made." in " ".join(text.split())
    assert "Systems by preferences" in text
    assert "0.40" in text
    file = manager.get(reverse("campaign-battles-file", args=[campaign.slug]))
    assert b"".join(file.streaming_content).startswith(b"topic\tsystem_a\tsystem_b\twinner")
    assert manager.get(reverse("home")).status_code == 200


def test_a_campaign_without_judgements_says_so(client: Client) -> None:
    campaign = make_battle_campaign()
    client.force_login(campaign.memberships.get(role="manager").user)
    page = client.get(reverse("campaign-battles", args=[campaign.slug]))
    assert "No battle has been judged yet." in page.content.decode()


def test_pages_that_need_grades_explain_themselves(campaign: Campaign, manager: Client) -> None:
    """Every address that needs only the campaign is either offered or explained."""
    offered, refused = set(), set()
    for name in get_resolver().reverse_dict:
        if not isinstance(name, str):
            continue
        try:
            address = reverse(name, args=[campaign.slug])
        except NoReverseMatch:
            continue
        if "campaigns/" not in address:
            continue
        status = manager.get(address).status_code
        if status == 405 and name not in OFFERED_FOR_PREFERENCES:
            status = manager.post(address).status_code
        assert status < 500, name
        if status == 409:
            refused.add(name)
        elif status not in (301, 405):
            offered.add(name)
    assert offered <= OFFERED_FOR_PREFERENCES, offered - OFFERED_FOR_PREFERENCES
    assert {"campaign-agreement", "campaign-export", "campaign-systems", "api-exports"} <= refused
    page = manager.get(reverse("campaign-agreement", args=[campaign.slug]))
    assert "Not available for preferences" in page.content.decode()
    answer = manager.get(reverse("api-exports", args=[campaign.slug]))
    assert answer.json()["code"] == "not_for_preferences"


def test_nothing_computes_labels_from_preferences(campaign: Campaign) -> None:
    with pytest.raises(CampaignError, match="collects preferences"):
        read_rows(campaign)
    with pytest.raises(CampaignError, match="collects preferences"):
        get_snapshot(campaign)
    with pytest.raises(BadInput, match="collects preferences"):
        get_campaign(campaign.slug)


def test_the_page_for_new_campaigns_offers_preferences_for_a_pool_of_battles(
    client: Client,
) -> None:
    pool = make_battle_pool()
    user = make_user("boss", may_create=True)
    pool.collection.managers.add(user)
    client.force_login(user)
    page = client.get(reverse("campaign-new"), {"pool": pool.pk}).content.decode()
    assert "Two documents side by side" in page
    assert "Graded, three judgements" not in page
    assert "Examples from your pool" not in page
    numbers = {"judgements_per_pair": "1", "target_per_annotator": "50"}
    shown = {"pool": pool.pk, "preset": "trec", "values_of": "trec", **numbers}
    form = client.get(reverse("campaign-new"), shown).context["form"]
    assert [form[name].value() for name in (*numbers, "values_of")] == [3, "50", "preferences"]
    given = {"name": "Battles", "collection": pool.collection_id, "pool": pool.pk, "way": "once"}
    given |= {"preset": "tripjudge", "judgements_per_pair": 2, "target_per_annotator": 10}
    answer = client.post(reverse("campaign-new"), given)
    campaign = Campaign.objects.get()
    assert answer.url == reverse("campaign", args=[campaign.slug])
    assert (campaign.task, campaign.judgements_per_pair) == ("preferences", 2)
    assert "choose the one that answers the query better" in campaign.guidelines.get().text
    draft = client.get(answer.url).content.decode()
    assert "Gold questions" not in draft
    assert "Ready to open." in draft
