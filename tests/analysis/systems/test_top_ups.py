"""One click on the report about a late run makes the campaign that judges what is open; once it is
judged the report closes itself."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest
from django.urls import reverse

from analysis.models import Report
from analysis.systems import top_ups
from annotation.models import Campaign, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.judging import scheduling
from pooling.models import Collection, Document, Job
from pooling.platform.jobs import Refused
from tests.analysis.systems.builders import by_command, small_campaign, small_collection, work_off
from tests.analysis.systems.test_late_run_report import asked
from tests.builders import make_annotator, make_user, submit

pytestmark = pytest.mark.django_db


def make_world() -> Collection:
    return small_collection()


@pytest.fixture
def collection(world: Collection) -> Collection:
    return world


def finished(report: Report) -> Report:
    assert work_off(report.job).state == "done", report.job.message
    report.refresh_from_db()
    return report


def opened(campaign: Campaign) -> Campaign:
    lifecycle.update_campaign(
        campaign,
        actor=None,
        judgements_per_pair=1,
        target_per_annotator=0,
        gold_every=0,
        min_active_seconds=0,
    )
    lifecycle.save_guideline(campaign, "Read.", actor=None)
    lifecycle.open_campaign(campaign, actor=None)
    return campaign


def judged(campaign: Campaign, grade: int = 1) -> list[tuple[str, str]]:
    """Everything, by one annotator. -> the pairs in the order in which they were served"""
    ada = make_annotator(campaign)
    served = []
    while (lease := scheduling.claim_pair(ada)) is not None:
        submit(ada, lease, grade)
        served.append((lease.pair.entry.topic.topic_id, lease.pair.entry.docno))
    return served


def test_one_click_makes_the_campaign_of_exactly_these_pairs_in_that_order_and_it_closes_the_report(
    collection, client
):
    report = finished(asked(collection, unpooled_run="sys.3"))
    order = [(topic, document) for topic, document, _ in report.result["order"]]
    assert len(order) == report.result["unjudged"]["total"] > 20
    client.force_login(collection.managers.get())
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "Create top-up campaign" in page
    answer = client.post(reverse("report-top-up", args=[report.pk]), {"n": str(len(order))})
    campaign = Campaign.objects.get(pk=Report.objects.get(pk=report.pk).parameters["top_up"])
    assert answer.url == reverse("campaign-settings", args=[campaign.slug])
    assert campaign.state == "draft"
    assert len(campaign.scale) == 1 + report.result["highest"], "a grade for each of the qrels"
    entries = campaign.pool.entries.order_by("position").values_list("topic__topic_id", "docno")
    assert list(entries) == order
    assert (
        "It is still a draft." in client.get(reverse("report", args=[report.pk])).content.decode()
    )
    assert top_ups.request_follow_up_reports() == [], "nothing has been judged"

    assert judged(opened(campaign)) == order, "strictly in the order of the report, over all topics"
    (job,) = top_ups.request_follow_up_reports()
    assert top_ups.request_follow_up_reports() == [], "once"
    closed = Report.objects.get(job=job)
    assert finished(closed).result["unjudged"]["total"] == 0
    assert closed.result["closed"] == "every result down to rank 10 has been judged"
    low, high = closed.result["bounds"]["nDCG@10"]
    assert low == high == closed.result["score"]["nDCG@10"]
    assert closed.result["before"]["bounds"] == report.result["bounds"]
    then_low, then_high = report.result["bounds"]["nDCG@10"]
    assert then_low <= low <= then_high, "what was said before held"

    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "No more judgements are needed." in page
    then = f"Before the top-up, its score bounds were {then_low:.3f} and {then_high:.3f}."
    assert (
        f"Every result down to rank 10 has been judged. nDCG@10 of sys.3 is {low:.3f}. {then}"
        in page
    )
    after = client.get(reverse("report", args=[closed.pk])).content.decode()
    assert "Effect of the top-up" in after
    assert "Create top-up campaign" not in after


def test_the_report_that_follows_is_its_command_on_the_files_of_its_archive(
    collection, client, tmp_path
):
    report = finished(asked(collection, unpooled_run="sys.3", judge=6))
    campaign = top_ups.create_top_up(report, None, user=collection.managers.get())
    assert campaign.n_pairs == 6, "as many as the report speaks of"
    judged(opened(campaign), 2)
    (job,) = top_ups.request_follow_up_reports()
    later = finished(Report.objects.get(job=job))
    assert later.result["closed"] is None
    assert later.result["before"]["unjudged"] - later.result["unjudged"]["total"] == 6
    assert later.result["order"] == [
        row
        for row in later.result["order"]
        if row[:2] not in [r[:2] for r in report.result["order"][:6]]
    ]
    client.force_login(collection.managers.get())
    archive = b"".join(client.get(reverse("report-files", args=[later.pk])).streaming_content)
    zipfile.ZipFile(BytesIO(archive)).extractall(tmp_path / "unpacked")
    folder = next(path.parent for path in (tmp_path / "unpacked").rglob("topped-up.qrels"))
    assert by_command(later.command, folder) == later.result
    assert (
        "Some documents are still unjudged"
        in client.get(reverse("report", args=[report.pk])).content.decode()
    )
    again = top_ups.create_top_up(later, 2, user=collection.managers.get())
    judged(opened(again), 0)
    (job,) = top_ups.request_follow_up_reports()
    assert finished(Report.objects.get(job=job)).parameters["top_ups"] == [campaign.pk, again.pk], (
        "labels of both"
    )


def test_the_api_makes_it_once_and_only_for_who_may_make_campaigns(collection, client):
    report = finished(asked(collection, unpooled_run="sys.3"))
    path = f"/api/v1/reports/{report.pk}/top-up"
    helper = make_user("helper")
    collection.managers.add(helper)
    client.force_login(helper)
    assert client.post(path, {}, content_type="application/json").status_code == 403
    client.force_login(collection.managers.get(username="small-owner"))
    assert client.post(path, {"pairs": 0}, content_type="application/json").status_code == 400
    answer = client.post(path, {"pairs": 3}, content_type="application/json")
    assert (answer.status_code, answer.json()) == (
        201,
        {"campaign": "top-up-of-sys3", "n_pairs": 3},
    )
    refused = client.post(path, {}, content_type="application/json")
    assert (refused.status_code, "already exists" in json.dumps(refused.json())) == (409, True)


def test_it_judges_as_the_campaign_whose_labels_were_reported(collection):
    own = small_campaign(collection)
    lifecycle.save_guideline(own, "Relevant is what answers.", actor=None)
    runs = list(collection.runs.values_list("pk", flat=True))
    from analysis.systems import reports
    from analysis.systems.kinds import KINDS

    parameters = {
        "runs": runs,
        "qrels": ["campaign:graded:majority"],
        "options": {"unpooled_run": "sys.3"},
    }
    report = finished(
        reports.request_report(
            KINDS["unjudged"],
            collection=collection,
            campaign=own,
            parameters=parameters,
            seed=0,
            user=own.created_by,
        )
    )
    top_up = top_ups.create_top_up(report, 4, user=own.created_by)
    assert (top_up.scale, top_up.min_relevant, top_up.judgements_per_pair) == (
        own.scale,
        own.min_relevant,
        own.judgements_per_pair,
    )
    assert top_up.guidelines.get().text == "Relevant is what answers."
    assert top_up.pool.missing_documents == 0, "texts that are stored are linked"


def test_pairs_without_text_are_fetched_and_what_cannot_be_judged_is_not_waited_for(collection):
    report = finished(asked(collection, unpooled_run="sys.3"))
    first = report.result["order"][0]
    Document.objects.filter(collection=collection, docno=first[1]).delete()
    campaign = top_ups.create_top_up(report, 3, user=collection.managers.get())
    assert Job.objects.get(kind="fetch documents").parameters == {"pool": campaign.pool_id}
    assert len(judged(opened(campaign))) < 3
    assert top_ups.request_follow_up_reports() == [], "the text may still come"
    work_off(Job.objects.get(kind="fetch documents"))
    (job,) = top_ups.request_follow_up_reports()
    later = finished(Report.objects.get(job=job))
    assert first[:2] in [row[:2] for row in later.result["order"]], "it stays a hole"


def test_what_has_left_the_collection_is_refused_in_words(collection):
    report = finished(asked(collection, unpooled_run="sys.3"))
    collection.topics.filter(topic_id=report.result["order"][0][0]).update(
        removed_reason="a duplicate"
    )
    with pytest.raises(
        Refused, match=r"is no longer in the collection\. Compute the report again\."
    ):
        top_ups.create_top_up(report, None, user=collection.managers.get())


def test_a_top_up_waits_for_all_pairs_if_none_has_a_text(collection):
    campaign = opened(
        top_ups.create_top_up(
            finished(asked(collection, unpooled_run="sys.3")), 3, user=collection.managers.get()
        )
    )
    pairs = Pair.objects.filter(campaign=campaign)
    pairs.update(without_text=True)
    assert top_ups.count_finished_pairs(campaign) == (0, 3)
    assert top_ups.request_follow_up_reports() == []
    Pair.objects.filter(pk=pairs.order_by("pk").values("pk")[:1]).update(without_text=False)
    assert top_ups.count_finished_pairs(campaign) == (2, 3), (
        "beside a pair with a text the others are"
    )
