"""The report *LLM judge and humans* of a campaign on a sampled pool: what it shows, and where it
refuses."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.models import Report
from analysis.systems import reports
from analysis.systems.kinds import KINDS
from annotation.llm.label_files import FileLabel
from annotation.models import Campaign, LlmJudge
from annotation.selectors.llm_judges import get_pool_entries
from annotation.services.llm_judges import judges
from pooling.models import Pool
from pooling.platform.jobs import Refused
from tests.analysis.publishing.test_sampled_campaigns import (  # noqa: F401  fixtures
    campaign,
    collection,
    grade_of,
)
from tests.analysis.systems.builders import by_command
from tests.analysis.systems.test_reports import unpacked
from tests.builders import make_campaign
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db
PRINTS_PICTURES = True
KIND = KINDS["compare_llm_judges"]


def labelled(
    campaign: Campaign,  # noqa: F811
    *,
    name: str = "model-x",
    related: str = "",
    most: int | None = None,
    hours: int = -1,
) -> LlmJudge:
    """An LLM judge that is right about every pair, frozen so many hours after the draw."""
    pairs = list(get_pool_entries(campaign).values_list("topic__topic_id", "docno"))[:most]
    labels = [FileLabel(topic, docno, grade_of(docno), "", None, False) for topic, docno in pairs]
    judge = judges.create_judge_from_file(
        campaign,
        name=name,
        model="some",
        labels=labels,
        file_name="f.txt",
        related=related,
        actor=None,
    )
    judges.freeze_judge(judge, actor=None)
    drawn = Pool.objects.get(pk=campaign.pool_id).built_at
    assert drawn is not None
    LlmJudge.objects.filter(pk=judge.pk).update(frozen_at=drawn + timedelta(hours=hours))
    return judge


def asked(campaign: Campaign, **chosen: Any) -> Report:  # noqa: F811
    runs = [row.pk for row in campaign.collection.runs.order_by("tag")]
    parameters = {"runs": runs, "qrels": ["campaign:graded:majority"], "options": {}} | chosen
    report = reports.request_report(
        KIND,
        collection=campaign.collection,
        campaign=campaign,
        parameters=parameters,
        seed=0,
        user=None,
    )
    assert report.job is not None
    assert do(report.job).state == "done", report.job.message
    report.refresh_from_db()
    return report


def test_an_llm_judge_that_is_right(campaign: Campaign, tmp_path: Path) -> None:  # noqa: F811
    """Relevant is every third document: four of the first ten of A and of B, by `grade_of`,
    whatever was drawn. Both annotators agree wholly."""
    campaign.collection.runs.filter(tag="B").update(group="builders")
    labelled(campaign, related="Builders")
    report = asked(campaign)
    result = report.result or {}
    found = result["model-x"]
    for key in ("kappa", "weighted_kappa", "binary_kappa"):
        assert found["agreement"][key] == pytest.approx(1)
        assert found["agreement"]["people"]["among_themselves"][key][0] == pytest.approx(1)
        assert found["agreement"]["people"]["one_and_llm"][key][0] == pytest.approx(1)
        assert found["agreement"]["undefined"][key] == "3 topics; a confidence interval needs 10"
    systems = found["systems"]["P@10"]
    for tag in "AB":
        assert systems["corrected"][tag][0] == pytest.approx(0.4)
        assert systems["llm_alone"][tag] == pytest.approx(0.4)
    assert "a confidence interval needs 100" in systems["undefined"]["A"]
    assert found["related"] == {"B": "named as built with it"}
    titles = [table.title for table in KIND.tables(result)]
    assert titles[:4] == [
        "Agreement with model-x",
        "Grades by humans and model-x",
        "Agreement with model-x by topic",
        "Systems related to model-x",
    ]
    assert "Rankings by P@10" in titles
    assert {"figure-1.svg", "figure-1.pdf"} <= set(report.files)  # of people alone and corrected
    assert by_command(report.command, unpacked(report, tmp_path / "exported")) == result


def test_its_form_and_its_page(campaign: Campaign, client: Client) -> None:  # noqa: F811
    labelled(campaign)
    client.force_login(User.objects.get(username="owner"))
    for address in ("campaign-report-new", "collection-report-new"):
        slug = campaign.slug if address.startswith("campaign") else campaign.collection.slug
        assert client.get(reverse(address, args=[slug, KIND.name])).status_code == 200
    page = client.get(reverse("report", args=[asked(campaign).pk])).content.decode()
    for words in (
        "Agreement with model-x",
        "noise ceiling",
        'role="img"',
        "corrected, cross-fitted",
    ):
        assert words in page, words


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"hours": 1}, "after the sample was drawn"),
        ({"most": 20}, "pairs of the pool have no label"),
    ],
)
def test_people_are_not_corrected_where_it_would_not_be_valid(
    campaign: Campaign,  # noqa: F811
    given: dict[str, int],
    said: str,
) -> None:
    labelled(campaign, **given)  # type: ignore[arg-type]
    result = asked(campaign).result or {}
    assert said in result["model-x"]["refused"]
    assert "corrected" not in result["model-x"]["systems"]["P@10"]
    assert result["model-x"]["agreement"]["pairs"] > 0
    assert any(said in str(table.rows) for table in KIND.tables(result))
    assert KIND.pictures(result)


def test_it_says_what_is_missing(campaign: Campaign) -> None:  # noqa: F811
    with pytest.raises(Refused, match="This campaign has no frozen LLM judge"):
        asked(campaign)
    other = make_campaign(n_topics=1, n_documents=2, collection=None)
    llm_judge = judges.create_judge_from_file(
        other,
        name="m",
        model="m",
        labels=[FileLabel("t1", "d1", 1, "", None, False)],
        file_name="f",
        actor=None,
    )
    judges.freeze_judge(llm_judge, actor=None)
    other.collection.runs.set(campaign.collection.runs.all())
    with pytest.raises(Refused, match="is not a random sample"):
        asked(other)
