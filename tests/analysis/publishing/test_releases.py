"""Releases: the same bytes, nobody's name, numbers that the commands give again; and recipes with
their difference."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from analysis.judgements.labels import LabelChoices
from analysis.models import Release
from analysis.publishing import recipes
from analysis.publishing.release import prove
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import PARTS, PARTS_BY_NAME, ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.llm.label_files import FileLabel
from annotation.models import AuditEvent, Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import submission
from annotation.services.llm_judges import judges
from annotation.services.people import participation
from assay.cli.command_list import find_command
from assay.formats.errors import FormatError
from assay.version import program_version
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.exported import (
    BINARY,
    GRADED,
    examples_campaign,
    pair_of,
    with_everything,
)
from tests.builders import make_campaign
from tests.changed_releases import with_right_sums

OF_SAMPLE = {"prels.txt", "strata.tsv", "draw.tsv"}
"""Parts of a release of a campaign on a sampled pool (test_sampled_campaigns)."""
PUBLICATION = {
    "title": 'Health "queries"',
    "version": "1.0",
    "language": "en",
    "license_judgements": "CC-BY-4.0",
    "license_topics": "CC0-1.0",
    "limits": "Few topics.",
    "funding": "Grant 7",
    "authors": [
        {"name": "Lovelace, Ada", "orcid": "0000-0002-1825-0097", "affiliation": "U: Example"},
        {"name": "Grace"},
    ],
}
OF_COLLECTION = {"runs.tsv", "runs/", "clicks.tsv", "clicks/"}
"""Parts of a release with runs and click qrels (test_runs_in_releases)."""
OF_LLM_JUDGES = {"llm-labels.tsv", "llm-judges.json"}
OF_QUESTIONS = {"answers.tsv", "questions/"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return with_everything(examples_campaign())


def built(campaign, plan: ReleasePlan | None = None) -> bytes:
    """A release, which proves itself."""
    out = io.BytesIO()
    write_release(campaign, plan or ReleasePlan(), out)
    assert not any((found := prove.find_problems(out)).values()), found
    return out.getvalue()


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_same_recipe_on_the_same_data_gives_the_same_bytes(campaign):
    first = built(campaign)
    lifecycle.update_campaign(
        campaign, actor=None, thanks_text="Thank you"
    )  # what a release does not hold may change
    AuditEvent.objects.create(campaign=campaign, action="looked")
    assert built(Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)) == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist()[-2:] == ["croissant.json", "SHA256SUMS"]
        assert archive.namelist()[:-2] == sorted(archive.namelist()[:-2])


def test_a_release_holds_the_labels_on_both_scales_and_the_guidelines_and_right_checksums(campaign):
    found = parts(built(campaign))
    assert found["qrels.txt"].decode() == GRADED
    assert found["qrels-binary.txt"].decode() == BINARY
    assert found["guidelines/v1.md"] == b"# Read this"
    sums = dict(
        reversed(line.split("  ")) for line in found.pop("SHA256SUMS").decode().splitlines()
    )
    assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}


def digest_by_the_documents(path: Path) -> str:
    """What the code in docs/how-to/publish.md prints for the release."""
    text = (Path(__file__).resolve().parents[3] / "docs/how-to/publish.md").read_text(
        encoding="utf-8"
    )
    (code,) = re.findall(r"```python\n(import csv, hashlib.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code.replace("release.zip", str(path))],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_content_digest_is_that_of_the_documents_and_covers_judgements_and_labels_alone(
    campaign, tmp_path, monkeypatch
):
    data = built(campaign)
    (tmp_path / "release.zip").write_bytes(data)
    about = json.loads(parts(data)["campaign.json"])
    assert about["content_sha256"] == digest_by_the_documents(tmp_path / "release.zip")
    monkeypatch.setattr(
        "analysis.publishing.release.writing.program_version", lambda: "another version"
    )
    lifecycle.update_campaign(campaign, actor=None, description="Another description")
    other = parts(built(campaign, ReleasePlan("another name", documents=True, notes=True)))
    assert json.loads(other["campaign.json"])["software"] == "another version"
    assert json.loads(other["campaign.json"])["content_sha256"] == about["content_sha256"]
    assert about["content_sha256"] in other["datasheet.md"].decode()
    fewer = parts(built(campaign, ReleasePlan(choices=LabelChoices(min_judgements=3))))
    assert json.loads(fewer["campaign.json"])["content_sha256"] != about["content_sha256"], (
        "it has other labels"
    )


def test_a_release_says_as_of_when_it_is_while_its_campaign_is_not_closed(campaign):
    """The last judgement of `with_everything` is the second revision, a day and a minute after the
    first."""
    release = parts(built(campaign))
    assert json.loads(release["campaign.json"])["as_of"] == "2026-03-03T09:01:00.000Z"
    assert (
        "**As of 2026-03-03T09:01:00.000Z, campaign still open.**"
        in release["datasheet.md"].decode()
    )
    lifecycle.close_campaign(campaign)
    closed = parts(built(campaign))
    assert json.loads(closed["campaign.json"])["as_of"] == "2026-03-03T09:01:00.000Z"
    assert "As of" not in closed["datasheet.md"].decode()
    none = parts(built(make_campaign()))
    assert json.loads(none["campaign.json"])["as_of"] is None
    assert "**No judgement yet, campaign still open.**" in none["datasheet.md"].decode()


def test_llm_judge_labels_are_a_second_file_once_frozen_and_in_no_other(campaign):
    """Two samples of grade 3 for every pair; the people's files stay byte by byte what they
    were."""
    before = parts(built(campaign))
    labels = [
        FileLabel(topic, document, 3, "because", None, False)
        for topic in ("t1", "t2")
        for document in ("d1", "d2", "d3")
    ]
    judge = judges.create_judge_from_file(
        campaign,
        name="second opinion",
        model="model-7",
        labels=labels,
        file_name="made.txt",
        actor=None,
    )
    assert parts(built(campaign)) == before
    judges.freeze_judge(judge, actor=None)
    after = parts(built(campaign))
    assert set(after) - set(before) == OF_LLM_JUDGES
    assert {name for name in before if after[name] != before[name]} == {
        "datasheet.md",
        "croissant.json",
        "SHA256SUMS",
    }
    assert after["llm-labels.tsv"].decode().splitlines()[:2] == [
        "llm_judge\ttopic\tdocument\tgrade",
        "second opinion\tt1\td1\t3",
    ]
    (told,) = json.loads(after["llm-judges.json"])
    assert (told["model"], told["digest"]) == (
        "model-7",
        hashlib.sha256(
            "".join(f"{x.topic} 0 {x.document} 3\n" for x in labels).encode()
        ).hexdigest(),
    )
    sheet = after["datasheet.md"].decode()
    assert "## LLM labels" in sheet
    assert told["digest"] in sheet
    assert "second opinion" not in before["datasheet.md"].decode()


def test_nobodys_name_or_address_is_anywhere_in_a_release(campaign):
    people = [m.user for m in campaign.memberships.select_related("user")]
    for number, person in enumerate(people):
        person.username, person.email = f"unmistakable{number}", f"unmistakable{number}@example.org"
        person.first_name = person.last_name = "Unmistakable"
        person.save()
    submission.adjudicate_pair(pair_of(campaign, "t1", "d1"), 3, reason="clear", actor=people[0])
    recipes.save_recipe(campaign, ReleasePlan("x"), user=people[0])
    for data in parts(built(campaign)).values():
        assert b"unmistakable" not in data.lower()
        assert b"=1+1" not in data  # a note: left out unless asked for
    assert any(b"=1+1" in data for data in parts(built(campaign, ReleasePlan(notes=True))).values())


def test_feedback_is_in_a_release_and_words_only_where_notes_are_asked_for(campaign):
    assert "feedback.tsv" not in parts(built(campaign))
    participation.save_feedback(
        campaign.memberships.get(pseudonym="A002"), score="DECENT", text="I am Ada"
    )
    chosen = "annotator\tquestion\tanswer\nA002\tHow was judging here?\tDecent\n"
    assert parts(built(campaign))["feedback.tsv"].decode() == chosen
    assert (
        parts(built(campaign, ReleasePlan(notes=True)))["feedback.tsv"].decode()
        == f"{chosen}A002\tAnything to tell us?\tI am Ada\n"
    )


def test_documents_are_in_a_release_only_when_asked_for(campaign):
    assert "documents.jsonl" not in parts(built(campaign))
    assert (
        b"Document 1 speaks"
        in parts(built(campaign, ReleasePlan(documents=True)))["documents.jsonl"]
    )


def test_the_commands_of_the_datasheet_give_the_numbers_of_the_release(
    campaign, tmp_path, monkeypatch
):
    found = parts(built(campaign))
    for name, data in found.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    lines = [
        find_command(line.split()[1:])
        for line in found["datasheet.md"].decode().splitlines()
        if line.startswith("assay ")
    ]
    lines = [[module, *arguments] for _, module, arguments in lines]
    assert [line[0] for line in lines] == ["aggregate", "aggregate", "campaign_stats", "agreement"]
    for command, *arguments in lines[:2]:
        run(command, *arguments)
        assert (tmp_path / arguments[-1]).read_bytes() == found[
            arguments[-1].removeprefix("again-")
        ]
    assert all((tmp_path / name).read_bytes() == data for name, data in found.items()), (
        "a command wrote over a file of the release"
    )
    statistics, agreement = (
        run(command, *(a for a in arguments if a != "--json")) for command, *arguments in lines[2:]
    )
    said = json.loads(found["statistics.json"])
    same = (
        "topics",
        "documents",
        "pairs",
        "labelled_pairs",
        "judgements",
        "per_pair",
        "grades",
        "annotators",
        "complete_depth",
        "relevant_share",
        "per_12h",
    )
    assert {name: statistics[name] for name in same} == {name: said[name] for name in same}
    said = json.loads(found["agreement.json"])
    assert {name: agreement[name] for name in ("graded", "binary", "annotators")} == {
        name: said[name] for name in ("graded", "binary", "annotators")
    }


def test_the_datasheet_says_what_is_simulated_and_what_is_undefined():
    campaign = make_campaign(annotator_type="simulated", description="A small | thing")
    Campaign.objects.filter(pk=campaign.pk).update(annotator_type="simulated")
    campaign.refresh_from_db()
    sheet = parts(built(campaign))["datasheet.md"].decode()
    assert "**Simulated.**" in sheet
    assert "Undefined: no counted judgements." in sheet
    assert "undefined: no counted judgements" in sheet
    assert " nan" not in sheet
    assert json.loads(parts(built(campaign))["statistics.json"])["relevant_share"] is None


def test_the_release_says_whether_and_since_when_near_duplicates_were_shown():
    never, always, turned = (
        make_campaign(),
        make_campaign(show_near_duplicates=True),
        make_campaign(),
    )
    for is_on in (True, False):
        lifecycle.update_campaign(turned, actor=None, show_near_duplicates=is_on)
    found = [parts(built(campaign)) for campaign in (never, always, turned)]
    assert [
        json.loads(one["campaign.json"])["campaign"]["settings"]["show_near_duplicates"]
        for one in found
    ] == [False, True, False]
    sheets = [one["datasheet.md"].decode() for one in found]
    said = (
        "the annotator could open that one with their own grade (resemblance at least 0.5 of "
        "shingles of 5 words)"
    )
    assert [said in sheet for sheet in sheets] == [False, True, True]
    days = [
        f"{event.at:%Y-%m-%d}"
        for event in turned.audit.filter(action="changed settings").order_by("at")
    ]
    assert f"this was switched on on {days[0]}, off on {days[1]}." in sheets[2]
    assert "switched" not in sheets[1]


def test_names_and_descriptions_in_the_datasheet_are_read_as_text():
    """By markdown-it, another implementation: the headings are ours, no image, link or HTML of
    theirs is there."""
    hostile = "# 1 | <b>*x*</b> [a](http://e.org) &amp; ![i](i.png)"
    campaign = make_campaign(name=hostile, description=f"{hostile}\n\n- {hostile}\n\n1. {hostile}")
    scale = [*campaign.scale[:-1], {**campaign.scale[-1], "name": hostile, "explanation": hostile}]
    Campaign.objects.filter(pk=campaign.pk).update(scale=scale)
    campaign.collection.name = hostile
    campaign.collection.save()
    campaign.collection.topics.filter(topic_id="t1").update(removed_reason=hostile)
    campaign.refresh_from_db()
    page = MarkdownIt("gfm-like", {"linkify": False}).render(
        parts(built(campaign))["datasheet.md"].decode()
    )
    assert re.findall(r"<(?:b|em|a|img)\b", page) == []
    shown = html.unescape(page)
    assert f"<h1>{hostile}</h1>" in shown
    for paragraph in (hostile, f"- {hostile}", f"1. {hostile}"):
        assert f"<p>{paragraph}</p>" in shown
    assert f"Collection: {hostile}." in shown
    assert (
        shown.count(f"<td>{hostile}</td>") == 4
    )  # the grade's name in two tables and its explanation, the reason of the removal
    assert re.findall(r"<h2>(.*?)</h2>", page)[:3] == ["Origin", "Scale", "Topics removed"]


def test_the_version_in_a_release_and_in_a_report_is_that_of_the_project(campaign):
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(text)["project"]["version"]
    found = parts(built(campaign))
    assert json.loads(found["campaign.json"])["software"] == program_version() == version
    assert f"Built by Assay {version}." in found["datasheet.md"].decode()


def test_release_datasheet_and_documents_have_the_same_parts(campaign):
    """One list says what a release consists of; the documents are held to it here."""
    participation.save_feedback(campaign.memberships.get(pseudonym="A001"), score="GOOD", text="")
    lifecycle.update_campaign(campaign, actor=None, publication=PUBLICATION)
    found = parts(built(campaign, ReleasePlan(documents=True)))
    written = {"guidelines/" if name.startswith("guidelines/") else name for name in found}
    others = OF_SAMPLE | OF_LLM_JUDGES | OF_COLLECTION | OF_QUESTIONS
    assert written == set(PARTS_BY_NAME) - others
    sheet = re.findall(
        r"^\| `([\w.-]+/?)` \|",
        found["datasheet.md"].decode().partition("## Files")[2],
        re.MULTILINE,
    )
    assert sheet == [part.name for part in PARTS if part.name not in others]
    assert "documents.jsonl" not in parts(built(campaign))["datasheet.md"].decode()
    text = (Path(__file__).parents[3] / "docs" / "how-to" / "publish.md").read_text(
        encoding="utf-8"
    )
    lines = text.partition("A release is a zip file that contains")[2].partition("**Names.")[0]
    named = re.findall(
        r"`([\w.-]+\.(?:md|txt|tsv|json|jsonl|py|cff)|guidelines/|runs/|clicks/|questions/|LICENSE|SHA256SUMS)`",
        lines.replace("`v1.md`", ""),
    )
    assert set(named) == set(PARTS_BY_NAME)


def test_a_job_builds_the_release_once_and_recognises_the_same_bytes(campaign):
    manager = campaign.memberships.get(role="manager").user
    recipe = recipes.save_recipe(
        campaign, ReleasePlan("first", LabelChoices(min_judgements=3)), user=manager
    )
    for expected in (False, True):
        job = recipes.request_release(recipe, user=manager, anyway=True)
        with pytest.raises(CampaignError, match="being built"):
            recipes.request_release(recipe, user=manager, anyway=True)
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.report["same_as_before"]) == (Job.State.DONE, expected)
    release = Release.objects.get()
    data = release.file.open("rb").read()
    assert hashlib.sha256(data).hexdigest() == release.digest == job.report["digest"]
    assert len(parts(data)["qrels.txt"].splitlines()) == 4  # pairs with three judgements
    with pytest.raises(CampaignError, match="can't be deleted"):
        recipes.delete_recipe(recipe, user=manager)
    release.file.delete(save=False)


def test_two_recipes_differ_in_the_labels_that_they_name(campaign):
    change = recipes.compare_recipes(
        campaign, LabelChoices(), LabelChoices(method="median", min_judgements=3)
    )
    assert (
        change.n_first,
        change.n_second,
        change.n_both,
        change.only_first,
        change.only_second,
    ) == (6, 4, 4, 2, 0)
    assert [(c.topic, c.document, c.first.grade, c.second.grade) for c in change.changes] == [
        ("t1", "d3", 0, 2)
    ]
    assert [(c.topic, c.document, c.first.grade, c.second) for c in change.alone] == [
        ("t2", "d1", 1, None),
        ("t2", "d2", 0, None),
    ]
    [(only, pair)] = recipes.add_pair_ids(campaign, change.changes)
    entry = campaign.pairs.get(pk=pair).entry
    assert (entry.topic.topic_id, entry.docno) == (only.topic, only.document)
    assert change.n_graded == 1
    assert recipes.compare_recipes(campaign, LabelChoices(), LabelChoices()).changes == []


def test_publication_metadata_leaves_with_the_release_and_comes_back(campaign, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "files"
    metadata = {"title": "Topics", "authors": [{"name": "Ada", "orcid": "0000-0002-1825-0097"}]}
    lifecycle.update_campaign(campaign, actor=None, publication=metadata)
    wrong = {"authors": [{"name": "Ada", "orcid": "0000-0002-1825-0098"}]}
    with pytest.raises(CampaignError, match="check digit"):
        lifecycle.update_campaign(campaign, actor=None, publication=wrong)
    data = built(campaign)
    (tmp_path / "release.zip").write_bytes(data)
    again = import_release(tmp_path / "release.zip", name="release.zip", user=None)
    assert again.publication == metadata
    found = parts(data)
    about = json.loads(found["campaign.json"])
    for unknown in ({"titel": "x"}, [], {"authors": "Ada"}):
        about["campaign"]["settings"]["publication"] = unknown
        changed = with_right_sums(found | {"campaign.json": json.dumps(about).encode()})
        (tmp_path / "changed.zip").write_bytes(changed.getvalue())
        with pytest.raises(FormatError):
            import_release(tmp_path / "changed.zip", name="changed.zip", user=None)


def test_readme_citation_zenodo_and_licence_follow_from_the_publication_metadata(campaign):
    lifecycle.update_campaign(campaign, actor=None, description="What people ask.")
    assert (
        not {"README.md", "CITATION.cff", ".zenodo.json", "LICENSE"} & parts(built(campaign)).keys()
    )
    lifecycle.update_campaign(campaign, actor=None, publication=PUBLICATION)
    found = {name: data.decode() for name, data in parts(built(campaign)).items()}
    assert found["LICENSE"] == (
        "Judgements: CC-BY-4.0, https://spdx.org/licenses/CC-BY-4.0.html\n"
        "Topics: CC0-1.0, https://spdx.org/licenses/CC0-1.0.html\n"
    )
    assert yaml.safe_load(found["CITATION.cff"]) == {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it as below.",
        "type": "dataset",
        "title": 'Health "queries"',
        "version": "1.0",
        "license": "CC-BY-4.0",
        "authors": [
            {
                "family-names": "Lovelace",
                "given-names": "Ada",
                "affiliation": "U: Example",
                "orcid": "https://orcid.org/0000-0002-1825-0097",
            },
            {"name": "Grace"},
        ],
    }
    _, head, body = found["README.md"].split("---\n", 2)
    card = yaml.safe_load(head)
    assert [config["config_name"] for config in card.pop("configs")] == [
        "labels",
        "judgements",
        "topics",
    ]
    assert card.pop("dataset_info")
    assert card == {
        "pretty_name": 'Health "queries"',
        "language": ["en"],
        "license": "cc-by-4.0",
        "task_categories": ["text-retrieval"],
        "tags": ["information-retrieval", "relevance-judgements"],
    }
    assert "## Limits\n\nFew topics." in body
    assert json.loads(found[".zenodo.json"]) == {
        "title": 'Health "queries"',
        "upload_type": "dataset",
        "description": "What people ask.",
        "creators": [
            {"name": "Lovelace, Ada", "orcid": "0000-0002-1825-0097", "affiliation": "U: Example"},
            {"name": "Grace"},
        ],
        "version": "1.0",
        "license": "cc-by-4.0",
        "keywords": ["information retrieval", "relevance judgements"],
        "notes": "Grant 7",
    }
