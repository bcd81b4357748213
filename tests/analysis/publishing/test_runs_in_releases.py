"""Runs and click qrels in a release: the tables of systems come from the release alone, on another
installation too."""

from __future__ import annotations

import io
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from annotation.models import Campaign, Pair
from annotation.services.campaigns import lifecycle
from assay.formats.errors import FormatError
from assay.formats.leaderboards import ORDER_COLUMNS, read_leaderboard
from config.verification import find_faults
from pooling.models import Collection, Run
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.exported import START, judged
from tests.analysis.publishing.test_releases import built, parts
from tests.analysis.studies.made import about
from tests.builders import make_annotator, make_campaign, make_user
from tests.changed_releases import with_right_sums
from tests.databases import undone
from tests.pooling.conftest import bring_in

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("runs in releases")]
TOPICS, DOCUMENTS = [f"t{i}" for i in range(1, 9)], [f"d{i}" for i in range(1, 7)]
HEAD = "# ir_metadata.start\n# tag: bm25\n# method:\n#   automatic: true\n# ir_metadata.end\n"
PLAN = ReleasePlan(documents=True, runs=True, clicks=True)


def run_text(tag: str, seed: int) -> str:
    """Each topic's documents in another order, with scores of many digits."""
    rng, lines = random.Random(seed), []
    for topic in TOPICS:
        for rank, document in enumerate(rng.sample(DOCUMENTS, 5), 1):
            lines.append(f"{topic} Q0 {document} {rank} {1 / (rank + rng.random() / 3)!r} {tag}\n")
    return "".join(lines)


def make_it() -> Campaign:
    """A closed campaign with two judgements of each pair, three runs and two click qrels."""
    campaign = make_campaign(
        n_topics=len(TOPICS),
        n_documents=len(DOCUMENTS),
        judgements_per_pair=2,
        name="Autumn",
        guideline="Read.",
    )
    Campaign.objects.filter(pk=campaign.pk).update(deadline=None)
    moment, rng = START, random.Random(7)
    people = [make_annotator(campaign) for _ in range(2)]
    for pair in campaign.pairs.order_by("pk"):
        for person in people:
            moment += timedelta(minutes=2)
            judged(person, pair, rng.randrange(4), now=moment, active_ms=20_000)
    collection = campaign.collection
    dates = ["2026-01-03", "2026-01-02", "2026-01-04"]
    for number, (tag, date) in enumerate(zip(["bm25", "dense", "late"], dates, strict=True)):
        job = bring_in(
            collection,
            "run",
            (HEAD if tag == "bm25" else "") + run_text(tag, number),
            name=f"{tag}.run",
            submitted_on=date,
            group=f"group {number}",
            baseline=number == 0,
            description="" if tag == "bm25" else "A dense\n retriever",
        )
        assert job.report["stored"], job.report
    pool = campaign.pool
    assert pool is not None
    pool.runs.set(Run.objects.filter(tag__in=["bm25", "dense"]))
    for name in ("DCTR", "my clicks"):
        grades = (f"{t} 0 {d} {rng.randrange(4)}\n" for t in TOPICS for d in DOCUMENTS)
        bring_in(collection, "qrels", "".join(grades), name=name, kind="clicks")
    bring_in(collection, "qrels", "t1 0 d1 1\nt1 0 d2 0\n", name="judged")
    lifecycle.close_campaign(campaign)
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


def tables(folder: Path, study: str, *source: str) -> dict[str, bytes]:
    """The tables and macros that the study writes; nothing about systems is left out."""
    run("study", study, *source, "--output", str(folder))
    assert not set(about(folder)["left_out"]) & {"systems", "rankings", "clicks", "scores", "ranks"}
    return {p.name: p.read_bytes() for p in sorted((folder / "tables").iterdir())}


@pytest.fixture(scope="module")
def released(django_db_setup, django_db_blocker, tmp_path_factory) -> dict[str, bytes]:
    """The parts of a release, of whose campaign nothing is left in the database."""
    with django_db_blocker.unblock(), undone():
        return parts(built(make_it(), PLAN))


@pytest.fixture
def files(tmp_path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path


@pytest.mark.long
def test_a_release_gives_the_tables_of_the_campaign_on_another_installation(files) -> None:
    path, studies = files / "release.zip", ("tripjudge", "comparison", "leaderboard")
    with undone():
        campaign = make_it()
        data = built(campaign, PLAN)
        first = {
            name: tables(files / "of-campaign" / name, name, "--campaign", campaign.slug)
            for name in studies
        }
    path.write_bytes(data)
    assert not Collection.objects.exists()
    for name in studies:
        assert tables(files / "of-release" / name, name, str(path)) == first[name]
    again = import_release(path, name="release.zip", user=make_user("m"))
    for name in studies:
        found = tables(files / "of-import" / name, name, "--campaign", again.slug)
        assert found == first[name]
    assert built(again, PLAN) == data
    assert {"table-2.csv", "table-3.csv"} <= set(first["tripjudge"])
    assert [fault.sentence for fault in find_faults(fix=False)] == []


def test_runs_keep_what_is_known_about_them(released, files) -> None:
    found = released
    assert {name for name in found if name.startswith(("runs", "clicks"))} == {
        *("runs.tsv", "runs/bm25.run", "runs/dense.run", "runs/late.run"),
        *("clicks.tsv", "clicks/DCTR.qrels", "clicks/my-clicks.qrels"),
    }
    assert found["runs/bm25.run"].decode() == HEAD + run_text("bm25", 0)
    assert found["runs/late.run"].decode() == run_text("late", 2)
    rows = read_leaderboard(io.BytesIO(found["runs.tsv"]), columns=ORDER_COLUMNS)
    assert [(r.tag, r.date, r.group, r.is_baseline, r.description) for r in rows] == [
        ("bm25", "2026-01-03", "group 0", True, "tag: bm25 method: automatic: true"),
        ("dense", "2026-01-02", "group 1", False, "A dense retriever"),
        ("late", "2026-01-04", "group 2", False, "A dense retriever"),
    ]
    (files / "release.zip").write_bytes(with_right_sums(released).getvalue())
    again = import_release(files / "release.zip", name="release.zip", user=None)
    stored = {row.tag: row for row in again.collection.runs.all()}
    assert stored["bm25"].description == "tag: bm25\nmethod:\n  automatic: true"
    assert stored["dense"].description == "A dense retriever"
    assert again.pool is not None
    assert sorted(again.pool.runs.values_list("tag", flat=True)) == ["bm25", "dense"]
    assert sorted(again.collection.qrels.values_list("name", "kind")) == [
        ("DCTR", "clicks"),
        ("my clicks", "clicks"),
    ]


def test_runs_and_clicks_are_in_a_release_only_if_the_recipe_says_so(files) -> None:
    campaign = make_it()
    for plan, folders in (
        (ReleasePlan(), set()),
        (ReleasePlan(runs=True), {"runs"}),
        (ReleasePlan(clicks=True), {"clicks"}),
    ):
        names = parts(built(campaign, plan))
        assert {name.split("/")[0] for name in names if "/" in name} - {"guidelines"} == folders
        assert ("runs.tsv" in names, "clicks.tsv" in names) == (plan.runs, plan.clicks)


def test_a_recipe_on_the_page_and_in_the_api_includes_runs(files, client) -> None:
    campaign = make_it()
    manager = campaign.memberships.get(role="manager").user
    client.force_login(manager)
    address = f"/api/v1/campaigns/{campaign.slug}/recipes/"
    body = {"name": "of api", "runs": True}
    made = client.post(address, body, content_type="application/json").json()
    assert (made["runs"], made["clicks"]) == (True, False)
    form = {"recipe-name": "of page", "recipe-clicks": "on", "recipe-judges": ["human"]}
    client.post(f"/campaigns/{campaign.slug}/export/recipes/", form)
    found: dict[str, Any] = {row["name"]: row for row in client.get(address).json()}
    assert (found["of page"]["runs"], found["of page"]["clicks"]) == (False, True)
    page = client.get(f"/campaigns/{campaign.slug}/export/").content.decode()
    assert "with runs" in page
    assert "with click qrels" in page


@pytest.mark.parametrize(
    ("part", "old", "new", "said"),
    [
        ("runs.tsv", b"runs/late.run", b"runs/bm25.run", "lists other files than those in runs/"),
        ("runs.tsv", b"runs/late.run", b"../late.run", "invalid file"),
        ("runs.tsv", b"\nlate\t", b"\nbm25\t", "already exists"),
        ("runs.tsv", b"2026-01-04", b"2026-13-04", "is not a date"),
        ("runs/late.run", b" 1 ", b" 1 x ", "columns"),
        ("clicks.tsv", b"my clicks", b"DCTR", "already exists"),
        ("clicks/DCTR.qrels", b"t1 0 d1 ", b"t1 0 d1 x", "is not a grade"),
    ],
)
def test_a_wrong_table_of_runs_or_clicks_leaves_nothing_behind(
    released, files, part, old, new, said
) -> None:
    found = dict(released)
    assert old in found[part], found[part].decode()
    found[part] = found[part].replace(old, new, 1)
    (files / "wrong.zip").write_bytes(with_right_sums(found).getvalue())
    before = sorted(p for p in (files / "files").rglob("*") if p.is_file())
    with pytest.raises(FormatError) as refusal:
        import_release(files / "wrong.zip", name="wrong.zip", user=None)
    assert said in str(refusal.value)
    assert f"wrong.zip/{part}" in str(refusal.value)
    assert not Collection.objects.exists()
    assert not Pair.objects.exists()
    assert sorted(p for p in (files / "files").rglob("*") if p.is_file()) == before
