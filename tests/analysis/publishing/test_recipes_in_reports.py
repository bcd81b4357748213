"""The labels of a campaign's saved recipes as the qrels of its reports: offered, named, computed,
and refused once the recipe is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from analysis.judgements.labels import LabelChoices
from analysis.models import Recipe, Report
from analysis.publishing.recipes import delete_recipe, save_recipe
from analysis.publishing.release.parts import ReleasePlan
from analysis.systems import reports
from analysis.systems.forms import ReportForm
from analysis.systems.inputs import (
    InputFile,
    campaign_qrels_text,
    list_campaign_references,
    list_input_files,
)
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from pooling.platform.jobs import Refused
from tests.analysis.publishing.exported import GRADED, examples_campaign
from tests.analysis.systems.builders import small_campaign, small_collection, work_off
from tests.builders import make_campaign, make_manager

pytestmark = pytest.mark.django_db

OF_RECIPE = {
    # of [2 2 2], [1 2 2], [0 2 3], [1 1 3 3 0]; the pairs with two judgements have too few
    "graded": "t1 0 d1 2\nt1 0 d2 2\nt1 0 d3 2\nt2 0 d3 1\n",
    "binary": "t1 0 d1 1\nt1 0 d2 1\nt1 0 d3 1\nt2 0 d3 1\n",
}


@pytest.fixture
def campaign(settings, tmp_path: Path) -> Campaign:
    settings.MEDIA_ROOT = tmp_path / "files"
    return examples_campaign()


@pytest.fixture
def recipe(campaign) -> Recipe:
    return save_recipe(
        campaign,
        ReleasePlan(
            "Three, or more", LabelChoices(method="median", min_judgements=3, min_relevant=1)
        ),
        user=None,
    )


def test_a_report_offers_the_recipes_of_its_campaign_on_both_scales(campaign, recipe):
    offered = dict(list_campaign_references(campaign))
    assert offered[f"recipe:graded:{recipe.pk}"] == "This campaign, 4 grades, recipe Three, or more"
    assert offered[f"recipe:binary:{recipe.pk}"] == "This campaign, 2 grades, recipe Three, or more"
    assert next(iter(offered)) == "campaign:graded:majority", "the default is as without recipes"
    form = ReportForm(
        kind=KINDS["label_overlap"], collection=campaign.collection, campaign=campaign
    )
    assert f"recipe:graded:{recipe.pk}" in dict(form.fields["qrels"].choices)
    other = make_campaign(collection=campaign.collection, pool=campaign.pool)
    assert not any("recipe" in reference for reference, _ in list_campaign_references(other))


def test_a_report_asked_for_by_the_api_is_of_the_labels_of_the_recipe(campaign, recipe, client):
    client.force_login(make_manager(campaign).user)
    asked = {
        "kind": "label_overlap",
        "campaign": campaign.slug,
        "qrels": [f"recipe:graded:{recipe.pk}", "campaign:graded:majority"],
    }
    answer = client.post("/api/v1/reports/", asked, content_type="application/json")
    assert answer.status_code == 202, answer.content
    report = Report.objects.get()
    work_off(report.job)
    report.refresh_from_db()
    first, second = (InputFile.from_json(one) for one in report.inputs)
    assert report.finished_at, report.job.error
    assert (first.name, second.name) == (
        f"{campaign.slug}-graded-recipe-Three-or-more",
        f"{campaign.slug}-graded",
    )
    assert first.name in report.title
    assert reports.read_file(report, first.path).decode() == OF_RECIPE["graded"]
    assert reports.read_file(report, second.path).decode() == GRADED


@pytest.mark.parametrize("scale", OF_RECIPE)
def test_the_lowest_relevant_grade_of_the_recipe_makes_its_labels_of_two_grades(
    campaign, recipe, scale
):
    file = InputFile("x.qrels", "qrels", "x", f"recipe:{scale}:{recipe.pk}")
    assert campaign_qrels_text(campaign, file) == OF_RECIPE[scale]


def test_labels_of_two_grades_by_a_recipe_reach_no_higher_grade_than_1():
    campaign = small_campaign(small_collection(), judged=False)
    reference = f"recipe:binary:{save_recipe(campaign, ReleasePlan('mine'), user=None).pk}"
    clicks = campaign.collection.qrels.get(name="clicks B")
    given = {"qrels": reference, "click_qrels": [f"imported:{clicks.pk}"], "min_relevant": "3"}
    form = ReportForm(
        given, kind=KINDS["label_overlap"], collection=campaign.collection, campaign=campaign
    )
    assert (
        "No label of “This campaign, 2 grades, recipe mine” has grade 3 or higher. The highest grade is 1."
        in form.errors["min_relevant"][0]
    )


def test_a_recipe_that_is_gone_is_said_and_nothing_is_computed(campaign, recipe):
    reference = f"recipe:graded:{recipe.pk}"
    parameters = {"runs": [], "qrels": [reference, "campaign:graded:majority"]}
    (one, _) = list_input_files(
        KINDS["label_overlap"], parameters, collection=campaign.collection, campaign=campaign
    )
    delete_recipe(recipe, user=None)
    with pytest.raises(Refused, match="no longer exists in this campaign"):
        list_input_files(
            KINDS["label_overlap"], parameters, collection=campaign.collection, campaign=campaign
        )
    with pytest.raises(Refused, match="the recipe was deleted"):
        campaign_qrels_text(campaign, one)


@pytest.mark.parametrize(
    "reference",
    [
        "recipe:graded:{0}",
        "recipe:all:{1}",
        "recipe:graded:x",
        "recipe:graded",
        "recipe:graded:{1}:human",
    ],
)
def test_neither_recipes_of_others_nor_half_a_reference_are_taken(campaign, recipe, reference):
    others = save_recipe(examples_campaign(), ReleasePlan("theirs"), user=None)
    parameters = {
        "runs": [],
        "qrels": [reference.format(others.pk, recipe.pk), "campaign:graded:majority"],
    }
    with pytest.raises(Refused, match="recipe"):
        list_input_files(
            KINDS["label_overlap"], parameters, collection=campaign.collection, campaign=campaign
        )


def test_names_of_recipes_that_are_alike_or_long_make_files_of_their_own(campaign):
    long = "ab" * 100
    made = [
        save_recipe(campaign, ReleasePlan(name), user=None)
        for name in (long, long[:-1], "a/b", "a b")
    ]
    parameters = {"runs": [], "qrels": [f"recipe:graded:{one.pk}" for one in made]}
    paths = [
        one.path
        for one in list_input_files(
            KINDS["label_overlap"], parameters, collection=campaign.collection, campaign=campaign
        )
    ]
    begin = f"qrels/{campaign.slug}-graded-recipe-"
    assert paths == [
        f"{begin}{long[:40]}.qrels",
        f"{begin}{long[:40]}-2.qrels",
        f"{begin}a-b.qrels",
        f"{begin}a-b-2.qrels",
    ]


def test_the_page_of_the_form_shows_the_recipes(campaign, recipe, client):
    client.force_login(make_manager(campaign).user)
    page = client.get(
        reverse("campaign-report-new", args=[campaign.slug, "label_overlap"])
    ).content.decode()
    assert "This campaign, 4 grades, recipe Three, or more" in page
