"""Builders of small campaigns and users for tests. They call the services wherever a rule applies.

campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2)      # open, 6 pairs, a
manager
ada = make_annotator(campaign)
lease = scheduling.claim(ada)
judge(ada, 2)                                                                    # claims and
submits
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Campaign, Judgement, Lease, Membership, Pair, Profile
from annotation.services.campaigns import lifecycle
from annotation.services.judging import scheduling, submission
from annotation.services.judging.submission import Answer, AnswerOutcome
from annotation.services.people import accounts
from pooling.models import Collection, Document, Pool, PoolEntry, Topic
from pooling.platform import jobs

PASSWORD = "correct horse battery"
_numbers = itertools.count(1)


def make_user(
    name: str = "",
    *,
    may_create: bool = False,
    superuser: bool = False,
    time_zone: str = "",
    email: str = "",
) -> User:
    """Create a user with the password PASSWORD and a profile."""
    name = name or f"person{next(_numbers)}"
    user = get_user_model().objects.create(
        username=name, is_superuser=superuser, is_staff=superuser, email=email
    )
    user.set_password(PASSWORD)
    user.save()
    Profile.objects.create(user=user, may_create=may_create, time_zone=time_zone)
    return user


def do_urgent_jobs() -> None:
    """Run the urgent jobs (emails about accounts), as a worker does."""
    for job_id in jobs.list_urgent_jobs():
        jobs.run_job(job_id)


def make_collection(
    *,
    n_topics: int = 2,
    n_documents: int = 5,
    manager: User | None = None,
    slug: str = "",
    texts: Sequence[str] = (),
) -> Collection:
    """Create a collection with topics t1, t2, … and documents d1, d2, … with short texts. texts:
    those of the first documents."""
    slug = slug or f"collection-{next(_numbers)}"
    collection = Collection.objects.create(
        slug=slug, name=slug.title(), n_documents=n_documents, created_by=manager
    )
    if manager is not None:
        collection.managers.add(manager)
    Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=f"t{i}", text=f"query number {i}", position=i)
        for i in range(1, n_topics + 1)
    )
    for i in range(1, n_documents + 1):
        text = (
            texts[i - 1]
            if i <= len(texts)
            else f"Document {i} speaks of query number {i}. It has a second sentence."
        )
        Document.objects.create(
            collection=collection,
            docno=f"d{i}",
            title=f"Title {i}",
            text=text,
            n_words=len(text.split()),
        )
    return collection


def make_pool(
    collection: Collection, *, depth: int = 10, ranks: Sequence[int] | None = None, name: str = ""
) -> Pool:
    """Create a pool of every topic with every document. Document di has best rank i (or ranks[i-1])
    and priority depth - rank. Pairs of equal priority are in the order of their topics."""
    topics, documents = list(collection.topics.all()), list(collection.documents.order_by("pk"))
    pool = Pool.objects.create(
        collection=collection, name=name or f"pool {next(_numbers)}", depth=depth
    )
    ranked = [
        (min(ranks[i] if ranks else i + 1, depth), topic, document)
        for i, document in enumerate(documents)
        for topic in topics
    ]
    ranked.sort(key=lambda row: row[0])
    PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=pool,
            topic=topic,
            docno=document.docno,
            document=document,
            best_rank=rank,
            priority=depth - rank,
            position=position,
            contributions={"run": rank},
        )
        for position, (rank, topic, document) in enumerate(ranked)
    )
    pool.n_pairs = len(ranked)
    pool.save(update_fields=["n_pairs"])
    return pool


def make_campaign(
    *,
    n_topics: int = 2,
    n_documents: int = 5,
    judgements_per_pair: int = 3,
    collection: Collection | None = None,
    pool: Pool | None = None,
    manager: User | None = None,
    state: str = "open",
    ranks: Sequence[int] | None = None,
    guideline: str = "",
    name: str = "",
    **settings: Any,
) -> Campaign:
    """Create a campaign with a manager and a pair for each topic and document. It is open unless
    `state` is draft, paused or closed."""
    manager = manager or make_user(may_create=True)
    collection = collection or make_collection(
        n_topics=n_topics, n_documents=n_documents, manager=manager
    )
    settings.setdefault("target_per_annotator", 0)
    bar = settings.pop(
        "qualification_pass", 0
    )  # the test creates the pairs later; without them a draft with a test cannot open
    campaign = lifecycle.create_campaign(
        name=name or f"Campaign {next(_numbers)}",
        collection=collection,
        actor=manager,
        seed=1,
        judgements_per_pair=judgements_per_pair,
        **settings,
    )
    lifecycle.set_pool(campaign, pool or make_pool(collection, ranks=ranks), actor=manager)
    if guideline:
        lifecycle.save_guideline(campaign, guideline, actor=manager)
    if state != "draft":
        lifecycle.open_campaign(campaign, actor=manager)
    if bar:
        lifecycle.update_campaign(campaign, actor=manager, qualification_pass=bar)
    if state == "paused":
        lifecycle.pause_campaign(campaign, actor=manager)
    if state == "closed":
        lifecycle.close_campaign(campaign, actor=manager)
    return campaign


def make_annotator(campaign: Campaign, name: str = "", **fields: Any) -> Membership:
    """Create an annotator who has read the guidelines. fields: of Membership."""
    membership = accounts.add_member(
        campaign=campaign, user=make_user(name), role=Membership.Role.ANNOTATOR
    )
    newest = campaign.guidelines.order_by("number").last()
    fields.setdefault("guideline_read", newest.number if newest else 0)
    Membership.objects.filter(pk=membership.pk).update(**fields)
    return Membership.objects.select_related("campaign", "user").get(pk=membership.pk)


def make_manager(campaign: Campaign, name: str = "") -> Membership:
    return accounts.add_member(
        campaign=campaign, user=make_user(name), role=Membership.Role.MANAGER
    )


def lease_of(membership: Membership, pair: Pair, *, now: datetime) -> Lease:
    """Create a lease for the given pair, as the scheduler would."""
    pair.refresh_from_db()
    pair.held += 1
    pair.open_slots -= 1
    pair.started = True
    pair.save()
    lease = Lease(pair=pair, membership=membership, served_at=now)
    lease.expires_at = scheduling.leases.lease_expiry(membership, now)
    lease.save()
    return lease


def submit(
    membership: Membership,
    lease: Lease,
    grade: int | None,
    *,
    now: datetime | None = None,
    **answer: Any,
) -> AnswerOutcome:
    """Submit a grade for a lease with plausible times. grade None: cannot judge."""
    if grade is None:
        answer.setdefault("cannot_reason", "other")
    return submission.submit_judgement(
        membership,
        lease=lease.token,
        key=answer.pop("key", None) or uuid.uuid4(),
        answer=Answer(grade=grade, **answer),
        now=now,
    )


def judge(
    membership: Membership, grade: int | None, *, now: datetime | None = None, **answer: Any
) -> Judgement:
    """Claim the annotator's next pair and judge it."""
    lease = scheduling.claim_pair(membership, now=now)
    if lease is None:
        raise AssertionError(f"nothing to judge for {membership}")
    return submit(membership, lease, grade, now=now, **answer).judgement


def judge_pair(
    membership: Membership, pair: Pair, grade: int | None, *, now: datetime, **answer: Any
) -> Judgement:
    """Lease the given pair to the annotator and judge it."""
    return submit(
        membership, lease_of(membership, pair, now=now), grade, now=now, **answer
    ).judgement


def judged_campaign(
    grades: Mapping[tuple[str, str], Sequence[int]],
    *,
    names: Sequence[str] = ("ada", "bob"),
    now: datetime | None = None,
    **settings: Any,
) -> Campaign:
    """Create a campaign with these grades: (topic, document) -> grades by the named annotators, in
    their order, for example {("t1", "d1"): (0, 3)}.

    It has two judgements per pair, and as many topics and documents as the grades, unless settings
    (of make_campaign) differ.
    """
    topics, documents = zip(*grades, strict=True)
    settings = {
        "n_topics": len(set(topics)),
        "n_documents": len(set(documents)),
        "judgements_per_pair": 2,
        **settings,
    }
    campaign = make_campaign(**settings)
    annotators = [make_annotator(campaign, name) for name in names]
    pairs = {
        (pair.entry.topic.topic_id, pair.entry.docno): pair
        for pair in campaign.pairs.select_related("entry__topic")
    }
    for place, given in grades.items():
        for annotator, grade in zip(annotators[: len(given)], given, strict=True):
            judge_pair(annotator, pairs[place], grade, now=now or timezone.now())
    return campaign


def campaign_on_its_way(
    *, n_judged: int, every: timedelta, left: timedelta, **settings: Any
) -> Campaign:
    """Create a running campaign: ada has judged n pairs, one per `every`, the last one half an
    `every` ago. The campaign was opened when she began, and the deadline is in `left`."""
    campaign = make_campaign(**settings)
    ada, now = make_annotator(campaign, "ada"), timezone.now()
    for place in range(n_judged):
        judge(ada, 1, now=now - every * (n_judged - place - 0.5))
    Campaign.objects.filter(pk=campaign.pk).update(
        deadline=now + left, opened_at=now - every * n_judged
    )
    return Campaign.objects.select_related("pool").get(pk=campaign.pk)
