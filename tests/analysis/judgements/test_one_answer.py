"""One answer to one question: the labels of a campaign are the same wherever they are asked for,
whatever the scale."""

from __future__ import annotations

import io

import pytest
from django.test import Client

from analysis.commandline.stored_campaigns import label_loader
from analysis.judgements.labels import LabelChoices, make_labels
from analysis.publishing.exports import EXPORTS, ExportOptions, prepare_export
from analysis.systems.inputs import InputFile, campaign_qrels_text
from annotation.models import Campaign
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.judging import submission
from assay.formats.qrels import write_qrels
from tests.analysis.publishing.exported import START, judged
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db
PAGES = [
    "",
    "live",
    "people/",
    "agreement/",
    "gold/",
    "judgements/",
    "feedback/",
    "audit/",
    "export/",
    "systems/",
]


def client_of_manager(campaign: Campaign) -> Client:
    client = Client()
    client.force_login(campaign.memberships.get(role="manager").user)
    return client


def exported(campaign: Campaign, name: str) -> str:
    return prepare_export(EXPORTS[name], campaign, ExportOptions()).read().decode()


def of_a_command(campaign: Campaign, grades: str) -> str:
    out = io.StringIO()
    write_qrels(label_loader(campaign, {"labels": grades, "method": "majority"})(), out)
    return out.getvalue()


def of_a_report(campaign: Campaign, grades: str) -> str:
    return campaign_qrels_text(
        campaign, InputFile("x.qrels", "qrels", "x", f"campaign:{grades}:majority")
    )


@pytest.mark.parametrize("grades", ["graded", "binary"])
def test_export_command_report_and_page_agree_on_an_adjudicated_pair_that_nobody_judged(
    grades: str,
) -> None:
    campaign = make_campaign(n_topics=1, n_documents=4)
    manager = campaign.memberships.get(role="manager").user
    overruled, labelled, unjudged, _ = campaign.pairs.order_by("entry__docno")
    for pair in (overruled, labelled):
        for grade in (1, 2, 2):
            judged(make_annotator(campaign), pair, grade, now=START)
    submission.adjudicate_pair(unjudged, 3, reason="known", actor=manager)
    submission.adjudicate_pair(overruled, 0, reason="off topic", actor=manager)
    file = exported(campaign, "qrels" if grades == "graded" else "qrels-binary")
    line = f"{unjudged.entry.topic.topic_id} 0 {unjudged.entry.docno} {3 if grades == 'graded' else 1}\n"
    assert line in file
    assert file.count("\n") == 3
    assert of_a_command(campaign, grades) == file
    assert of_a_report(campaign, grades) == file
    made = make_labels(campaign, LabelChoices())
    assert sum(sum(found.values()) for found in made.cross(grades).values()) == file.count("\n")
    assert sum(found.get("adjudicated", 0) for found in made.cross(grades).values()) == 2
    page = (
        client_of_manager(campaign).get(f"/campaigns/{campaign.slug}/judgements/").content.decode()
    )
    assert "3 pairs have a label" in page


@pytest.mark.parametrize("values", [(0, 1, 3), (1, 2, 5)])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_stands_with_grades_that_leave_numbers_out(
    page: str, values: tuple[int, ...]
) -> None:
    scale = [
        {"value": value, "name": f"name{value}", "explanation": "", "example": "", "shape": "disc"}
        for value in values
    ]
    campaign = make_campaign(n_topics=2, n_documents=3, scale=scale, min_relevant=values[1])
    pairs = list(campaign.pairs.all())
    set_pair_kind(
        pairs[0], "gold", gold_grade=values[2], actor=campaign.memberships.get(role="manager").user
    )
    for pair in pairs[1:4]:
        for grade in (values[2], values[2], values[0]):
            judged(make_annotator(campaign), pair, grade, now=START)
    response = client_of_manager(campaign).get(f"/campaigns/{campaign.slug}/{page}")
    assert response.status_code == 200


def test_a_scale_knows_its_values_names_and_size() -> None:
    scale = [{"value": value, "name": f"name{value}"} for value in (0, 1, 3)]
    grades = Campaign(scale=scale, min_relevant=1).grades
    assert (grades.values, grades.size, len(grades), grades.min_relevant) == ([0, 1, 3], 4, 3, 1)
    assert grades.names == ["name0", "name1", "(2: no grade)", "name3"]
