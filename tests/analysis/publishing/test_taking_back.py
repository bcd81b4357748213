"""Recipes that count excluded annotators again: in labels, files, words, datasheet and difference;
the campaign stays as it is."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from analysis.judgements.labels import ALL_JUDGES, LabelChoices
from analysis.publishing import recipes
from analysis.publishing.contents import iterate_raw_judgements
from analysis.publishing.exports import EXPORTS, ExportOptions, prepare_export
from analysis.publishing.forms import RecipeForm
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from annotation.models import Campaign, Judgement, Membership
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.people import exclusion
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.exported import BINARY, GRADED, examples_campaign
from tests.analysis.publishing.test_releases import built, parts
from tests.builders import make_manager

pytestmark = pytest.mark.django_db

# Without the third annotator: [1 2] and [0 2] are ties, which take the lowest grade; [1 1 3 0]
# stays 1.
WITHOUT_A003 = GRADED.replace("t1 0 d2 2", "t1 0 d2 1")


@pytest.fixture
def campaign() -> Campaign:
    """The examples of methods/aggregation.md with the third annotator excluded."""
    made = examples_campaign()
    exclusion.exclude_annotator(
        made.memberships.get(pseudonym="A003"), reason="answers at random", actor=None
    )
    return made


def text(campaign: Campaign, export: str = "qrels", **choices: object) -> str:
    return (
        prepare_export(EXPORTS[export], campaign, ExportOptions(LabelChoices(**choices)))
        .read()
        .decode()
    )


@pytest.mark.parametrize("back", [("A003",), (ALL_JUDGES,), ("A001", "A003")])
def test_judgements_taken_back_make_the_labels_of_before_the_exclusion(campaign, back):
    assert text(campaign) == WITHOUT_A003
    assert text(campaign, include_excluded=back) == GRADED
    assert text(campaign, "qrels-binary", include_excluded=back) == BINARY
    assert text(campaign) == WITHOUT_A003, "the campaign is as it was"
    assert campaign.memberships.get(pseudonym="A003").status == Membership.Status.EXCLUDED


def test_only_those_that_are_named_are_taken_back(campaign):
    exclusion.exclude_annotator(
        campaign.memberships.get(pseudonym="A002"), reason="too", actor=None
    )
    counted = {
        back: {
            row.annotator
            for row in iterate_raw_judgements(
                campaign, LabelChoices(include_excluded=back), counted=True
            )
        }
        for back in ((), ("A003",), (ALL_JUDGES,))
    }
    assert counted[()] == {"A001", "A004", "A005"}
    assert counted["A003",] == {"A001", "A003", "A004", "A005"}
    assert counted[ALL_JUDGES,] == {"A001", "A002", "A003", "A004", "A005"}


def test_what_was_too_fast_or_without_a_grade_is_not_taken_back(campaign):
    Campaign.objects.filter(pk=campaign.pk).update(min_active_seconds=5)
    campaign.refresh_from_db()
    judged = Judgement.objects.filter(
        membership__pseudonym="A003", current=True, pair__entry__topic__topic_id="t1"
    )
    assert judged.filter(pair__entry__docno="d2").update(active_ms=4_999) == 1
    assert judged.filter(pair__entry__docno="d3").update(grade=None, cannot_reason="unclear") == 1
    assert text(campaign, include_excluded=("A003",)) == WITHOUT_A003
    reasons = {
        row.docid: row.exclusion_reason
        for row in iterate_raw_judgements(campaign, LabelChoices(include_excluded=("A003",)))
        if row.annotator == "A003" and row.qid == "t1"
    }
    assert reasons == {
        "d1": "",
        "d2": "faster than the campaign's 5 s",
        "d3": "cannot judge: unclear",
    }


def test_choices_say_whom_they_take_back():
    assert LabelChoices(include_excluded=("A003", "A007")).words() == [
        "majority",
        "at least 2 judgements",
        "including A003, A007 (even if excluded)",
    ]
    assert (
        LabelChoices.from_json({"include_excluded": ["A003", ALL_JUDGES]}).words()[-1]
        == "including all excluded annotators"
    )
    assert LabelChoices.from_json({}).words() == ["majority", "at least 2 judgements"]


def test_a_release_says_whom_it_took_back_and_comes_in_again_with_the_same_labels(
    campaign, tmp_path
):
    lifecycle.close_campaign(campaign)
    path = tmp_path / "release.zip"
    path.write_bytes(
        built(campaign, ReleasePlan("all", LabelChoices(include_excluded=(ALL_JUDGES,))))
    )
    held = {name: content.decode() for name, content in parts(path.read_bytes()).items()}
    assert held["qrels.txt"] == GRADED
    assert "including all excluded annotators" in held["datasheet.md"]
    assert json.loads(held["campaign.json"])["recipe"]["include_excluded"] == [ALL_JUDGES]
    assert "A003" not in held["excluded.tsv"]
    restored = import_release(path, name="release.zip", user=None)
    (recipe,) = restored.recipes.all()
    assert recipes.make_release_plan(recipe).choices.include_excluded == (ALL_JUDGES,)
    assert text(restored, include_excluded=(ALL_JUDGES,)) == GRADED
    assert text(restored) == WITHOUT_A003


def test_two_recipes_differ_by_what_is_taken_back(campaign, client):
    first = recipes.save_recipe(campaign, ReleasePlan("out"), user=None)
    second = recipes.save_recipe(
        campaign, ReleasePlan("back", LabelChoices(include_excluded=("A003",))), user=None
    )
    found = recipes.compare_recipes(
        campaign,
        recipes.make_release_plan(first).choices,
        recipes.make_release_plan(second).choices,
    )
    assert [
        (c.topic, c.document, c.first.grade, c.second.grade)
        for c in found.changes
        if c.first.grade != c.second.grade
    ] == [("t1", "d2", 1, 2)]
    assert (found.n_graded, found.n_binary) == (1, 2), "on two grades also [0 1] against [0 1 1]"
    client.force_login(make_manager(campaign).user)
    page = client.get(
        reverse("campaign-recipe-difference", args=[campaign.slug]),
        {"first": first.pk, "second": second.pk},
    ).content.decode()
    assert "including A003 (even if excluded)" in page


def test_the_form_offers_the_excluded_alone_and_refuses_both_at_once(campaign):
    form = RecipeForm({"name": "a", "include_excluded": ["A003"]}, campaign=campaign)
    assert form.fields["include_excluded"].choices == [
        (ALL_JUDGES, "All excluded annotators"),
        ("A003", "A003"),
    ]
    assert form.is_valid(), form.errors
    assert form.plan().choices == LabelChoices(min_relevant=None, include_excluded=("A003",))
    both = RecipeForm(
        {"name": "a", "include_excluded": ["A003"], "exclude": ["A003"]}, campaign=campaign
    )
    assert both.errors["include_excluded"] == [
        "A003: you can't both leave out and include an annotator."
    ]
    with pytest.raises(CampaignError, match="can't both leave out and include"):
        recipes.save_recipe(
            campaign,
            ReleasePlan("x", LabelChoices(exclude=("A003",), include_excluded=("A003",))),
            user=None,
        )
    with pytest.raises(CampaignError, match="This campaign has no annotator called A099"):
        recipes.save_recipe(
            campaign, ReleasePlan("x", LabelChoices(include_excluded=("A099",))), user=None
        )


def test_recipes_of_the_api_take_back(campaign, client):
    client.force_login(make_manager(campaign).user)
    address = f"/api/v1/campaigns/{campaign.slug}/recipes/"
    answer = client.post(
        address, {"name": "all", "include_excluded": ["*"]}, content_type="application/json"
    )
    assert answer.status_code == 201, answer.content
    assert [one["include_excluded"] for one in client.get(address).json()] == [["*"]]


def test_commands_take_back(campaign):
    found = run("export_qrels", "--campaign", campaign.slug, "--include-excluded")
    assert (found["labels"], found["include_excluded"]) == ({"0": 2, "1": 2, "2": 2}, ["*"])
    assert run("export_qrels", "--campaign", campaign.slug, "--include-excluded", "A003")[
        "include_excluded"
    ] == ["A003"]
    assert run("export_qrels", "--campaign", campaign.slug)["labels"] == {"0": 2, "1": 3, "2": 1}
