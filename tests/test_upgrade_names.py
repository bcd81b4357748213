"""An installation whose rows were written before names changed shows them under the new names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from analysis.models import Recipe, Report
from annotation.models import AuditEvent, Campaign, Judgement, LlmJudge, Membership
from pooling.models import Job, Pool
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
    fill_llm_reports(reports, collection)
    holes = {"total": 2, "per_topic": {"t1": 2}}
    reports.create(
        collection=collection,
        kind="holes",
        title="late",
        parameters={"options": {"late": "a"}},
        result={"holes": holes, "score": {"P@2": 0.5}, "before": {"holes": holes}},
    )
    reports.create(collection=collection, kind="holes", title="unfinished")
    reports.create(collection=collection, kind="machine_judges", title="judges", result={})
    reports.create(
        collection=collection,
        kind="reusability",
        title="reusability",
        parameters={"options": {"late": True, "depth": 5}},
        command="assay reusability q.txt a.run b.run --late --depth=5 --json",
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
    make(
        "pooling.Pool",
        collection=collection,
        name="sampled",
        kind="sampled",
        parameters={
            "strata": "machine",
            "stages": [0.2],
            "machine": {"judge": "old/m", "digest": "d"},
        },
    )
    campaign = make(
        "annotation.Campaign",
        slug="old",
        name="Old",
        collection=collection,
        pool=pool,
        scale=[],
        threshold=1,
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
    for name, kind in (("bot", "simulated"), ("model", "machine")):
        user = make("auth.User", username=name, password="!")
        make(
            "annotation.Membership",
            campaign=campaign,
            user=user,
            role="annotator",
            pseudonym=name,
            judge_kind=kind,
        )
    judge = make(
        "annotation.MachineJudge", campaign=campaign, name="m", model="model", source="file"
    )
    make("annotation.MachineLabel", judge=judge, topic=topic, docno="d1", state="graded", grade=1)
    make("annotation.AuditEvent", campaign=campaign, action="made a machine judge", subject="m")
    make(
        "analysis.Recipe",
        campaign=campaign,
        name="r",
        choices={"judges": ["person", "machine"], "threshold": 2, "take_back": ["ada"]},
    )
    make("pooling.Job", kind="judge by machine", label="j", parameters={"machine": judge.pk})
    make(
        "pooling.Job",
        kind="systems answer",
        label="a",
        report={"level": 2, "looks": [{"share": 1.0}], "systems": []},
    )
    make(
        "pooling.Job",
        kind="import campaign",
        label="i",
        parameters={"judged": {"name": "x", "scale": 4, "threshold": 3}},
    )
    making = {"strata": "machine", "stages": [0.2], "machine": {"judge": "old/m"}}
    make(
        "pooling.Job",
        kind="preview pool",
        label="p",
        parameters={"making": making, "runs": []},
        report={"making": making},
    )
    make(
        "pooling.Job",
        kind="find the leader",
        label="l",
        parameters={"qrels": "campaign:graded:majority:person+simulated"},
    )


def fill_llm_reports(reports: Any, collection: Any) -> None:
    reports.create(
        collection=collection,
        kind="study-tripjudge",
        title="tripjudge",
        parameters={"values": {"scale": 4, "threshold": 2}},
    )
    systems = {
        "machine_alone": {"a": 0.5},
        "tau_machine_alone": 1.0,
        "tau_machine_alone_top5": 1.0,
        "halves": {"people": 1.0, "machine": 0.9, "best_people": 1.0, "best_machine": 0.8},
    }
    reports.create(
        collection=collection,
        kind="compare_llm_judges",
        title="comparison",
        parameters={"qrels": "campaign:binary:majority:person"},
        inputs=[{"path": "q.txt", "origin": "campaign:binary:majority:person"}],
        command="assay compare llm-judges --campaign old --annotators person simulated --json",
        result={
            "machine": {
                "agreement": {"people": {"among_themselves": {}, "one_and_machine": {}}},
                "systems": {"P@1": systems},
            }
        },
    )
    reports.create(
        collection=collection,
        kind="rank_llm_judges",
        title="ranking",
        result={"order": ["machine"], "machines": {"machine": {"pairs": 1}}},
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
    assert report("reusability").result["unpooled"]["runs"] == {
        "a": {"unjudged": 1, "unjudged_as_0": 0.5}
    }
    assert "late" not in report("reusability").result


def test_stored_reports_have_the_new_names_of_options_about_unpooled_runs(upgraded):
    assert report("late").parameters["options"] == {"unpooled_run": "a"}
    assert report("reusability").parameters["options"] == {"as_unpooled": True, "depth": 5}
    assert report("reusability").command == (
        "assay reusability q.txt a.run b.run --as-unpooled --depth=5 --json"
    )


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


def test_campaigns_have_one_question_and_judgements_no_further_answers(upgraded):
    assert Campaign.objects.get().further_questions == []
    assert Campaign.objects.get().task == "grades"
    assert Judgement.objects.values_list("answers", "presentation").get() == ({}, {})


def test_reasons_of_automatic_pauses_become_codes(upgraded):
    reasons = dict(Membership.objects.values_list("pseudonym", "status_reason"))
    assert reasons["ben"] == "failed the qualification test"
    assert reasons["eve"] == "too-fast judgements: 12"


def test_the_audit_trail_and_jobs_have_the_new_words(upgraded):
    assert (
        AuditEvent.objects.exclude(subject="m").get().action == "requested an additional judgement"
    )
    assert Job.objects.filter(kind="undo extension").exists()


def test_annotators_have_the_new_names_of_their_types(upgraded):
    assert dict(Membership.objects.values_list("pseudonym", "annotator_type")) == {
        "ada": "human",
        "ben": "human",
        "eve": "human",
        "bot": "simulated",
        "model": "llm",
    }
    assert Campaign.objects.get().annotator_type == "human"
    assert Recipe.objects.get().choices == {
        "judges": ["human", "llm"],
        "min_relevant": 2,
        "include_excluded": ["ada"],
    }
    job = Job.objects.get(label="l")
    assert job.parameters == {"qrels": "campaign:graded:majority:human+simulated"}


def test_the_minimum_relevant_grade_and_interim_checks_have_their_new_names(upgraded):
    assert Campaign.objects.get().min_relevant == 1
    assert Job.objects.get(label="a").report == {
        "min_relevant": 2,
        "interim_checks": [{"share": 1.0}],
        "systems": [],
    }
    assert Job.objects.get(label="i").parameters == {
        "judged": {"name": "x", "scale": 4, "min_relevant": 3}
    }
    assert report("tripjudge").parameters["values"] == {"scale": 4, "min_relevant": 2}


def test_llm_judges_keep_labels_trail_jobs_and_pools(upgraded):
    judge = LlmJudge.objects.get()
    assert list(judge.labels.values_list("docno", "grade")) == [("d1", 1)]
    assert AuditEvent.objects.get(subject="m").action == "created an LLM judge"
    assert Job.objects.get(kind="judge with LLM").parameters == {"llm_judge": judge.pk}
    making = {"strata": "llm", "stages": [0.2], "llm_judge": {"judge": "old/m"}}
    preview = Job.objects.get(kind="preview pool")
    assert (preview.parameters, preview.report) == (
        {"making": making, "runs": []},
        {"making": making},
    )
    assert Pool.objects.get(name="sampled").parameters == {
        "strata": "llm",
        "stages": [0.2],
        "llm_judge": {"judge": "old/m", "digest": "d"},
    }


def test_results_of_llm_judges_have_the_new_keys_and_keep_names_of_judges(upgraded):
    comparison = report("comparison")
    assert comparison.parameters == {"qrels": "campaign:binary:majority:human"}
    assert comparison.inputs[0]["origin"] == "campaign:binary:majority:human"
    assert comparison.command.endswith("--annotators human simulated --json")
    judge = comparison.result["machine"]
    assert judge["agreement"]["people"] == {"among_themselves": {}, "one_and_llm": {}}
    assert judge["systems"]["P@1"] == {
        "llm_alone": {"a": 0.5},
        "tau_llm_alone": 1.0,
        "tau_llm_alone_top5": 1.0,
        "halves": {"people": 1.0, "llm": 0.9, "best_people": 1.0, "best_llm": 0.8},
    }
    assert report("ranking").result == {
        "order": ["machine"],
        "llm_judges": {"machine": {"pairs": 1}},
    }
