"""Reports over a sampled pool with the help of the rank model: offered where it can help, refused
elsewhere, shown beside the estimates without it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from analysis.systems import reports
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from pooling.platform.jobs import Refused
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.test_sampled_campaigns import (
    judge_stage,
    make_collection_with_runs,
    make_sampled,
)
from tests.pooling.conftest import bring_in
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    made = make_sampled(make_collection_with_runs())
    judge_stage(made, 1)
    return made


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def asked(campaign, kind, qrels="campaign:graded:majority", **options):
    chosen = {
        "runs": [row.pk for row in campaign.collection.runs.order_by("tag")],
        "qrels": [qrels],
        "options": options,
    }
    return reports.request_report(
        KINDS[kind],
        collection=campaign.collection,
        campaign=campaign,
        parameters=chosen,
        seed=0,
        user=None,
    )


@pytest.mark.parametrize("kind", ["evaluate", "compare_systems"])
def test_the_report_shows_what_the_command_says_with_and_without_the_model(campaign, kind):
    report = asked(campaign, kind, rank_model=True, measures="HT-P@10 HT-DCG@10")
    assert do(report.job).state == "done", report.job.message
    report.refresh_from_db()
    answer = run(
        kind, "--campaign", campaign.slug, "--rank-model", "--measures", "HT-P@10 HT-DCG@10"
    )
    tables = {table.title: table for table in KINDS[kind].tables(report.result)}
    if kind == "evaluate":
        helped = answer["rank_model"][campaign.slug]["B"]["HT-DCG@10"]
        rows = {
            (row[0], row[1]): row
            for row in tables["Estimates with the rank model under c-graded"].rows
        }
        assert rows["B", "HT-DCG@10"][2:7] == [
            helped["value"],
            *helped["interval"],
            *helped["these_topics"],
        ]
        alone = next(
            row for row in tables["Estimates under c-graded"].rows if row[:2] == ["A", "HT-P@10"]
        )
        assert alone[5:7] == answer["these_topics"][campaign.slug]["A"]["HT-P@10"]
    else:
        helped = answer["HT-P@10"]["pairs"][0]["rank_model"]
        (row,) = tables["Differences with the rank model by HT-P@10"].rows
        assert row[:7] == [
            "A",
            "B",
            helped["difference"],
            *helped["interval"],
            *helped["these_topics"],
        ]


@pytest.mark.parametrize("kind", ["evaluate", "compare_systems"])
def test_the_form_offers_it_on_a_sampled_pool_alone_and_other_labels_are_refused(
    campaign, kind, client
):
    client.force_login(campaign.created_by)
    assert (
        b"Add the rank model"
        in client.get(reverse("campaign-report-new", args=[campaign.slug, kind])).content
    )
    elsewhere = client.get(
        reverse("collection-report-new", args=[campaign.collection.slug, kind])
    ).content
    assert b"rank model" not in elsewhere
    assert (
        bring_in(campaign.collection, "qrels", "1 0 d1-00 2\n", name="other.qrels").state == "done"
    )
    imported = f"imported:{campaign.collection.qrels.get().pk}"
    with pytest.raises(Refused, match="the selected labels are not from one; switch it off"):
        asked(campaign, kind, qrels=imported, rank_model=True)
