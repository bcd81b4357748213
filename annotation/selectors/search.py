"""Search over everything that a manager may see: campaigns, annotators, topics, pairs, runs and
collections. Each query is limited by an index to the user's campaigns or collections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign, Membership, Pair
from annotation.permissions import visible_campaigns
from pooling.models import Collection, Document, PoolEntry, Run, Topic
from pooling.permissions import visible_collections

MAX_HITS = 8
"""Maximum number of results per kind."""
MAX_TOPICS_READ = 20_000
"""Number of visible topics above which topics are found by their ID only, because no index covers
their text."""


class SearchHit(NamedTuple):
    text: str
    place: str
    """The campaign or collection that contains it."""
    address: str


class SearchGroup(NamedTuple):
    """Search results of one kind, such as campaigns or topics."""

    name: str | Promise
    hits: list[SearchHit]


def search(user: User, words: str) -> list[SearchGroup]:
    """Search what the user manages, and return the results by kind. Objects are found by a part of
    their text, and pairs by document ID, or by topic ID and document ID."""
    words = " ".join(words.split())
    if not words:
        return []
    campaigns, collections = visible_campaigns(user), visible_collections(user)
    kinds: list[tuple[str | Promise, Iterable[SearchHit]]] = [
        (_("Campaigns"), _find_campaigns(campaigns, words)),
        (_("Annotators"), _find_annotators(campaigns, words)),
        (_("Topics"), _find_topics(collections, words)),
        (_("Pairs"), _find_pairs(campaigns, words)),
        (_("Runs"), _find_runs(collections, words)),
        (_("Collections"), _find_collections(collections, words)),
    ]
    groups = [SearchGroup(name, list(hits)) for name, hits in kinds]
    return [group for group in groups if group.hits]


def _find_campaigns(campaigns: QuerySet[Campaign], words: str) -> Iterable[SearchHit]:
    matches = campaigns.filter(Q(name__icontains=words) | Q(slug__icontains=words))
    for one in matches.select_related("collection").order_by("-created_at")[:MAX_HITS]:
        yield SearchHit(one.name, one.collection.name, reverse("campaign", args=[one.slug]))


def _find_annotators(campaigns: QuerySet[Campaign], words: str) -> Iterable[SearchHit]:
    """Find annotators by pseudonym or name. Only managers search, and they may see the names of
    their annotators."""
    names = Q(pseudonym__iexact=words)
    for column in ("username", "first_name", "last_name"):
        names |= Q(**{f"user__{column}__icontains": words})
    members = Membership.objects.filter(
        names, campaign__in=campaigns, role=Membership.Role.ANNOTATOR
    ).select_related("campaign", "user")
    for one in members.order_by("-campaign__created_at", "pseudonym")[:MAX_HITS]:
        name = one.user.get_full_name() or one.user.get_username()
        address = reverse("campaign-person", args=[one.campaign.slug, one.pseudonym])
        yield SearchHit(f"{one.pseudonym} · {name}", one.campaign.name, address)


def _find_topics(collections: QuerySet[Collection], words: str) -> Iterable[SearchHit]:
    topics = Topic.objects.filter(collection__in=collections)
    wanted = Q(topic_id=words)
    if topics.count() <= MAX_TOPICS_READ:
        wanted |= Q(text__icontains=words)
    for one in topics.filter(wanted).select_related("collection").order_by("pk")[:MAX_HITS]:
        address = reverse("collection-topics", args=[one.collection.slug])
        yield SearchHit(
            f"{one.topic_id} · {one.text}",
            one.collection.name,
            f"{address}?{urlencode({'q': one.topic_id})}",
        )


def _find_pairs(campaigns: QuerySet[Campaign], words: str) -> Iterable[SearchHit]:
    """Find pairs by document. The campaigns determine access, because their manager may not manage
    the collection."""
    topic, _blank, document = words.rpartition(" ")
    documents = Document.objects.filter(
        collection__in=campaigns.values("collection"), docno=document
    )
    entries = PoolEntry.objects.filter(document__in=documents)
    if topic:
        entries = entries.filter(topic__topic_id=topic)
    pairs = Pair.objects.filter(campaign__in=campaigns, entry__in=entries, removed=False)
    for one in pairs.select_related("campaign", "entry__topic").order_by("pk")[:MAX_HITS]:
        yield SearchHit(
            f"{one.entry.topic.topic_id} · {one.entry.docno}",
            one.campaign.name,
            reverse("campaign-pair", args=[one.campaign.slug, one.pk]),
        )


def _find_runs(collections: QuerySet[Collection], words: str) -> Iterable[SearchHit]:
    runs = Run.objects.filter(collection__in=collections, tag__icontains=words)
    for one in runs.select_related("collection").order_by("-created_at")[:MAX_HITS]:
        address = reverse("run", args=[one.collection.slug, one.pk])
        yield SearchHit(one.tag, one.collection.name, address)


def _find_collections(collections: QuerySet[Collection], words: str) -> Iterable[SearchHit]:
    matches = collections.filter(Q(name__icontains=words) | Q(slug__icontains=words))
    for one in matches.order_by("-created_at")[:MAX_HITS]:
        yield SearchHit(one.name, "", reverse("collection", args=[one.slug]))
