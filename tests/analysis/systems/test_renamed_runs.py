"""A run under another tag: reports and releases that are made keep the old one, new answers have
the new one, and every number stays."""

from __future__ import annotations

import hashlib
import io
import zipfile
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.urls import reverse

from analysis.judgements.labels import LabelChoices
from analysis.judgements.live import expire_caches, get_snapshot
from analysis.models import Recipe, Release, Report
from analysis.publishing import recipes
from analysis.publishing.release.parts import ReleasePlan
from analysis.systems import answers, reports
from analysis.systems.files_zip import stream_archive
from annotation.models import Campaign, LlmJudge
from annotation.services.campaigns import lifecycle
from annotation.services.people.results_links import create_results_link
from pooling.models import Run
from pooling.platform.jobs import Refused
from pooling.services.renaming import rename_pool, rename_run
from tests.analysis.systems.builders import by_command, small_campaign, small_collection, work_off
from tests.analysis.systems.test_answers import computed
from tests.analysis.systems.test_reports import ask, done

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    made = small_campaign(small_collection())
    made.pool.runs.set(made.collection.runs.all())
    made.pool.entries.update(contributions={"sys.1": 3, "sys.3": 4})
    return made


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def renamed(campaign: Campaign, before: str, after: str) -> Run:
    return rename_run(campaign.collection.runs.get(tag=before), after, user=campaign.created_by)


def numbers(answer: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """By the old tags; without sentences and without moments."""
    rows = {
        names.get(one["tag"], one["tag"]): {
            key: one[key] for key in ("mean", "low", "high", "unjudged", "least", "most")
        }
        for one in answer["systems"]
    }
    return {
        "systems": rows,
        "p": answer["p"],
        "holm": answer["holm"],
        "labels": answer["labels"],
        "interim_checks": [one["means"] for one in answer["interim_checks"]],
    }


def test_the_answer_of_the_page_has_the_new_tag_and_the_same_numbers(campaign):
    """The run that leads gets a tag that stands last in the alphabet."""
    before = computed(campaign)
    leader = before["systems"][0]["tag"]
    assert answers.get_newest_answer(
        campaign, get_snapshot(campaign), answers.get_measure(campaign, "nDCG@10")
    )[0]["current"]
    renamed(campaign, leader, "zzz")
    shown, _ = answers.get_newest_answer(
        campaign, get_snapshot(campaign), answers.get_measure(campaign, "nDCG@10")
    )
    assert not shown["current"], "an answer with an old tag is out of date"
    for job in answers._answer_jobs(campaign):
        job.finished_at -= answers.STALE_AFTER
        job.save(update_fields=["finished_at"])
    after = computed(campaign)
    assert after["systems"][0]["tag"] == "zzz"
    assert leader not in after["words"]
    assert numbers(after, {"zzz": leader}) == numbers(before, {})


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        pytest.param(
            "compare_systems",
            {"measures": "AP RR", "correction": "max", "permutations": 100},
            id="compare_systems",
        ),
        pytest.param("leaderboard", {"min_relevant": 2}, id="leaderboard"),
        pytest.param(
            "reusability", {"depth": 3, "by_group": True, "measures": "AP"}, id="reusability"
        ),
    ],
)
def test_a_finished_report_keeps_its_tags_its_files_and_its_command(
    campaign, tmp_path, kind, options
):
    report = done(ask(kind, 5, ["judged, old"], options, campaign))
    result, command, inputs = report.result, report.command, report.inputs
    renamed(campaign, "sys.1", "zzz <b>")
    report = Report.objects.get(pk=report.pk)
    assert (report.result, report.command, report.inputs) == (result, command, inputs)
    with zipfile.ZipFile(io.BytesIO(b"".join(stream_archive(report)))) as packed:
        packed.extractall(tmp_path / "unpacked")
    assert (tmp_path / "unpacked/runs/sys.1.run").read_text().splitlines()[0].endswith(" sys.1")
    assert by_command(report.command, tmp_path / "unpacked") == result


def test_a_report_that_was_asked_for_before_is_computed_under_its_tags_and_asked_again_under_the_new(
    campaign,
):
    waiting = ask(
        "compare_systems", 5, ["judged, old"], {"measures": "AP", "permutations": 100}, campaign
    )
    renamed(campaign, "sys.1", "zzz")
    first = done(waiting)
    again = done(reports.rerun_report(first, user=campaign.created_by))
    assert "sys.1" in str(first.result)
    assert "zzz" not in str(first.result)
    assert "sys.1" not in str(again.result)
    by_old_tags = str(again.result).replace("zzz", "sys.1")
    assert by_old_tags == str(first.result)
    assert [one["digest"] for one in again.inputs] == [one["digest"] for one in first.inputs]


def test_a_report_says_what_its_runs_are_called_now_to_managers_and_to_readers(campaign, client):
    report = done(
        ask(
            "compare_systems", 3, ["judged, old"], {"measures": "AP", "permutations": 100}, campaign
        )
    )
    token = create_results_link(campaign, name="board", days=7, actor=campaign.created_by)
    client.force_login(campaign.created_by)
    pages = [
        reverse("report", args=[report.pk]),
        reverse("results-link-report", args=[token, report.pk]),
    ]
    for page in pages:
        assert "have been renamed" not in client.get(page).content.decode()
    renamed(campaign, "sys.1", "zzz <b>")
    for page in pages:
        text = " ".join(client.get(page).content.decode().split())
        assert (
            "These runs have been renamed since the report was computed: sys.1 is now zzz &lt;b&gt;."
            in text
        )
    renamed(campaign, "zzz <b>", "sys.1")
    assert "have been renamed" not in client.get(pages[0]).content.decode()


def built(recipe: Recipe) -> tuple[bytes, dict[str, bytes]]:
    """A new release: the file as it is kept, and its parts."""
    assert (
        work_off(
            recipes.request_release(recipe, user=recipe.campaign.created_by, anyway=True)
        ).state
        == "done"
    )
    whole = kept(recipe.releases.order_by("pk").last())
    with zipfile.ZipFile(io.BytesIO(whole)) as packed:
        return whole, {name: packed.read(name) for name in packed.namelist()}


def kept(release: Release) -> bytes:
    with default_storage.open(release.file.name, "rb") as file:
        return file.read()


def test_a_release_keeps_its_bytes_and_a_new_one_differs_in_the_pool_alone(campaign):
    lifecycle.close_campaign(campaign)
    recipe = recipes.save_recipe(
        campaign, ReleasePlan("first", LabelChoices(), documents=True), user=campaign.created_by
    )
    whole, old = built(recipe)
    first = recipe.releases.get()
    renamed(campaign, "sys.1", "zzz")
    _, new = built(recipe)
    assert kept(Release.objects.get(pk=first.pk)) == whole
    assert hashlib.sha256(whole).hexdigest() == Release.objects.get(pk=first.pk).digest
    assert old.keys() == new.keys()
    of_digests = {"SHA256SUMS", "croissant.json"}
    assert {name for name in old if old[name] != new[name]} == {"pool.tsv", *of_digests}
    assert new["pool.tsv"].decode() == old["pool.tsv"].decode().replace(
        "sys.1:3,sys.3:4", "sys.3:4,zzz:3"
    )


def test_campaigns_have_it_in_their_trail_and_keep_their_table_of_judgements(campaign, client):
    other = small_campaign(small_collection(slug="other"), judged=False)
    live, n_before = get_snapshot(campaign, fresh=0.0), campaign.audit.count()
    audit = live.audit
    renamed(campaign, "sys.1", "zzz")
    rename_pool(campaign.pool, "The pool", user=None)
    events = list(campaign.audit.order_by("pk"))[n_before:]
    assert [(event.action, event.subject, event.actor) for event in events] == [
        ("renamed a run", "zzz", campaign.created_by),
        ("renamed the pool", "The pool", None),
    ]
    assert events[0].details == {"name": {"changed": ["sys.1", "zzz"]}}
    assert not other.audit.filter(action__startswith="renamed").exists()
    expire_caches()
    assert get_snapshot(campaign).audit == audit, "nothing of the judgements is read again"
    client.force_login(campaign.created_by)
    assert (
        "sys.1 → zzz"
        in client.get(reverse("campaign-audit", args=[campaign.slug])).content.decode()
    )


def test_an_llm_judge_goes_on_naming_its_related_systems(campaign):
    judge = LlmJudge.objects.create(campaign=campaign, name="gpt", related="sys.1, NORTH , other")
    renamed(campaign, "sys.1", "ours")
    judge.refresh_from_db()
    assert judge.related == "NORTH, other, ours"
    campaign.collection.runs.filter(tag="sys.2").update(tag="north")
    renamed(campaign, "north", "sys.2")
    judge.refresh_from_db()
    assert judge.related == "other, ours, sys.2, north", "two runs are of the group"
    with pytest.raises(Refused, match="lists ours as a related system"):
        renamed(campaign, "ours", "a, b")
    assert campaign.collection.runs.filter(tag="ours").exists()
