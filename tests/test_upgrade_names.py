"""An installation whose rows were written before names changed shows them under the new names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from analysis.models import Report
from annotation.models import AuditEvent, Judgement, Membership
from pooling.models import Job
from tests.commands import call_command
from tests.databases import own_database, undone

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade of names")]

BEFORE = [
    ("pooling", "0007_kept_answers"),
    ("annotation", "0027_gold_rule"),
    ("analysis", "0003_release_content_digest"),
]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAILED = (
    "The qualification was not passed. The campaign's manager can let you try again or let you in."
)
TOO_FAST = (
    "12 of your answers came faster than anybody can read the document. That happens easily: a key "
    "pressed twice, or tired eyes. Take a break, and read the guidelines once more. Nothing else is "
    "lost; the campaign's manager can let you go on."
)
OTHERS = {"auth", "contenttypes", "sessions", "admin"}


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)]
)
def installation(request, tmp_path_factory, django_db_blocker):
    """A database with rows from before, brought up to date."""
    server = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    with (
        django_db_blocker.unblock(),
        own_database(request.param, folder=tmp_path_factory.mktemp("old"), server=server),
    ):
        executor = MigrationExecutor(connection)
        targets = [
            *BEFORE,
            *(node for node in executor.loader.graph.leaf_nodes() if node[0] in OTHERS),
        ]
        executor.migrate(targets)
        fill(executor.loader.project_state(targets).apps)
        call_command("migrate", verbosity=0)
        yield


@pytest.fixture
def upgraded(installation):
    with undone():
        yield


def fill(apps: Any) -> None:
    collection = apps.get_model("pooling.Collection").objects.create(slug="old", name="Old")
    fill_campaign(apps, collection)
    reports = apps.get_model("analysis.Report").objects
    holes = {"total": 2, "per_topic": {"t1": 2}}
    reports.create(
        collection=collection,
        kind="holes",
        title="late",
        result={"holes": holes, "score": {"P@2": 0.5}, "before": {"holes": holes}},
    )
    reports.create(collection=collection, kind="holes", title="unfinished")
    reports.create(collection=collection, kind="machine_judges", title="judges", result={})
    reports.create(
        collection=collection,
        kind="reusability",
        title="reusability",
        result={"late": {"cutoff": 10, "runs": {"a": {"holes": 1, "holes_as_0": 0.5}}}},
    )
    reports.create(
        collection=collection,
        kind="compare_systems",
        title="systems",
        parameters={
            "options": {"level": 2, "topics": "intersection", "family": "max", "trials": 500}
        },
        command="assay compare systems q.txt a.run --level=2 --topics=intersection "
        "--family=max --trials=500 --json",
        result={"settings": {"family": "max", "trials": 500}},
    )
    reports.create(
        collection=collection,
        kind="stability",
        title="stability",
        parameters={"options": {"threshold": 0.8, "scores": "float32"}},
        command="assay check stability q.txt a.run --threshold=0.8 --scores=float32",
    )
    reports.create(
        collection=collection,
        kind="leaderboard",
        title="leaderboard",
        parameters={"options": {"family": 9}},
        command="assay leaderboard q.txt a.run --order=order.tsv --family=9",
        result={"family": 9, "order": ["a"]},
    )
    reports.create(
        collection=collection,
        kind="study-stability",
        title="study",
        parameters={"values": {"threshold": 0.8, "level": 2}},
    )


def fill_campaign(apps: Any, collection: Any) -> None:
    """A campaign with one pair, judged by a paused annotator who was too fast."""

    def make(name: str, /, **fields: Any) -> Any:
        return apps.get_model(name).objects.create(**fields)

    topic = make("pooling.Topic", collection=collection, topic_id="t1", text="one", position=0)
    pool = make("pooling.Pool", collection=collection, name="pool", depth=1, n_pairs=1)
    entry = make(
        "pooling.PoolEntry",
        pool=pool,
        topic=topic,
        docno="d1",
        best_rank=1,
        priority=0,
        position=0,
    )
    campaign = make(
        "annotation.Campaign",
        slug="old",
        name="Old",
        collection=collection,
        pool=pool,
        scale=[],
        created_by=make("auth.User", username="manager", password="!"),
    )
    ada = make(
        "annotation.Membership",
        campaign=campaign,
        user=make("auth.User", username="ada", password="!"),
        role="annotator",
        pseudonym="ada",
        standing="paused",
        standing_reason="clicks",
    )
    for name, reason in (("ben", FAILED), ("eve", TOO_FAST)):
        make(
            "annotation.Membership",
            campaign=campaign,
            user=make("auth.User", username=name, password="!"),
            role="annotator",
            pseudonym=name,
            standing="paused",
            standing_reason=reason,
        )
    make("annotation.AuditEvent", campaign=campaign, action="asked for one more judgement")
    make("pooling.Job", kind="take extension back", label="Undo", collection=collection)
    pair = make(
        "annotation.Pair",
        campaign=campaign,
        entry=entry,
        topic_row=topic.pk,
        priority=0,
        position=0,
        needed=1,
        open_slots=1,
    )
    make(
        "annotation.Judgement",
        key="00000000-0000-4000-8000-000000000000",
        pair=pair,
        membership=ada,
        grade=1,
        standing="too fast",
        judged_at=NOW,
    )


def report(title: str) -> Report:
    return Report.objects.get(title=title)


def test_stored_reports_have_the_new_names_of_kinds_and_keys(upgraded):
    unjudged = {"total": 2, "per_topic": {"t1": 2}}
    assert report("late").kind == report("unfinished").kind == "unjudged"
    assert report("late").result == {
        "unjudged": unjudged,
        "score": {"P@2": 0.5},
        "before": {"unjudged": unjudged},
    }
    assert report("judges").kind == "compare_llm_judges"
    assert report("reusability").result["late"]["runs"] == {
        "a": {"unjudged": 1, "unjudged_as_0": 0.5}
    }


def test_stored_reports_have_the_new_names_of_options(upgraded):
    systems, stability, board = map(report, ("systems", "stability", "leaderboard"))
    assert systems.parameters["options"] == {
        "min_relevant": 2,
        "missing_topics": "skip",
        "correction": "max",
        "permutations": 500,
    }
    assert systems.command == (
        "assay compare systems q.txt a.run --min-relevant=2 --missing-topics=skip "
        "--correction=max --permutations=500 --json"
    )
    assert systems.result == {"settings": {"correction": "max", "permutations": 500}}
    assert stability.parameters["options"] == {"min_tau": 0.8, "precision": "float32"}
    assert stability.command.endswith("--min-tau=0.8 --precision=float32")
    assert board.parameters["options"] == {"family_size": 9}
    assert board.command.endswith("--metadata=order.tsv --family-size=9")
    assert board.result == {"family_size": 9, "order": ["a"]}
    assert report("study").parameters["values"] == {"min_tau": 0.8, "min_relevant": 2}


def test_annotators_and_judgements_keep_their_status(upgraded):
    ada = Membership.objects.get(pseudonym="ada")
    assert (ada.status, ada.status_reason) == (Membership.Status.PAUSED, "clicks")
    assert Judgement.objects.get().status == Judgement.Status.TOO_FAST


def test_reasons_of_automatic_pauses_become_codes(upgraded):
    reasons = dict(Membership.objects.values_list("pseudonym", "status_reason"))
    assert reasons["ben"] == "failed the qualification test"
    assert reasons["eve"] == "too-fast judgements: 12"


def test_the_audit_trail_and_jobs_have_the_new_words(upgraded):
    assert AuditEvent.objects.get().action == "requested an additional judgement"
    assert Job.objects.get().kind == "undo extension"
