"""The installation of tests/browser/test_manager_pages.py: a running campaign with bad
annotators."""

from __future__ import annotations

import json
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from annotation.models import Feedback, Judgement, Message
from annotation.services.judging import scheduling
from tests.analysis.bad_annotators import campaign_with_bad_annotators
from tests.analysis.systems.builders import small_collection
from tests.builders import make_pool

N_JUDGEMENTS = 816
"""Number of judgements, including those of gold pairs."""


def prepare() -> None:
    """Create the campaign, and print one JSON object: slug, session (of its manager), counted
    (judgements of ordinary pairs), names (kind -> pseudonym), pseudonyms."""
    collection = small_collection(slug="travel")
    campaign, names = campaign_with_bad_annotators(
        collection=collection,
        pool=make_pool(collection),
        manager=collection.managers.get(),
        name="Spring",
        n_judgements=N_JUDGEMENTS,
        step_s=205,
        n_gold=24,
        guideline="# Read the whole document",
        deadline=timezone.now() + timedelta(days=3),
    )
    members = list(
        campaign.memberships.filter(role="annotator")
        .select_related("user", "campaign")
        .order_by("pseudonym")
    )
    scheduling.claim_pair(members[0])
    Feedback.objects.create(
        membership=members[0], score=Feedback.Score.VERY_GOOD, text="The keys saved me hours."
    )
    Feedback.objects.create(membership=members[1], score=Feedback.Score.DECENT, text="")
    Message.objects.create(
        membership=members[2], text="Mind the border between Related and Partly answers."
    )
    client = Client()
    client.force_login(collection.managers.get())
    session = client.cookies["sessionid"].value
    n_gold = Judgement.objects.filter(pair__campaign=campaign, pair__kind="gold").count()
    given = {
        "slug": campaign.slug,
        "session": session,
        "counted": N_JUDGEMENTS - n_gold,
        "names": names,
        "pseudonyms": [m.pseudonym for m in members],
    }
    print(json.dumps(given))
