"""The content of both installations: the demo with simulated annotators, campaigns for annotators'
tasks, and a collection with duplicate topics.

It only uses features that the first version has too, so that it runs in both.
"""

from __future__ import annotations

import json
from datetime import date

N_DOUBLES = 62
N_KNOWN = 10
"""Number of pairs whose grades a file contains."""


def prepare() -> None:
    """Fill an installation that has the demo, and print the values for addresses and the users'
    sessions as one JSON object."""
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Campaign, Membership
    from annotation.services.people import accounts
    from tests.pages import simulate

    campaign, manager = (
        Campaign.objects.get(slug__in=["try-judging", "python-documentation"]),
        User.objects.get(username="manager"),
    )
    Campaign.objects.filter(pk=campaign.pk).update(name="Python documentation")  # the old name
    members = simulate(campaign, 420)
    stretch(campaign)
    given = {
        "fast": members[-1].pseudonym,
        "known": known_rows(campaign),
        "recipes": save_recipes(campaign, manager),
        "doubles": make_doubles(manager),
        "token": accounts.create_invitation(campaign=campaign, actor=manager).token,
        **make_jobs(),
    }
    sessions = {
        member.user.username: member.user for member in Membership.objects.select_related("user")
    }
    for name, user in sessions.items():
        client = Client()
        client.force_login(user)
        given[f"session of {name}"] = client.cookies["sessionid"].value
    print(json.dumps(given))


def stretch(campaign, times: int = 3) -> None:
    """Spread the judgements of two days over six, because a forecast needs a whole working day."""
    from django.utils import timezone

    from annotation.models import Campaign, Judgement

    now = timezone.now()
    rows = list(Judgement.objects.filter(pair__campaign=campaign))
    for row in rows:
        row.judged_at = now - times * (now - row.judged_at)
    Judgement.objects.bulk_update(rows, ["judged_at"], batch_size=100)
    Campaign.objects.filter(pk=campaign.pk).update(opened_at=min(row.judged_at for row in rows))


def known_rows(campaign) -> str:
    """Return qrels for the last pairs of the pool, which are unjudged."""
    pairs = campaign.pairs.select_related("entry__topic").order_by("-position")[:N_KNOWN]
    return "".join(
        f"{pair.entry.topic.topic_id} 0 {pair.entry.docno} {number % 4}\n"
        for number, pair in enumerate(pairs)
    )


def save_recipes(campaign, manager) -> str:
    """Save two recipes and return the name of the second."""
    try:
        from analysis.judgements.labels import LabelChoices
        from analysis.publishing.recipes import save_recipe
        from analysis.publishing.release.parts import ReleasePlan
    except ImportError:  # the first version
        from analysis.selectors.exports import Choices as LabelChoices
        from analysis.services.archive import Plan as ReleasePlan
        from analysis.services.releases import save_recipe
    for plan in (
        ReleasePlan(name="Majority"),
        ReleasePlan(name="Dawid-Skene", choices=LabelChoices(method="dawid-skene")),
    ):
        save_recipe(campaign, plan, user=manager)
    return "Dawid-Skene"


def make_doubles(manager) -> str:
    """Create a collection of questions that each occur twice. Returns its address."""
    from pooling.models import Topic
    from pooling.services.collections import create_collection

    collection = create_collection(name="Voice questions", user=manager)
    texts = [
        f"how long does {what} take in {month}"
        for what in ("the ferry", "a visa", "a refund", "delivery")
        for month in MONTHS
    ]
    texts = [
        *texts,
        *[f"is {what} open in {month}" for what in ("the museum", "the pool") for month in MONTHS],
    ][:N_DOUBLES]
    rows = [*texts, *[text.capitalize() for text in texts]]
    Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=str(i), text=text, position=i)
        for i, text in enumerate(rows, 1)
    )
    return f"/collections/{collection.slug}/"


MONTHS = [f"{date(2026, month, 1):%B}" for month in range(1, 13)]


def make_jobs() -> dict[str, str]:
    """Create open campaigns, each with an annotator who has read the guidelines. Returns the
    judging address of each task's campaign."""
    from annotation.models import Membership, Pair
    from annotation.services.campaigns import lifecycle
    from tests.browser.judging import make_job

    addresses = {}
    for key, settings in JOBS.items():
        campaign, member = make_job(**settings)
        newest = campaign.guidelines.order_by("number").last()
        Membership.objects.filter(pk=member.pk).update(guideline_read=newest.number)
        member.user.username = f"annotator of {key}"
        member.user.save()
        campaign.created_by.username = f"manager of {key}"
        campaign.created_by.save()
        if key == "practice":
            for pair in Pair.objects.filter(campaign=campaign).order_by("position")[:3]:
                why = "It reports “a trial of twelve weeks”, which is what was asked for."
                lifecycle.set_pair_kind(
                    pair,
                    Pair.Kind.QUALIFICATION,
                    gold_grade=3,
                    explanation=why,
                    actor=campaign.created_by,
                )
            lifecycle.update_campaign(campaign, actor=campaign.created_by, qualification_pass=0.5)
            Membership.objects.filter(pk=member.pk).update(qualified_at=None)
        addresses[key] = f"/judge/{campaign.slug}/"
    return addresses


JOBS = {
    "passage": {
        "name": "Evidence with passages",
        "spans": "required",
        "spans_from": 2,
        "n_documents": 4,
    },
    "reopen": {"name": "Exercise trials", "n_documents": 8},
    "larger": {"name": "Exercise reviews", "n_documents": 4},
    "stay": {
        "name": "Three systems",
        "n_documents": 12,
        "n_topics": 3,
        "ranks": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
    },
    "ask": {"name": "Exercise reports", "n_documents": 6},
    "practice": {"name": "Practice first", "n_documents": 8},
    "language": {"name": "Exercise and sleep", "n_documents": 4},
}
