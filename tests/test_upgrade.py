"""An installation of version 0.1.0, with people in the middle of a campaign, becomes one of today:
on SQLite and on PostgreSQL."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from annotation.models import AuditEvent, Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns.pool_changes import apply_decisions_to_campaigns
from annotation.services.judging import assignment
from annotation.services.people.sessions import get_open_sessions
from annotation.services.people.tokens import get_token
from pooling.models import Document, Pool, PoolEntry, Topic
from tests.builders import submit
from tests.commands import call_command
from tests.databases import own_database, undone

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade")]

VERSION_0_1_0 = [
    ("pooling", "0003_whole_sets"),
    ("annotation", "0006_hold_back_pairs_without_text"),
    ("analysis", "0002_report_files"),
]
OTHERS = {"auth", "contenttypes", "sessions", "admin"}
NOW = datetime.now(UTC)
SCALE = [
    {"value": value, "name": name, "explanation": "", "example": "", "shape": "ring"}
    for value, name in enumerate(["No", "Yes"])
]
TEXTS = {"d1": "plain words, five of them", "d2": "信息检索的评估", "d3": "one ภาษาไทยดี"}
WORDS_THEN = {"d1": 5, "d2": 1, "d3": 2}
WORDS_NOW = {"d1": 5, "d2": 4, "d3": 3}
"""By hand: 7 Chinese characters in twos are 4; `one`, and 8 Thai letters in fours (the last with
its sign) are 1 + 2."""
JUDGED = [  # topic, document, priority, kind, who has judged it, who holds it
    ("t1", "d1", 2, "normal", ["ada", "bob"], []),
    ("t2", "d1", 9, "normal", ["ada"], ["bob"]),
    ("t1", "d2", 1, "normal", ["bob"], ["ada"]),
    ("t2", "d2", 1, "gold", [], []),
    ("t1", "d3", 0, "normal", [], []),
    ("t2", "d3", 0, "normal", [], []),
]
"""The pairs of the campaign."""


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
)
def installation(request, tmp_path_factory, django_db_blocker):
    """A database whose rows were written at 0.1.0, brought up to date."""
    server = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    with (
        django_db_blocker.unblock(),
        own_database(request.param, folder=tmp_path_factory.mktemp("old"), server=server),
    ):
        executor = MigrationExecutor(connection)
        targets = [
            *VERSION_0_1_0,
            *(node for node in executor.loader.graph.leaf_nodes() if node[0] in OTHERS),
        ]
        executor.migrate(targets)
        fill(executor.loader.project_state(targets).apps)
        call_command("migrate", verbosity=0)
        yield


@pytest.fixture
def upgraded(installation):
    """What a test changes is undone."""
    with undone():
        yield


def fill(apps: Any) -> None:
    """Two topics, of which the second was removed after the campaign had got its pairs; six pairs,
    four judgements, two leases."""

    def make(name: str, /, **fields: Any) -> Any:
        return apps.get_model(name).objects.create(**fields)

    people = {
        name: make("auth.User", username=name, password="!") for name in ("manager", "ada", "bob")
    }
    make(
        "annotation.ApiTokenRow",
        user=people["ada"],
        name="old",
        digest=hashlib.sha256(b"assay_old").hexdigest(),
    )
    for key, content in (
        ("of ada", {"_auth_user_id": str(people["ada"].pk)}),
        ("of nobody", {"time_zone": "UTC"}),
    ):
        make(
            "sessions.Session",
            session_key=key,
            session_data=SessionStore().encode(content),
            expire_date=NOW + timedelta(days=1),
        )
    collection = make("pooling.Collection", slug="old", name="Old")
    topics = {
        "t1": make("pooling.Topic", collection=collection, topic_id="t1", text="kept", position=0),
        "t2": make(
            "pooling.Topic",
            collection=collection,
            topic_id="t2",
            text="gone",
            position=1,
            removed_reason="off the subject",
        ),
    }
    documents = {
        name: make(
            "pooling.Document",
            collection=collection,
            docno=name,
            text=text,
            n_words=WORDS_THEN[name],
        )
        for name, text in TEXTS.items()
    }
    fill_pools(make, collection, topics["t1"])
    pool = make(
        "pooling.Pool", collection=collection, name="pool", depth=3, n_pairs=6, built_at=NOW
    )
    campaign = make(
        "annotation.Campaign",
        slug="old",
        name="Old",
        collection=collection,
        pool=pool,
        state="open",
        scale=SCALE,
        threshold=1,
        judgements_per_pair=2,
        target_per_annotator=0,
        min_active_seconds=0,
        n_pairs=6,
        n_topics=2,
        n_gold=1,
        created_by=people["manager"],
        opened_at=NOW - timedelta(days=1),
        simulated=True,
    )
    for number in (1, 2):
        make(
            "annotation.GuidelineVersion",
            campaign=campaign,
            number=number,
            text=f"version {number}",
        )
    make(
        "annotation.Membership",
        campaign=campaign,
        user=people["manager"],
        role="manager",
        pseudonym="M1",
    )
    members = {
        name: make(
            "annotation.Membership",
            campaign=campaign,
            user=people[name],
            role="annotator",
            pseudonym=name,
            guideline_read=2,
            n_counted=2,
            seed=1,
            simulated=name == "bob",
            topic_ids=[topics["t1"].pk],
            current_topic_id=topics["t1"].pk,
        )
        for name in ("ada", "bob")
    }
    for position, (topic, document, priority, kind, judged, held) in enumerate(JUDGED):
        entry = make(
            "pooling.PoolEntry",
            pool=pool,
            topic=topics[topic],
            docno=document,
            document=documents[document],
            best_rank=1,
            priority=priority,
            position=position,
        )
        pair = make(
            "annotation.Pair",
            campaign=campaign,
            entry=entry,
            topic_row=topics[topic].pk,
            kind=kind,
            priority=priority,
            position=position,
            needed=2,
            counted=len(judged),
            held=len(held),
            open_slots=2 - len(judged) - len(held),
            started=bool(judged or held),
            gold_grade=1 if kind == "gold" else None,
        )
        for name in [*judged, *held]:
            token = f"00000000-0000-4000-8000-{position:011d}{'ab'.index(name[0])}"
            state = "live" if name in held else "submitted"
            lease = make(
                "annotation.Lease",
                pair=pair,
                membership=members[name],
                token=token,
                state=state,
                served_at=NOW,
                expires_at=NOW + timedelta(hours=1),
            )
            if name in judged:
                make(
                    "annotation.Judgement",
                    key=token,
                    pair=pair,
                    membership=members[name],
                    lease=lease,
                    grade=1,
                    standing="counted",
                    judged_at=NOW,
                    received_at=NOW,
                    guideline_version=2,
                )


def fill_pools(make: Any, collection: Any, topic: Any) -> None:
    """Pairs that files named: with ranks, and with FiRA's priorities alone, one of them for
    everyone."""
    for name, depth, rows in (
        ("ranked", 3, [("d1", 1, 2, False), ("d2", 3, 0, False)]),
        ("unranked", 10, [("d1", 0, 9, False), ("d2", 0, 0, True)]),
    ):
        pool = make(
            "pooling.Pool",
            collection=collection,
            name=name,
            depth=depth,
            source=f"{name}.tsv",
            n_pairs=2,
        )
        for position, (document, rank, priority, everyone) in enumerate(rows):
            make(
                "pooling.PoolEntry",
                pool=pool,
                topic=topic,
                docno=document,
                best_rank=rank,
                priority=priority,
                everyone=everyone,
                position=position,
            )


def pair(topic: str, document: str) -> Pair:
    return Pair.objects.get(entry__topic__topic_id=topic, entry__docno=document)


def test_words_are_counted_again_where_a_script_has_no_spaces(upgraded):
    assert dict(Document.objects.values_list("docno", "n_words")) == WORDS_NOW


def test_a_campaign_keeps_its_order_and_its_counters_are_there(upgraded):
    campaign = Campaign.objects.get()
    assert (campaign.band, campaign.newest_guideline, campaign.top_priority) == (1, 2, 2), (
        "9 was the priority of a removed topic"
    )
    assert (campaign.n_pairs, campaign.n_topics, campaign.n_gold, campaign.n_everyone) == (
        3,
        1,
        0,
        0,
    )
    assert (
        list(
            Membership.objects.filter(role="annotator").values_list(
                "n_judged", "n_today", "today_since", "qualification_after"
            )
        )
        == [(2, 0, None, 0)] * 2
    )


def test_a_campaign_keeps_counting_gold_exactly_as_its_annotators_were_told(upgraded):
    assert Campaign.objects.get().gold_rule == "exact"
    assert Campaign().gold_rule == "side"


def test_an_annotator_keeps_the_topics_that_it_may_judge_and_the_one_that_it_is_at(upgraded):
    row = Topic.objects.get(topic_id="t1").pk
    assert (
        list(
            Membership.objects.filter(role="annotator").values_list(
                "topic_rows", "current_topic_row"
            )
        )
        == [([row], row)] * 2
    )


def test_topics_removed_before_leave_and_the_trail_says_so(upgraded):
    assert sorted(
        Pair.objects.filter(removed=True).values_list("entry__topic__topic_id", "entry__docno")
    ) == [("t2", name) for name in TEXTS]
    event = AuditEvent.objects.get()
    assert (event.action, event.subject, event.details) == (
        "removed topics",
        "t2",
        {"topics": {"t2": "off the subject"}, "pairs": 3},
    )
    assert check_invariants(Campaign.objects.get()) == []
    assert (pair("t2", "d1").counted, pair("t2", "d1").held, pair("t2", "d1").open_slots) == (
        1,
        1,
        0,
    )
    assert Judgement.objects.count() == 4, "nothing that was judged is lost"


def test_people_go_on_where_they_were(upgraded):
    bob = Membership.objects.select_related("campaign", "user").get(pseudonym="bob")
    outcome = submit(bob, Lease.objects.get(membership=bob, state="live"), 1)
    assert outcome.judgement.status == "counted", "reserved before its topic was left out"
    served = assignment.refill_leases(bob, want=5, held=[])
    assert {
        (row.pair.entry.topic.topic_id, row.pair.entry.docno)
        for row in Lease.objects.filter(membership=bob, state="live")
    } == {("t1", "d3")}
    assert served.situation.state == "judging"
    assert check_invariants(Campaign.objects.get()) == []


def test_a_token_made_then_opens_what_it_did(upgraded):
    answer = Client(headers={"Authorization": "Token assay_old"}).get("/api/v1/judging/old/setup")
    assert (answer.status_code, answer.json()["pseudonym"]) == (200, "ada")
    row = get_token("assay_old")
    assert (row.scopes, row.expires_at) == ("read judge manage", None)


def test_who_was_signed_in_then_stands_in_the_list_of_sessions(upgraded):
    assert [(one.session_id, one.user.username) for one in get_open_sessions()] == [
        ("of ada", "ada")
    ]


def test_a_topic_removed_then_can_be_kept_again_today(upgraded):
    Topic.objects.update(removed_reason="")
    campaign = Campaign.objects.get()
    apply_decisions_to_campaigns(campaign.collection, None)
    campaign.refresh_from_db()
    assert (campaign.n_pairs, campaign.n_topics, campaign.n_gold, campaign.top_priority) == (
        6,
        2,
        1,
        9,
    )
    assert pair("t2", "d1").open_slots == 0
    assert pair("t2", "d3").open_slots == 2
    assert check_invariants(campaign) == []


def test_who_was_marked_simulated_is_a_judge_of_that_kind_and_everybody_else_a_person(upgraded):
    kinds = dict(Membership.objects.values_list("pseudonym", "annotator_type"))
    assert kinds == {"M1": "human", "ada": "human", "bob": "simulated"}
    assert Campaign.objects.get().simulated


def test_a_pool_says_how_it_was_made_and_keeps_its_depth_where_it_has_one(upgraded):
    pools = {pool.name: pool for pool in Pool.objects.all()}
    assert {name: (pool.kind, pool.depth, pool.words) for name, pool in pools.items()} == {
        "pool": ("depth", 3, "depth 3"),
        "ranked": ("given", 3, "pairs from ranked.tsv"),
        "unranked": ("given", None, "pairs from unranked.tsv"),
    }
    assert [
        pools["unranked"].level_of(9),
        pools["ranked"].level_of(2),
        pools["pool"].level_of(2),
    ] == [9, 1, 1]
    assert pools["unranked"].least_depth == 10, "what it was before"
    assert set(PoolEntry.objects.values_list("stratum", "place", "stage", "entered")) == {
        (None, None, None, "")
    }
