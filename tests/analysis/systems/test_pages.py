"""Pages of the analyses: forbidden first, then what they show."""

from __future__ import annotations

import csv
import html
import io
import re
import zipfile
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.models import Report
from analysis.systems import reports
from analysis.systems.kinds import KINDS
from analysis.systems.selectors import ordered_result
from annotation.models import Campaign
from assay.number_words import format_count
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.systems.builders import small_campaign, small_collection, work_off
from tests.builders import make_annotator, make_manager, make_user

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


@pytest.fixture
def owner(campaign):
    return campaign.collection.managers.get()


def asked(
    campaign, kind: str = "evaluate", *, own: bool = True, options: dict | None = None, user=None
) -> Report:
    collection = campaign.collection
    judged = collection.qrels.get(name__startswith="judged")
    chosen = ["campaign:graded:majority"] if own else [f"imported:{judged.pk}"]
    if kind == "label_overlap":
        chosen.append(f"imported:{collection.qrels.filter(kind='clicks').first().pk}")
    return reports.request_report(
        KINDS[kind],
        collection=collection,
        campaign=campaign if own else None,
        parameters={
            "runs": list(collection.runs.values_list("pk", flat=True))
            if KINDS[kind].least_runs
            else [],
            "qrels": chosen,
            "options": options or {},
        },
        seed=3,
        user=user or collection.managers.get(),
    )


def finished(report: Report) -> Report:
    assert work_off(report.job).state == "done", report.job.message
    report.refresh_from_db()
    return report


def addresses(campaign, report: Report) -> list[tuple[str, str]]:
    slug, collection = campaign.slug, campaign.collection.slug
    return [
        ("get", reverse("campaign-systems", args=[slug])),
        ("post", reverse("campaign-against-clicks", args=[slug])),
        ("get", reverse("campaign-report-new", args=[slug, "evaluate"])),
        ("post", reverse("campaign-report-new", args=[slug, "evaluate"])),
        ("get", reverse("collection-analyses", args=[collection])),
        ("get", reverse("collection-report-new", args=[collection, "evaluate"])),
        ("post", reverse("collection-report-new", args=[collection, "evaluate"])),
        ("get", reverse("report", args=[report.pk])),
        ("get", reverse("report-table", args=[report.pk, "scores", "csv"])),
        ("get", reverse("report-figure", args=[report.pk, "figure-1.svg"])),
        ("get", reverse("report-result", args=[report.pk])),
        ("get", reverse("report-files", args=[report.pk])),
        ("post", reverse("report-again", args=[report.pk])),
        ("post", reverse("report-delete", args=[report.pk])),
    ]


@pytest.mark.long
def test_strangers_annotators_and_the_signed_out_see_nothing(campaign, client) -> None:
    report = finished(asked(campaign))
    before = Report.objects.count()
    for method, address in addresses(campaign, report):
        answer = getattr(client, method)(address)
        assert answer.status_code == 302, address
        assert "/sign-in" in answer.url
    for person, of_campaign in ((make_user(), 404), (make_annotator(campaign).user, 403)):
        client.force_login(person)
        for method, address in addresses(campaign, report):
            expected = of_campaign if address.startswith("/campaigns/") else 404
            assert getattr(client, method)(address).status_code == expected, address
        assert b"Scores of runs" not in client.get(reverse("analyses")).content
    assert Report.objects.count() == before
    assert client.get(reverse("analyses")).status_code == 200


@pytest.mark.long
def test_the_manager_of_another_campaign_on_the_collection_sees_only_his_own(
    campaign, client
) -> None:
    other = make_manager(small_campaign(small_collection(slug="other"), judged=False)).user
    mine = make_manager(campaign).user
    report = finished(asked(campaign))
    of_collection = finished(asked(campaign, own=False))
    client.force_login(other)
    assert client.get(reverse("report", args=[report.pk])).status_code == 404
    client.force_login(mine)
    assert client.get(reverse("report", args=[report.pk])).status_code == 200
    assert client.get(reverse("report", args=[of_collection.pk])).status_code == 404
    assert client.get(reverse("job-fragment", args=[report.job.pk])).status_code == 200
    client.force_login(campaign.collection.managers.get())
    assert client.get(reverse("report", args=[of_collection.pk])).status_code == 200


def test_from_the_form_to_the_result(campaign, owner, client) -> None:
    client.force_login(owner)
    address = reverse("campaign-report-new", args=[campaign.slug, "bootstrap"])
    assert client.get(address).status_code == 200
    runs = [str(pk) for pk in campaign.collection.runs.values_list("pk", flat=True)]
    form = {
        "runs": runs,
        "qrels": ["campaign:binary:majority"],
        "measures": "AP  RR@5",
        "trials": "130",
        "min_relevant": "1",
        "missing_topics": "zero",
        "seed": "4",
    }
    answer = client.post(address, form)
    report = Report.objects.get()
    assert answer.url == reverse("report", args=[report.pk])
    page = client.get(answer.url).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert reverse("job-cancel", args=[report.job.pk]) in page
    finished(report)
    page = client.get(answer.url).content.decode()
    assert report.command.replace("'", "&#x27;") in page
    assert "--seed=4" in report.command
    assert "--trials=130" in report.command
    assert (
        page.count('role="img"') == 2 * 3
    )  # a heat map for each of two measures, and both side by side, each wide and narrow
    assert "style=" not in page
    assert report.input_digest in page
    listed = client.get(reverse("campaign-systems", args=[campaign.slug])).content.decode()
    assert report.title in listed
    assert report.title in client.get(reverse("analyses")).content.decode()


@pytest.mark.parametrize(
    ("kind", "change", "complaint"),
    [
        ("evaluate", {"measures": "AP NoSuch"}, "NoSuch"),
        ("evaluate", {"runs": []}, "required"),
        ("compare_rankings", {}, "Choose at least 2"),
        ("bootstrap", {"trials": "0"}, "greater than or equal to 1"),
        ("stability", {"element": "topics", "overlaps": "50:10"}, "percentages from 0 to 100"),
        ("stability", {"element": "nothing"}, "valid choice"),
        ("evaluate", {"qrels": ["campaign:graded:magic"]}, "valid choice"),
        ("evaluate", {"runs": ["999999"]}, "valid choice"),
        ("stability", {"measures": "AP infAP"}, "infAP: not available for parts of a collection"),
        ("reusability", {"measures": "infAP"}, "infAP: not available for parts of a collection"),
    ],
)
def test_what_cannot_be_computed_is_refused_at_the_form(
    campaign, owner, client, kind, change, complaint
) -> None:
    client.force_login(owner)
    form = {
        "runs": list(campaign.collection.runs.values_list("pk", flat=True)),
        "qrels": ["campaign:graded:majority"],
        "missing_topics": "zero",
        "measures": "AP",
        "seed": "0",
    }
    answer = client.post(reverse("campaign-report-new", args=[campaign.slug, kind]), form | change)
    assert answer.status_code == 400
    assert complaint in answer.content.decode().replace("&#x27;", "'")
    assert Report.objects.count() == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind != "compare_llm_judges"]
)  # asks for a sampled pool: test_llm_kind.py
def test_every_kind_has_a_form_a_page_tables_and_figures(
    campaign, owner, client, kind, real_pictures
) -> None:
    client.force_login(owner)
    for address in (
        reverse("campaign-report-new", args=[campaign.slug, kind]),
        reverse("collection-report-new", args=[campaign.collection.slug, kind]),
    ):
        assert client.get(address).status_code == 200
    collection = campaign.collection
    runs = list(collection.runs.values_list("pk", flat=True))
    qrels = [
        f"imported:{pk}" for pk in collection.qrels.order_by("-name").values_list("pk", flat=True)
    ]
    wanted = KINDS[kind]
    n = 3 if wanted.qrels[1] == 0 or wanted.click_qrels else 2 if wanted.private_qrels else 1
    options = {
        "bootstrap": {"trials": 20},
        "split_half": {"splits": 4},
        "compare_rankings": {"bootstrap": 5},
        "stability": {"element": "topics", "pairs": 2},
    }.get(kind, {})
    parameters = {
        "runs": runs[:2] if wanted.pair else runs if wanted.least_runs else [],
        "qrels": qrels[:n],
        "options": options,
    }
    report = finished(
        reports.request_report(
            wanted, collection=collection, campaign=None, parameters=parameters, seed=1, user=owner
        )
    )
    page = client.get(reverse("report", args=[report.pk]))
    assert page.status_code == 200
    text = page.content.decode()
    has_picture = (
        kind != "split_half"
    )  # halves of so few topics have no verdict, and no picture of them
    assert ('role="img"' in text) == has_picture
    assert ("No verdict: halves of " in text) != has_picture
    assert "data-sortable" in text
    for key in re.findall(r"/tables/([\w-]+)\.csv", text):
        rows = list(
            csv.reader(
                io.StringIO(
                    client.get(
                        reverse("report-table", args=[report.pk, key, "csv"])
                    ).content.decode()
                )
            )
        )
        assert len({len(row) for row in rows}) == 1
        latex = client.get(reverse("report-table", args=[report.pk, key, "tex"])).content.decode()
        assert latex.count(r"\\") >= len(rows)
        assert r"\toprule" in latex
        assert (
            len(client.get(reverse("report-table", args=[report.pk, key, "json"])).json()["rows"])
            == len(rows) - 1
        )
    figures = [name for name in report.files if name.endswith(("svg", "png", "pdf"))]
    assert {name.rpartition(".")[2] for name in figures} == (
        {"svg", "png", "pdf"} if has_picture else set()
    )
    beginnings = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    for name in figures:
        content = client.get(reverse("report-figure", args=[report.pk, name])).content
        assert content.startswith(beginnings[name.rpartition(".")[2]])
    assert client.get(reverse("report-result", args=[report.pk])).json() == report.result
    packed = zipfile.ZipFile(
        io.BytesIO(
            b"".join(client.get(reverse("report-files", args=[report.pk])).streaming_content)
        )
    )
    assert packed.testzip() is None
    assert set(packed.namelist()) == {one["path"] for one in report.inputs} | {"command.txt"}


def test_one_click_compares_judgements_with_clicks(campaign, owner, client) -> None:
    client.force_login(owner)
    page = client.get(reverse("campaign-systems", args=[campaign.slug])).content.decode()
    assert reverse("campaign-against-clicks", args=[campaign.slug]) in page
    client.post(reverse("campaign-against-clicks", args=[campaign.slug]))
    made = list(Report.objects.order_by("pk"))
    assert [one.kind for one in made] == ["compare_rankings", "label_overlap"]
    for one in made:
        finished(one)
    assert set(made[0].result["qrels"]) == {f"{campaign.slug}-binary", "clicks-A", "clicks-B"}
    assert set(made[1].result) == {"clicks-A", "clicks-B"}
    assert list(made[0].result["tau"]) == [
        "nDCG@5",
        "nDCG@10",
        "RR@10",
        "R@100",
    ]  # of TripJudge's Table 3
    assert "pool.tsv" in [
        one["path"] for one in made[1].inputs
    ]  # Figure 3 is of the top 4 of the pool
    assert made[1].parameters["options"] == {"top": 4}


def test_without_click_qrels_there_is_nothing_to_compare_with(campaign, owner, client) -> None:
    campaign.collection.qrels.filter(kind="clicks").delete()
    client.force_login(owner)
    assert (
        reverse("campaign-against-clicks", args=[campaign.slug])
        not in client.get(reverse("campaign-systems", args=[campaign.slug])).content.decode()
    )
    answer = client.post(reverse("campaign-against-clicks", args=[campaign.slug]), follow=True)
    assert "has no qrels from clicks" in answer.content.decode()
    assert Report.objects.count() == 0


def test_a_cancelled_report_keeps_nothing_and_can_be_asked_again(campaign, owner, client) -> None:
    client.force_login(owner)
    report = asked(campaign, "bootstrap")
    client.post(reverse("job-cancel", args=[report.job.pk]))
    jobs.run_job(report.job.pk)
    report.refresh_from_db()
    assert (report.job.state, report.result) == ("cancelled", None)
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "There is no result" in page
    assert client.get(reverse("report-result", args=[report.pk])).status_code == 404
    assert (
        client.get(reverse("report-table", args=[report.pk, "ranks-1", "csv"])).status_code == 404
    )
    answer = client.post(reverse("report-again", args=[report.pk]))
    fresh = Report.objects.exclude(pk=report.pk).get()
    assert answer.url == reverse("report", args=[fresh.pk])
    assert finished(fresh).result is not None


def test_undefined_is_said_in_words(campaign, owner, client) -> None:
    client.force_login(owner)
    collection = campaign.collection
    run = collection.runs.first()
    parameters = {
        "runs": [run.pk, run.pk],
        "qrels": ["campaign:graded:majority"],
        "options": {"min_relevant": 3},
    }
    report = finished(
        reports.request_report(
            KINDS["compare_runs"],
            collection=collection,
            campaign=campaign,
            parameters=parameters,
            seed=0,
            user=owner,
        )
    )
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert "nan" not in re.sub(r"<[^>]*>", " ", page).lower().split()
    assert ">NaN<" not in page
    assert ">None<" not in page


@pytest.mark.parametrize("kind", ["compare_systems", "compare_runs"])
def test_a_report_shows_its_verdict_once_and_before_charts_and_tables(
    campaign, owner, client, kind
) -> None:
    client.force_login(owner)
    runs = list(campaign.collection.runs.values_list("pk", flat=True)[:2])
    parameters = {"runs": runs, "qrels": ["campaign:graded:majority"], "options": {}}
    report = finished(
        reports.request_report(
            KINDS[kind],
            collection=campaign.collection,
            campaign=campaign,
            parameters=parameters,
            seed=0,
            user=owner,
        )
    )
    page = client.get(reverse("report", args=[report.pk]))
    (verdict, *_) = page.context["verdicts"]
    text = html.unescape(page.content.decode())
    assert text.count(verdict) == 1
    assert text.index(verdict) < text.index("<figure") < text.index("data-sortable")


def test_labels_that_do_not_exist_yet_fail_with_a_reason(settings, tmp_path, client) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    campaign = small_campaign(small_collection(slug="bare"), judged=False)
    report = asked(campaign)
    job = work_off(report.job)
    assert job.state == Job.State.FAILED
    assert "no pair has a label yet" in job.message
    client.force_login(campaign.collection.managers.get())
    assert (
        "no pair has a label yet"
        in client.get(reverse("report", args=[report.pk])).content.decode()
    )


@pytest.mark.long
def test_a_deleted_report_takes_its_files_along(
    campaign, owner, client, settings, django_capture_on_commit_callbacks
) -> None:
    client.force_login(owner)
    report = finished(asked(campaign))
    names = [Path(settings.MEDIA_ROOT) / name for name in report.files.values()]
    assert all(name.exists() for name in names)
    page = client.get(reverse("report", args=[report.pk]))
    n_tables = len(KINDS[report.kind].tables(ordered_result(report)))
    assert page.context["goes"] == [
        f"its result, with {format_count(n_tables, 'table')}",
        format_count(len(names), "stored file"),
    ]
    assert "This also permanently deletes:" in page.content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        client.post(reverse("report-delete", args=[report.pk]))
    assert not any(name.exists() for name in names)
    assert not Report.objects.exists()


@pytest.mark.long
def test_files_of_a_deleted_run_are_refused_with_a_reason(campaign, owner, client) -> None:
    client.force_login(owner)
    report = finished(asked(campaign))
    campaign.collection.runs.first().delete()
    answer = client.get(reverse("report-files", args=[report.pk]), follow=True)
    assert "has been deleted" in answer.content.decode()
    again = client.post(reverse("report-again", args=[report.pk]), follow=True)
    assert "no longer in the collection" in again.content.decode()


def test_the_same_question_on_the_same_input_has_the_same_digest_result_and_figures(
    campaign, owner
) -> None:
    first, second = (
        finished(asked(campaign, "bootstrap", options={"trials": 20})) for _ in range(2)
    )
    assert first.input_digest == second.input_digest
    assert first.result == second.result
    for name in first.files:
        assert reports.read_file(first, name) == reports.read_file(second, name), name
    labels = reports.read_file(first, first.inputs[-1]["path"]).decode()
    pair = campaign.pairs.select_related("entry__topic").order_by("position").first()
    old = next(
        line
        for line in labels.splitlines()
        if line.startswith(f"{pair.entry.topic.topic_id} 0 {pair.entry.docno} ")
    )
    pair.adjudicated_grade = 3 - int(old[-1])
    pair.save(update_fields=["adjudicated_grade"])
    other = finished(asked(campaign, "bootstrap", options={"trials": 20}))
    assert other.input_digest != first.input_digest
    assert reports.read_file(other, other.inputs[-1]["path"]).decode() == labels.replace(
        old, f"{old[:-1]}{3 - int(old[-1])}"
    )


def test_the_list_asks_as_often_for_many_reports_as_for_few(campaign, owner, client) -> None:
    client.force_login(owner)
    client.get(
        reverse("campaign-systems", args=[campaign.slug])
    )  # the first to look reads the judgements, and asks for the answer
    counts = []
    for n in (1, 6):
        while Report.objects.count() < n:
            asked(campaign)
        for address in (reverse("campaign-systems", args=[campaign.slug]), reverse("analyses")):
            with CaptureQueriesContext(connection) as queries:
                client.get(address)
            counts.append(len(queries))
    assert counts[:2] == counts[2:]


def test_the_api_asks_lists_shows_and_deletes_with_the_same_permissions(
    campaign, owner, client
) -> None:
    address = reverse("api-reports")
    runs = list(campaign.collection.runs.values_list("pk", flat=True))
    body = {
        "kind": "evaluate",
        "campaign": campaign.slug,
        "runs": runs,
        "qrels": ["campaign:graded:majority"],
        "options": {"measures": "AP"},
    }
    assert client.post(address, body, content_type="application/json").status_code in (401, 403)
    client.force_login(make_user())
    assert client.post(address, body, content_type="application/json").status_code == 404
    client.force_login(make_annotator(campaign).user)
    assert client.post(address, body, content_type="application/json").status_code == 403
    assert Report.objects.count() == 0
    client.force_login(owner)
    refused = client.post(
        address, body | {"options": {"measures": "Magic"}}, content_type="application/json"
    )
    assert refused.status_code == 400
    assert "Magic" in refused.json()["detail"]
    assert (
        client.post(
            address, body | {"options": {"output": "/etc/passwd"}}, content_type="application/json"
        ).status_code
        == 400
    )
    answer = client.post(address, body, content_type="application/json")
    assert answer.status_code == 202
    report = finished(Report.objects.get())
    one = reverse("api-report", args=[report.pk])
    assert client.get(one).json()["result"] == report.result
    listed = client.get(address).json()
    assert [
        row["state"] for row in (listed["results"] if isinstance(listed, dict) else listed)
    ] == ["done"]
    client.force_login(make_user())
    assert client.get(one).status_code == 404
    assert client.delete(one).status_code == 404
    client.force_login(owner)
    assert client.delete(one).status_code == 204


@pytest.mark.long
def test_remarks_on_what_was_read_stand_in_one_fold_below_the_results(
    campaign, owner, client
) -> None:
    client.force_login(owner)
    report = finished(asked(campaign))
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert 'id="warnings"' not in page
    Report.objects.filter(pk=report.pk).update(warnings=[f"run {i} has ties" for i in range(22)])
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    assert page.count('<details class="card" id="warnings">') == 1
    assert "22 warnings about the input" in page
    assert (
        page.index("Scores of runs</h3>")
        < page.index('id="warnings"')
        < page.index("run 21 has ties")
    )
    assert "callout warn" not in page
