"""Whose judgements make labels: chosen by kind in exports, recipes, commands and reports; a
LLM judge's never stand among people's."""

from __future__ import annotations

from datetime import timedelta

import pytest

from analysis.commandline.stored_campaigns import label_loader
from analysis.judgements.labels import (
    LabelChoices,
    LabelReference,
    make_campaign_qrels,
    make_labels,
)
from analysis.judgements.live import get_snapshot
from analysis.judgements.rows import read_counted_table
from analysis.publishing.exports import EXPORTS, ExportOptions, prepare_export
from analysis.publishing.forms import ChoicesForm, RecipeForm
from analysis.publishing.recipes import make_release_plan, save_recipe
from analysis.systems.inputs import campaign_qrels_path, list_campaign_references
from annotation.models import Campaign
from assay.cli.base import BadInput
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.exported import START, judged, pair_of
from tests.builders import make_annotator, make_campaign

pytestmark = pytest.mark.django_db

PEOPLE, EVERYBODY, LLM = ("human",), ("human", "simulated"), ("llm",)


@pytest.fixture
def campaign() -> Campaign:
    """One pair: two people give it 0, three simulated annotators 3, an LLM judge 2."""
    made = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=6)
    for number, (kind, grade) in enumerate(
        (
            ("human", 0),
            ("human", 0),
            ("simulated", 3),
            ("simulated", 3),
            ("simulated", 3),
            ("llm", 2),
        )
    ):
        judged(
            make_annotator(made, annotator_type=kind),
            pair_of(made, "t1", "d1"),
            grade,
            now=START + timedelta(minutes=number),
        )
    Campaign.objects.filter(pk=made.pk).update(annotator_type="simulated")
    return Campaign.objects.get(pk=made.pk)


def test_the_form_names_the_annotator_types() -> None:
    assert [label for _, label in ChoicesForm.base_fields["judges"].choices] == [
        "People",
        "Simulated annotators",
        "LLM judges",
    ]


def grades(campaign: Campaign, *judges: str) -> list[int]:
    return [
        row.grade
        for row in make_labels(campaign, LabelChoices(min_judgements=1, judges=judges)).rows
    ]


def test_labels_are_those_of_the_kinds_that_are_chosen(campaign):
    assert grades(campaign, "human") == [0]
    assert grades(campaign, "simulated") == [3]
    assert grades(campaign, *EVERYBODY) == [3], "0 0 3 3 3"
    assert grades(campaign, "llm") == [2]


def test_an_llm_judge_enters_neither_the_usual_labels_nor_agreement_nor_figures(campaign):
    assert LabelChoices().judges == EVERYBODY
    assert len(read_counted_table(campaign)) == 5
    assert len(get_snapshot(campaign, fresh=0).rows) == 5
    assert len(make_labels(campaign, LabelChoices()).table) == 5


def test_files_say_whose_judgements_they_hold(campaign):
    qrels = EXPORTS["qrels"]
    text = {
        kinds: prepare_export(
            qrels, campaign, ExportOptions(LabelChoices(judges=kinds), comments=True)
        )
        .read()
        .decode()
        for kinds in (PEOPLE, EVERYBODY)
    }
    assert "judged by people only" in text[PEOPLE]
    assert "SIMULATED" not in text[PEOPLE]
    assert "t1 0 d1 0" in text[PEOPLE]
    assert "SIMULATED" in text[EVERYBODY]
    assert "t1 0 d1 3" in text[EVERYBODY]
    names = [
        qrels.filename(campaign, LabelChoices(judges=kinds)).removeprefix(campaign.slug)
        for kinds in (PEOPLE, EVERYBODY, LLM)
    ]
    assert names == ["-qrels.txt", "-simulated-qrels.txt", "-llm-qrels.txt"]


def test_raw_judgements_say_why_those_of_other_kinds_are_left_out(campaign):
    lines = (
        prepare_export(EXPORTS["excluded"], campaign, ExportOptions(LabelChoices(judges=PEOPLE)))
        .read()
        .decode()
        .splitlines()[1:]
    )
    assert sorted("simulated" in line for line in lines) == [False, True, True, True]
    assert sum("judged by LLM judges, left out by choice" in line for line in lines) == 1


def test_a_recipe_keeps_its_judges_and_one_of_before_means_people_and_simulated(campaign):
    form = RecipeForm({"name": "people", "judges": ["human"]}, campaign=campaign)
    assert form.is_valid(), form.errors
    assert make_release_plan(save_recipe(campaign, form.plan(), user=None)).choices.judges == PEOPLE
    old = campaign.recipes.create(name="old", choices={"method": "median", "min_judgements": 1})
    assert make_release_plan(old).choices == LabelChoices("median", 1)


def test_llm_judges_are_not_mixed_with_people(campaign):
    form = RecipeForm({"name": "all", "judges": ["human", "llm"]}, campaign=campaign)
    assert form.errors["judges"] == [
        "Labels by LLM judges are stored separately and never mixed with human labels. Select llm alone, or without the other types."
    ]
    with pytest.raises(BadInput, match="stored separately"):
        label_loader(
            campaign,
            {"labels": "graded", "method": "majority", "annotators": ["llm", "human"]},
        )
    status, _, said = refused(
        "export_qrels", "--campaign", campaign.slug, "--annotators", "llm", "simulated"
    )
    assert status
    assert "stored separately" in said


def test_commands_choose_by_kind(campaign):
    found = run(
        "export_qrels",
        "--campaign",
        campaign.slug,
        "--annotators",
        "human",
        "--min-judgements",
        "1",
    )
    assert (found["labels"], found["judgements"], found["simulated"], found["judges"]) == (
        {"0": 1},
        2,
        True,
        ["human"],
    )
    assert (
        run("aggregate", "--campaign", campaign.slug, "--annotators", "simulated")["judgements"]
        == 3
    )
    assert (
        "a file does not record the annotator type"
        in refused("aggregate", "judgements.tsv", "--annotators", "human")[2]
    )


def test_reports_offer_the_labels_of_people_alone_where_a_campaign_has_others_too(campaign):
    offered = dict(list_campaign_references(campaign))
    assert (
        offered["campaign:graded:majority:human"]
        == "This campaign, 4 grades, majority, judged by people only"
    )
    assert "campaign:graded:majority" in offered
    assert (
        campaign_qrels_path(campaign, "campaign:graded:majority:human")
        == f"qrels/{campaign.slug}-graded-human.qrels"
    )
    assert make_campaign_qrels(campaign, "campaign:graded:majority:human", "x").grades.tolist() == [
        0
    ]
    people_only = make_campaign(n_topics=1, n_documents=1)
    assert not any("human" in reference for reference, _ in list_campaign_references(people_only))


@pytest.mark.parametrize(
    "text",
    [
        "campaign:graded",
        "campaign:all:majority",
        "campaign:graded:magic",
        "campaign:graded:majority:dog",
        "imported:1:2",
    ],
)
def test_what_is_no_reference_is_said_to_be_none(text):
    with pytest.raises(ValueError):
        LabelReference.parse(text)
