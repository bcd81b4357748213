"""What leaves a campaign while people judge is of one moment, on either database."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from analysis.judgements import labels as labels_of_campaign
from analysis.publishing import exports, recipes
from analysis.publishing.release import parts as release_parts
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign, Membership
from annotation.services.campaigns import lifecycle
from config import verification
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.commands.called import answer
from tests.builders import judge, make_annotator, make_campaign
from tests.databases import on_another_connection, own_database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def database(request, tmp_path, settings, django_db_blocker) -> Iterator[str]:
    settings.MEDIA_ROOT = tmp_path / "files"
    server = request.getfixturevalue("postgresql_url") if request.param == "postgresql" else ""
    with (
        django_db_blocker.unblock(),
        own_database(request.param, folder=tmp_path, server=server, migrated=True),
    ):
        yield request.param


@pytest.fixture
def campaign(database) -> Campaign:
    """Open, of six pairs with two judgements each asked for; the first annotator has judged all,
    the second three."""
    campaign = make_campaign(
        n_topics=2, n_documents=3, judgements_per_pair=2, guideline="# Read this"
    )
    first, second = make_annotator(campaign, "ada"), make_annotator(campaign, "bob")
    for _ in range(6):
        judge(first, 2)
    for _ in range(3):
        judge(second, 2)
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


def judge_meanwhile() -> None:
    """Bob judges his next pair, which completes it, on a connection of his own."""
    on_another_connection(lambda: judge(Membership.objects.get(user__username="bob"), 1))


def between_two_parts(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], None]) -> None:
    """The deed happens once, before the release's judgements are read and after its labels were
    made."""
    left, read = [deed], release_parts.iterate_raw_judgements

    def reading(*given, **named):
        if left:
            left.pop()()
        yield from read(*given, **named)

    monkeypatch.setattr(release_parts, "iterate_raw_judgements", reading)


def test_verify_looks_at_one_moment_and_keeps_no_writer_out(campaign, monkeypatch):
    audit = verification.check_invariants

    def auditing(now):
        before = audit(now)
        judge_meanwhile()
        return before + audit(now)

    monkeypatch.setattr(verification, "check_invariants", auditing)
    assert list(verification.find_counter_faults(fix=False)) == []
    assert campaign.pairs.filter(counted=2).count() == 4, "the judgement was made"


def of(path: Path, part: str) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(part).decode()


def test_a_judgement_between_two_parts_of_a_release_is_not_in_it_and_its_import_accepts_it(
    campaign, tmp_path, monkeypatch
):
    between_two_parts(monkeypatch, judge_meanwhile)
    path = tmp_path / "release.zip"
    with path.open("wb+") as out:
        facts = write_release(campaign, ReleasePlan(), out)
    assert campaign.pairs.filter(counted=2).count() == 4, "the judgement was made"
    rows = list(csv.DictReader(io.StringIO(of(path, "judgements.tsv")), delimiter="\t"))
    assert len(rows) == 9
    twice = [
        pair for pair, n in Counter((row["qid"], row["docid"]) for row in rows).items() if n == 2
    ]
    assert sorted(twice) == sorted(
        (line.split()[0], line.split()[2]) for line in of(path, "qrels.txt").splitlines()
    )
    assert (facts["pairs"], json.loads(of(path, "statistics.json"))["judgements"]) == (3, 9)
    again = import_release(path, name="release.zip", user=None)
    assert again.pairs.filter(counted=2).count() == 3


def test_settings_that_change_after_the_campaign_was_loaded_are_those_of_the_moment(
    campaign, tmp_path
):
    stale = Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)
    lifecycle.update_campaign(campaign, actor=None, description="Changed since")
    path = tmp_path / "release.zip"
    with path.open("wb+") as out:
        write_release(stale, ReleasePlan(), out)
    assert (
        json.loads(of(path, "campaign.json"))["campaign"]["settings"]["description"]
        == "Changed since"
    )


def test_a_job_builds_a_release_of_one_moment_and_says_how_far_it_is(
    campaign, tmp_path, monkeypatch
):
    recipe = recipes.save_recipe(campaign, ReleasePlan("public"), user=None)
    monkeypatch.setattr("pooling.platform.heartbeats.HEARTBEAT_SECONDS", 0.02)
    seen: list[str] = []

    def wait_for_progress() -> None:
        judge_meanwhile()
        while not seen:
            on_another_connection(
                lambda: seen.extend(
                    Job.objects.exclude(message="").values_list("message", flat=True)
                )
            )

    between_two_parts(monkeypatch, wait_for_progress)
    done = jobs.run_to_end(recipes.request_release(recipe, user=None, anyway=True))
    assert seen[0].startswith("writing ")
    assert done.report["facts"]["judgements"] == 9
    assert (done.state, done.progress) == ("done", done.report["facts"]["parts"])
    import_release(recipe.releases.get().file.path, name="release.zip", user=None)


def test_a_job_that_builds_a_release_is_cancelled_inside_its_snapshot(campaign, monkeypatch):
    job = recipes.request_release(
        recipes.save_recipe(campaign, ReleasePlan("public"), user=None), user=None, anyway=True
    )
    monkeypatch.setattr("pooling.platform.heartbeats.HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(recipes, "write_release", partial(_steps_for_ever, job))
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled"


def _steps_for_ever(
    job: Job, campaign: Campaign, plan: ReleasePlan, out: object, *, step: Callable[[str], object]
) -> None:
    from pooling.platform.snapshot import snapshot

    with snapshot():
        on_another_connection(lambda: jobs.request_cancel(job))
        while True:
            step("a part")


def test_exports_and_commands_on_a_campaign_are_of_one_moment(campaign, tmp_path, monkeypatch):
    """Labels are made from judgements and from rulings: a ruling that comes between the two is not
    among them."""
    clicks = tmp_path / "clicks.qrels"
    clicks.write_text("t1 0 d1 1\nt2 0 d3 0\n")
    makers = [
        *(
            lambda name=name: exports.prepare_export(
                exports.EXPORTS[name], campaign, exports.ExportOptions()
            ).read()
            for name in ("qrels", "beir")
        ),
        lambda: answer("export_qrels", "--campaign", campaign.slug),
        lambda: answer(
            "label_overlap", "--campaign", campaign.slug, "--clicks", f"clicks={clicks}"
        ),
    ]
    before, read = [make() for make in makers], labels_of_campaign.read_rows

    def reading(*given, **named):
        rows = read(*given, **named)
        on_another_connection(lambda: campaign.pairs.filter(counted=1).update(adjudicated_grade=3))
        return rows

    monkeypatch.setattr(labels_of_campaign, "read_rows", reading)
    for make, as_before in zip(makers, before, strict=True):
        assert make() == as_before
        assert campaign.pairs.exclude(adjudicated_grade=None).update(adjudicated_grade=None) == 3
