"""The report about a run that came late: the command's numbers, in the words of the method, until
nothing is open."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from analysis.systems import reports
from analysis.systems.kinds import KINDS
from pooling.models import Collection
from pooling.platform.jobs import Refused
from tests.analysis.systems.builders import N_TOPICS, small_collection, work_off

pytestmark = pytest.mark.django_db


def make_world() -> Collection:
    return small_collection()


@pytest.fixture
def collection(world: Collection) -> Collection:
    return world


def asked(collection, **options):
    runs = list(collection.runs.order_by("tag").values_list("pk", flat=True))
    row = collection.qrels.filter(kind="judged").order_by("pk").first()
    parameters = {"runs": runs, "qrels": [f"imported:{row.pk}"], "options": options}
    return reports.request_report(
        KINDS["unjudged"],
        collection=collection,
        campaign=None,
        parameters=parameters,
        seed=0,
        user=collection.managers.get(),
    )


def test_the_report_has_the_numbers_of_the_command_and_says_what_they_mean(
    collection, client, tmp_path
):
    report = asked(collection, unpooled_run="sys.3", against="sys.1", judge=5)
    assert work_off(report.job).state == "done", report.job.message
    report.refresh_from_db()
    client.force_login(collection.managers.get())
    page = client.get(reverse("report", args=[report.pk])).content.decode()
    result = report.result
    assert result["run"] == "sys.3"
    assert result["against"]["run"] == "sys.1"
    assert result["settles"]["n"] == 5
    low, high = result["bounds"]["nDCG@10"]
    each = result["unjudged"]["total"] / N_TOPICS
    assert (
        f"{each:.1f} of 10 results of this system have never been judged. Its nDCG@10 is at least "
        f"{low:.3f}, at most {high:.3f}"
    ) in page
    order = json.loads(
        client.get(reverse("report-table", args=[report.pk, "order", "json"])).content
    )
    assert (
        len(order["rows"] if isinstance(order, dict) else order)
        == len(result["order"])
        > result["unjudged"]["total"]
    ), "holes of both runs"
    assert "of the difference from sys.1." in page
    assert len(report.command.split("--pool-runs")[1].split("runs/")) - 1 >= 4, (
        "the four other runs are those of the pool"
    )


def test_a_run_all_of_whose_results_are_judged_closes_the_report(collection):
    found = KINDS["unjudged"]
    result = {
        "run": "late",
        "cutoff": 10,
        "unjudged": {"total": 0, "per_topic": {"1": 0}},
        "order": [],
        "score": {"P@10": 0.5},
        "bounds": {"P@10": [0.5, 0.5]},
        "filled": {"P@10": None},
        "settles": {"n": 0, "left": None, "enough": 0, "by_share": {}},
    }
    (table,) = found.tables(result)
    assert table.note.startswith(
        "Every result of late down to rank 10 has been judged: the score is certain."
    )
    assert found.pictures(result)


def test_the_first_run_is_the_late_one_unless_another_is_named(collection):
    assert asked(collection).command.startswith(
        "assay unjudged qrels/judged-old.qrels runs/sys.0.run"
    )


def test_what_names_no_late_run_is_refused(collection):
    with pytest.raises(Refused, match=r"the unpooled run sys\.9 is not among the selected runs"):
        asked(collection, unpooled_run="sys.9")
    with pytest.raises(Refused, match=r"sys\.3 must be another one of the selected runs"):
        asked(collection, unpooled_run="sys.3", against="sys.3")
