"""A campaign on an ordered pool: its batches and audit marks leave it with the qrels, and a release
brings them back."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from analysis.judgements.campaign_sample import describe_prioritised_progress
from analysis.judgements.labels import LabelChoices
from analysis.publishing.exports import EXPORTS, ExportOptions, available_exports, prepare_export
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign, Pair
from annotation.services.campaigns import lifecycle, planned_batches
from assay.formats.errors import FormatError
from pooling.models import Pool
from pooling.services import ordering, pools
from tests.analysis.publishing.test_import import changed
from tests.analysis.publishing.test_sampled_campaigns import judge_stage, make_collection_with_runs
from tests.builders import make_annotator
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db


def make_ordered(collection, *, batch: int = 20) -> Campaign:
    """Open, two annotators and judgements a pair; batches of twenty with four audit pairs."""
    making = ordering.make_ordered_parameters(batch=batch, audit=0.2)
    job = do(
        pools.request_pool(
            collection, runs=list(collection.runs.all()), depth=40, seed=5, making=making, user=None
        )
    )
    assert job.state == "done", job.message
    owner = User.objects.get(username="owner")
    campaign = lifecycle.create_campaign(
        name="C",
        collection=collection,
        actor=owner,
        judgements_per_pair=2,
        min_active_seconds=0,
        target_per_annotator=0,
    )
    lifecycle.set_pool(campaign, Pool.objects.get(pk=job.parameters["pool"]))
    lifecycle.open_campaign(campaign)
    for name in ("ada", "bob"):
        make_annotator(campaign, name)
    return Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)


def judge_batch(campaign: Campaign) -> None:
    """Judge all of the last batch, and let the worker plan the next."""
    judge_stage(campaign, campaign.pool.strata.count())
    for job in planned_batches.plan_low_batches():
        assert do(job).state == "done", job.message


def make_world() -> Campaign:
    """Two batches are judged, the third is planned."""
    made = make_ordered(make_collection_with_runs())
    judge_batch(made)
    judge_batch(made)
    return made


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def released(campaign: Campaign, path: Path) -> Path:
    lifecycle.close_campaign(campaign)
    out = io.BytesIO()
    write_release(
        Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk),
        ReleasePlan("first", LabelChoices(), documents=True),
        out,
    )
    path.write_bytes(out.getvalue())
    return path


COLUMNS = ("topic__topic_id", "docno", "stratum", "stage", "entered", "priority", "position")


def test_batches_and_audit_marks_are_exported_beside_the_qrels(campaign):
    assert "batches" in available_exports(campaign)
    assert "prels" not in available_exports(campaign)
    lines = (
        prepare_export(EXPORTS["batches"], campaign, ExportOptions()).read().decode().splitlines()
    )
    rows = [line.split("\t") for line in lines]
    assert rows[0] == ["topic", "document", "batch", "entered", "pairs", "best_rank"]
    expected = (
        campaign.pool.entries.exclude(stage=None)
        .order_by("position")
        .values_list("topic__topic_id", "docno", "stage", "entered")
    )
    assert [tuple(row[:4]) for row in rows[1:]] == [(t, d, str(b), e) for t, d, b, e in expected]
    assert {(row[2], row[4]) for row in rows[1:]} == {("1", "150"), ("2", "131"), ("3", "111")}, (
        "5 of each of three topics and 4 audit pairs, then 20"
    )
    assert sum(row[3] == "chance" for row in rows) == 12


@pytest.mark.long
def test_a_half_finished_pool_is_said_to_be_one_where_systems_are_compared(campaign, client):
    """19 and 20 pairs are judged, 20 of the third batch wait: 59 of 150 are handed out."""
    client.force_login(User.objects.get(username="owner"))
    said = "39 of 150 pairs are judged, those most likely to be relevant first."
    page = reverse("campaign-systems", args=[campaign.slug])
    assert said in client.get(page).content.decode()
    assert (
        said
        in prepare_export(EXPORTS["qrels"], campaign, ExportOptions(comments=True)).read().decode()
    )
    while campaign.pool.entries.filter(stage=None).exists():
        judge_batch(campaign)
    judge_batch(campaign)
    assert "those most likely to be relevant first" not in client.get(page).content.decode()


def test_pairs_without_a_text_are_waited_for_only_where_no_pair_has_one(campaign):
    """39 pairs are judged and 20 of the third batch wait; nobody waits for 5 of them without a
    text, unless no pair has any."""
    pairs = Pair.objects.filter(campaign=campaign)
    five = pairs.filter(entry__stage=3).order_by("pk").values_list("pk", flat=True)[:5]
    pairs.filter(pk__in=list(five)).update(without_text=True)
    assert describe_prioritised_progress(campaign).startswith("44 of 150 pairs")
    pairs.update(without_text=True)
    assert describe_prioritised_progress(campaign).startswith("39 of 150 pairs")


def test_a_release_brings_batches_and_audit_marks_back_and_the_next_batch_is_the_same(
    campaign, tmp_path
):
    copy = import_release(
        released(campaign, tmp_path / "release.zip"), name="release.zip", user=None
    )
    assert list(copy.pool.entries.values_list(*COLUMNS)) == list(
        campaign.pool.entries.values_list(*COLUMNS)
    )
    assert list(copy.pool.strata.values_list("number", "name", "size", "drawn")) == list(
        campaign.pool.strata.values_list("number", "name", "size", "drawn")
    )
    assert (copy.pool.kind, copy.pool.parameters) == (
        "ordered",
        {"goal": "relevant", "batch": 20, "audit": 0.2},
    )
    copy.pool.runs.set(campaign.pool.runs.all())
    for pool in (campaign.pool, copy.pool):
        assert do(ordering.request_batch(pool, user=None)).state == "done"
    fourth = [
        set(pool.entries.filter(stage=4).values_list("topic__topic_id", "docno", "entered"))
        for pool in (campaign.pool, copy.pool)
    ]
    assert fourth[0] == fourth[1]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("\t2\tchance", "its pool or batch is unknown"),
        ("\t9\tchoice", "its pool or batch is unknown"),
        (None, "batches or audit pairs differ"),
    ],
)
def test_a_release_whose_batches_do_not_fit_is_refused(campaign, tmp_path, wrong, said):
    path = released(campaign, tmp_path / "release.zip")

    def spoilt(data: bytes) -> bytes:
        lines = data.decode().splitlines(keepends=True)
        number = next(k for k, line in enumerate(lines) if line.endswith("\t1\tchance\n"))
        if wrong is None:
            del lines[number]
        else:
            lines[number] = lines[number].replace("\t1\tchance", wrong)
        return "".join(lines).encode()

    with pytest.raises(FormatError) as found:
        import_release(changed(path, "draw.tsv", spoilt), name="release.zip", user=None)
    assert said in str([problem.problem for problem in found.value.problems])
