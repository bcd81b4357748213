"""Every list of the API: each order that it can be asked for, and each filter, against the same
done by hand with the whole list.

What a list can be asked for is read from its view, so a new order or filter is tested without a
line here; a new list needs its address."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver, resolve

from analysis.models import Report
from annotation.core.webhook_messages import WebhookEvent
from annotation.models import Campaign, Webhook, WebhookMessage
from pooling.models import Collection, DocumentFile, Job, Pool, PoolEntry, Qrels, Run, Topic
from tests.builders import make_campaign, make_collection, make_pool, make_user

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, tzinfo=UTC)
OF_ROW: dict[str, Callable[[dict[str, Any]], Any]] = {
    "removed": lambda row: row["removed_reason"] != "",
    "built": lambda row: row["built_at"] is not None,
}
"""Filters whose value is not a field of the row."""


def moment(rng: random.Random) -> datetime:
    return START + timedelta(minutes=rng.randrange(60))


def some_moment(rng: random.Random) -> datetime | None:
    return moment(rng) if rng.random() < 0.7 else None


def word(rng: random.Random) -> str:
    return rng.choice(["ant", "bee", "cat", "dog"])


def filled(rng: random.Random) -> tuple[Collection, Pool]:
    """A collection with eight of everything, in no order, with equal values and with missing
    ones."""
    boss = make_user("boss", superuser=True)
    collection = make_collection(n_topics=6, n_documents=6, manager=boss, slug="c0")
    further = [collection, *(make_collection(manager=boss, slug=f"c{n}") for n in (2, 1))]
    for topic in collection.topics.all():
        Topic.objects.filter(pk=topic.pk).update(
            position=rng.randrange(4), removed_reason=rng.choice(["", "duplicate"])
        )
    pool = make_pool(collection)
    for entry in pool.entries.all():
        PoolEntry.objects.filter(pk=entry.pk).update(
            priority=rng.randrange(3), document=entry.document if rng.random() < 0.5 else None
        )
    watched = make_campaign(collection=collection, pool=pool, slug=collection.slug)
    webhook = Webhook.objects.create(campaign=watched, name="w", url="https://a.example/")
    for n in rng.sample(range(8), 8):
        known: dict[str, Any] = {"collection": collection, "digest": str(n), "source_name": "x"}
        day = date(2026, 1, rng.randrange(1, 4)) if n % 3 else None
        rows: list[Any] = [
            Run.objects.create(
                tag=f"r{n}",
                group=word(rng),
                submitted_on=day,
                baseline=n % 2 == 0,
                n_rows=rng.randrange(3),
                n_topics=1,
                **known,
            ),
            Qrels.objects.create(
                name=f"q{n}",
                kind=rng.choice(Qrels.Kind.values),
                n_rows=rng.randrange(3),
                n_topics=1,
                grades={},
                **known,
            ),
            DocumentFile.objects.create(
                collection=collection,
                name=f"f{n}",
                digest=str(n),
                n_bytes=1,
                n_documents=rng.randrange(3),
            ),
            Pool.objects.create(
                collection=collection,
                name=f"p{n}",
                depth=rng.randrange(1, 4),
                n_pairs=rng.randrange(3),
                built_at=some_moment(rng),
            ),
            Webhook.objects.create(campaign=watched, name=f"w{n}", url="https://a.example/"),
            WebhookMessage.objects.create(
                webhook=webhook,
                key=str(n),
                event=rng.choice(list(WebhookEvent)[:3]),
                state=rng.choice(WebhookMessage.State.values),
                due_at=moment(rng),
                answered_at=some_moment(rng),
            ),
            Job.objects.create(
                collection=rng.choice(further),
                kind=word(rng),
                state=rng.choice(Job.State.values),
                started_at=some_moment(rng),
                finished_at=some_moment(rng),
            ),
        ]
        campaign = make_campaign(
            collection=rng.choice(further),
            slug=f"k{n}",
            name=word(rng),
            state=rng.choice(Campaign.State.values),
        )
        Campaign.objects.filter(pk=campaign.pk).update(
            opened_at=some_moment(rng), closed_at=some_moment(rng)
        )
        for kind in (rng.choice(["evaluate", "bootstrap"]), "study-sota"):
            of = rng.choice([None, campaign])
            home = of.collection if of else rng.choice(further)
            rows.append(
                Report.objects.create(
                    collection=home,
                    campaign=of,
                    kind=kind,
                    title=word(rng),
                    finished_at=some_moment(rng),
                )
            )
        for row in [*rows, campaign]:
            type(row).objects.filter(pk=row.pk).update(created_at=moment(rng))
    return collection, pool


def lists(collection: Collection, pool: Pool) -> Iterator[str]:
    """Addresses of the lists that can be asked for an order or a choice."""
    for pattern in patterns(get_resolver().url_patterns):
        view = getattr(pattern[1].callback, "view_class", None)
        if getattr(view, "orders", ()) and "get" in view.http_method_names:
            yield "/" + pattern[0].replace("<slug:slug>", collection.slug).replace(
                "<int:pk>", str(pool.pk)
            )


def patterns(found: list[Any], before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for one in found:
        if isinstance(one, URLPattern):
            yield before + str(one.pattern), one
        else:
            yield from patterns(one.url_patterns, before + str(one.pattern))


def rows_of(client: Client, address: str, asked: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"{address}?limit=1000&{asked}")
    assert answer.status_code == 200, (address, asked, answer.content)
    return list(answer.json()["results"])


@pytest.mark.long
def test_each_order_and_filter_of_each_list_does_what_it_says(settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    rng = random.Random(5)
    collection, pool = filled(rng)
    client = Client()
    client.force_login(collection.created_by)
    tried = set()
    for address in lists(collection, pool):
        view = resolve(address).func.view_class
        whole = rows_of(client, address)
        assert len(whole) >= 3, address
        for name in view.orders:
            tried.add((address, name))
            for sign, falling in (("", False), ("-", True)):
                values = [row[name] for row in rows_of(client, address, f"ordering={sign}{name}")]
                known = sorted(
                    (row[name] for row in whole if row[name] is not None), reverse=falling
                )
                assert values == known + [None] * (len(whole) - len(known)), (address, sign + name)
        for one in getattr(view, "filters", ()):
            tried.add((address, one.name))
            value_of = OF_ROW.get(one.name, lambda row, name=one.name: row[name])
            wanted = [text for text, _ in one.values] or sorted(
                {str(value_of(row)) for row in whole if value_of(row) is not None}
            )
            chosen = {}
            for text in [*wanted, *([] if one.values else ["no such"])]:
                chosen[text] = rows_of(client, address, f"{one.name}={text}")
                assert chosen[text] == [row for row in whole if said(value_of(row)) == text], (
                    address,
                    one.name,
                    text,
                )
            assert sum(map(bool, chosen.values())) >= 2 or len(wanted) == 1, (address, one.name)
    assert len({address for address, _ in tried}) == 13
    assert len(tried) > 50


def said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
