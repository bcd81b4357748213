"""What readers of a release will miss, and the question before an incomplete one is built."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.models import Recipe
from analysis.publishing.release.checks import (
    find_missing,
    read_campaign_facts,
    read_release_facts,
)
from analysis.publishing.release.parts import ReleasePlan
from annotation.core.publication import Publication
from annotation.models import Pair
from annotation.services.campaigns import lifecycle
from assay.labels.disputes import find_disputed
from pooling.models import Job
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.exported import examples_campaign, pair_of, with_everything
from tests.analysis.publishing.test_pages import recipe_data
from tests.analysis.publishing.test_releases import built, parts
from tests.analysis.publishing.test_unchanged_bytes import OLD_RELEASE
from tests.annotation.test_campaign_pages import manager_of
from tests.changed_releases import with_right_sums
from tests.commands import call_command

pytestmark = pytest.mark.django_db
CITABLE = {"license_judgements": "CC0-1.0", "authors": [{"name": "Ada"}]}
COMPLETE = {
    **CITABLE,
    **dict.fromkeys(
        (
            *("title", "version", "citation", "contact", "ethics", "annotators", "training"),
            *("payment", "consent", "intended_use", "limits"),
        ),
        "Said",
    ),
    **{"license_topics": "CC0-1.0", "language": "en"},
}


@pytest.fixture
def campaign():
    return examples_campaign()


def keys(missing, *, required: bool) -> set[str]:
    return {finding.key for finding in missing if finding.required is required}


def test_a_pair_is_disputed_if_grades_are_far_apart_or_no_grade_is_most_frequent():
    counts = [[0, 0, 3], [1, 2, 0], [1, 0, 1], [1, 1, 0], [3, 0, 1], [2, 0, 0]]
    apart, disputed = find_disputed(np.array(counts))
    assert apart.tolist() == [0, 1, 2, 1, 2, 0]
    assert disputed.tolist() == [False, False, True, True, True, False]
    assert find_disputed(np.zeros((0, 3), dtype=np.int64))[1].tolist() == []


def test_the_facts_of_a_campaign_and_of_its_release_are_those_of_the_examples(campaign, tmp_path):
    """Grades by pair: 222, 122, 023, 12, 01, 11330, of five planned judgements each."""
    facts = read_campaign_facts(campaign, ReleasePlan())
    assert facts.n_labels == facts.n_pairs == facts.n_judged_twice == 6
    assert (facts.n_few, facts.n_disputed) == (5, 4)
    assert facts.has_guidelines
    assert not facts.is_closed
    lifecycle.update_campaign(campaign, actor=None, publication=COMPLETE)
    with_everything(campaign)
    pair_of(campaign, "t1", "d3").entry.document.delete()
    Pair.objects.filter(pk=pair_of(campaign, "t2", "d1").pk).update(gold_grade=1)
    for plan in (ReleasePlan(documents=True), ReleasePlan()):
        facts = read_campaign_facts(campaign, plan)
        (tmp_path / "release.zip").write_bytes(built(campaign, plan))
        assert read_release_facts(tmp_path / "release.zip") == facts
        assert facts.n_disputed < 4
        assert facts.n_without_text == (1 if plan.documents else 0)


def test_each_missing_item_is_listed_with_problem_and_fix_required_ones_first(campaign):
    facts = read_campaign_facts(campaign, ReleasePlan())
    missing = find_missing(facts)
    assert keys(missing, required=True) == {"authors", "license_judgements"}
    assert [finding.required for finding in missing] == sorted(
        (finding.required for finding in missing), reverse=True
    )
    assert all(finding.problem and finding.fix for finding in missing)
    complete = replace(
        facts, publication=Publication.read(COMPLETE), n_few=0, n_disputed=0, is_closed=True
    )
    assert find_missing(complete) == []
    for change, key, required in (
        ({"n_labels": 0}, "labels", True),
        ({"n_few": 2}, "few_judgements", False),
        ({"n_judged_twice": 0}, "overlap", False),
        ({"n_disputed": 1}, "disputed", False),
        ({"n_without_text": 1}, "document_texts", False),
        ({"has_guidelines": False}, "guidelines", False),
        ({"is_closed": False}, "open", False),
        ({"is_simulated": True}, "simulated", False),
        ({"documents": True}, "license_documents", False),
    ):
        [finding] = find_missing(replace(complete, **change))
        assert (finding.key, finding.required) == (key, required)


def test_the_page_asks_before_it_builds_an_incomplete_release(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/export/"
    shown = html.unescape(client.get(address).content.decode())
    assert "There is no author." in shown
    answer = client.post(address + "recipes/", recipe_data("public") | {"action": "build"})
    recipe = Recipe.objects.get()
    assert answer.url == f"{address}recipes/{recipe.pk}/"
    assert client.post(answer.url, {"action": "build"}).url == answer.url
    assert not Job.objects.exists()
    page = html.unescape(client.get(answer.url).content.decode())
    assert "Build release anyway" in page
    assert "The judgements have no licence." in page
    assert client.post(answer.url, {"action": "build", "anyway": "1"}).url == f"{address}#releases"
    assert Job.objects.get().parameters == {"recipe": recipe.pk}


def test_the_api_builds_an_incomplete_release_only_with_anyway(campaign):
    client = manager_of(campaign)
    recipe = Recipe.objects.create(campaign=campaign, name="public", choices={})
    address = f"/api/v1/campaigns/{campaign.slug}/recipes/{recipe.pk}/build"
    answer = client.post(address)
    assert answer.status_code == 409
    assert "There is no author." in answer.json()["detail"]
    assert "anyway=true" in answer.json()["detail"]
    assert client.post(address + "?anyway=true").status_code == 202


def test_the_api_lists_what_readers_miss_required_items_first(campaign):
    client = manager_of(campaign)
    recipe = Recipe.objects.create(campaign=campaign, name="public", choices={})
    address = f"/api/v1/campaigns/{campaign.slug}/recipes/{recipe.pk}/missing"
    missing = client.get(address).json()
    assert missing[0].keys() == {"key", "is_required", "problem", "fix"}
    assert {one["key"] for one in missing if one["is_required"]} >= {
        "authors",
        "license_judgements",
    }
    flags = [one["is_required"] for one in missing]
    assert flags == sorted(flags, reverse=True)


def test_the_commands_refuse_and_list_an_incomplete_release(campaign, tmp_path, capsys):
    path = tmp_path / "release.zip"
    options = ("--campaign", campaign.slug, "--output", str(path))
    assert "To write the release anyway, use `--force`." in refused("export_campaign", *options)[2]
    assert not path.exists()
    run("export_campaign", "--force", *options)
    for source in ([str(path)], ["--campaign", campaign.slug]):
        with pytest.raises(SystemExit) as ended:
            call_command("check_release", *source, "--json")
        assert ended.value.code == 1
        result = json.loads(capsys.readouterr().out)
        assert result["complete"] is False
        assert [item["key"] for item in result["missing"] if item["required"]] == [
            "authors",
            "license_judgements",
        ]
    lifecycle.update_campaign(campaign, actor=None, publication=CITABLE)
    run("export_campaign", *options)
    assert run("check_release", str(path))["complete"] is True


def test_a_wrong_use_of_release_check_is_refused(campaign, tmp_path):
    assert "give either RELEASE or" in refused("check_release")[2]
    assert "--recipe requires" in refused("check_release", "x.zip", "--recipe", "a")[2]
    assert (
        "no recipe 'a'" in refused("check_release", "--campaign", campaign.slug, "--recipe", "a")[2]
    )
    found = parts(built(campaign))
    about = json.loads(found["campaign.json"])
    about["campaign"]["settings"]["publication"] = {"titel": "x"}
    changed = with_right_sums(found | {"campaign.json": json.dumps(about).encode()})
    (tmp_path / "changed.zip").write_bytes(changed.getvalue())
    assert "unknown keys" in refused("check_release", str(tmp_path / "changed.zip"))[2]


def test_a_release_of_an_earlier_version_is_checked(capsys):
    assert keys(find_missing(read_release_facts(Path(OLD_RELEASE))), required=True) == {
        "authors",
        "license_judgements",
    }
