"""Labels, agreement, exports and releases of further questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from analysis.judgements.agreement_by_question import compute_agreement_by_question
from analysis.judgements.labels import LabelChoices, make_labels
from analysis.publishing.exports import EXPORTS, ExportOptions, prepare_export
from analysis.publishing.recipes import save_recipe
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from annotation.models import Campaign, Judgement, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import submission
from assay.formats.errors import FormatError
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.test_import import changed
from tests.analysis.publishing.test_releases import built, parts
from tests.annotation.core.test_campaign_questions import make_question
from tests.builders import judge_pair, make_annotator, make_campaign, make_user

pytestmark = pytest.mark.django_db
ANSWERS = {  # document: (grade, ease) of ada and of bob; None: cannot judge, "": not asked
    "d1": ((3, 0), (3, 0)),
    "d2": ((2, 1), (2, 1)),
    "d3": ((1, 0), (2, 1)),
    "d4": ((1, 1), (1, 1)),
    "d5": ((0, ""), (1, 2)),
    "d6": ((2, None), (2, 1)),
}


def make_it() -> Campaign:
    campaign = make_campaign(
        n_topics=1,
        n_documents=6,
        judgements_per_pair=2,
        min_active_seconds=0,
        further_questions=[make_question("ease", asked_from=1)],
    )
    for place, name in enumerate(("ada", "bob")):
        member = make_annotator(campaign, name)
        for pair in Pair.objects.filter(campaign=campaign).select_related("entry"):
            grade, ease = ANSWERS[pair.entry.docno][place]
            answers: dict[str, Any] = {} if ease == "" else {"ease": ease}
            judge_pair(member, pair, grade, now=timezone.now(), answers=answers)
    return campaign


@pytest.fixture
def campaign() -> Campaign:
    return make_it()


def export(campaign: Campaign, name: str, **choices: Any) -> str:
    options = ExportOptions(LabelChoices(**choices))
    return prepare_export(EXPORTS[name], campaign, options).read().decode()


def test_each_question_has_labels_of_its_own(campaign: Campaign) -> None:
    """By hand: d3 is tied (the lower wins), d5 and d6 have one answer only."""
    assert export(campaign, "qrels", question="ease").splitlines() == [
        "t1 0 d1 0",
        "t1 0 d2 1",
        "t1 0 d3 0",
        "t1 0 d4 1",
    ]
    assert export(campaign, "qrels").splitlines() == [
        *("t1 0 d1 3", "t1 0 d2 2", "t1 0 d3 1", "t1 0 d4 1", "t1 0 d5 0", "t1 0 d6 2")
    ]
    single = make_labels(campaign, LabelChoices(question="ease", min_judgements=1, min_relevant=2))
    assert {row.document: (row.grade, row.binary) for row in single.rows} == {
        "d1": (0, 0),
        "d2": (1, 0),
        "d3": (0, 0),
        "d4": (1, 0),
        "d5": (2, 1),
        "d6": (1, 0),
    }


def test_adjudications_are_labels_of_the_grade_only(campaign: Campaign) -> None:
    pair = Pair.objects.get(campaign=campaign, entry__docno="d1")
    submission.adjudicate_pair(pair, 1, reason="clear", actor=None)
    assert "t1 0 d1 1" in export(campaign, "qrels")
    assert "t1 0 d1 0" in export(campaign, "qrels", question="ease")


def test_agreement_and_correlation_by_question(campaign: Campaign) -> None:
    """By hand: units (0,0) (1,1) (0,1) (1,1); alpha = 1 - 7 * 1 / (3 * 5). Labels of both
    questions: (3, 0) (2, 1) (1, 0) (1, 1), mid-ranks (4, 1.5) (3, 3.5) (1.5, 1.5) (1.5, 3.5)."""
    [row] = compute_agreement_by_question(campaign)
    assert (row["key"], row["judgements"], row["pairs"], row["labelled"]) == ("ease", 10, 4, 4)
    assert row["alpha"] == pytest.approx(1 - 7 / 15, abs=1e-12)
    covariance = 1.5 * -1 + 0.5 * 1 + -1 * -1 + -1 * 1
    assert row["spearman"] == pytest.approx(covariance / (4.5 * 4) ** 0.5, abs=1e-12)


def test_a_campaign_with_one_question_has_no_agreement_by_question() -> None:
    assert compute_agreement_by_question(make_campaign()) == []


def test_raw_judgements_have_a_column_for_each_question(campaign: Campaign) -> None:
    header, *rows = [line.split("\t") for line in export(campaign, "judgements").splitlines()]
    assert header[-2:] == ["note", "answer_ease"]
    given = {(row[2], row[3]): row[-1] for row in rows}
    assert [given["d5", name] for name in ("A001", "A002")] == ["", "2"]
    assert [given["d6", name] for name in ("A001", "A002")] == ["cannot judge", "1"]


def test_commands_take_the_question(campaign: Campaign) -> None:
    found = run("export_qrels", "--campaign", campaign.slug, *("--question", "ease"))
    assert (found["question"], found["pairs"], found["min_relevant"]) == ("ease", 4, 1)
    _, _, said = refused("export_qrels", "--campaign", campaign.slug, "--question", "trust")
    assert "no question 'trust', expected one of relevance, ease" in said
    _, _, said = refused(
        "export_judgements",
        *("--campaign", campaign.slug, "--format", "crowd-kit", "--question", "ease"),
    )
    assert "contains only grades" in said


def test_the_api_takes_the_question_and_names_the_file_after_it(campaign: Campaign) -> None:
    client = Client()
    client.force_login(campaign.created_by)
    address = f"/api/v1/campaigns/{campaign.slug}/exports/qrels"
    answer = client.get(address, {"question": "ease"})
    assert b"".join(answer.streaming_content).startswith(b"t1 0 d1 0\n")
    assert f"{campaign.slug}-ease-qrels.txt" in answer.headers["Content-Disposition"]
    assert client.get(address, {"question": "trust"}).status_code == 400


def test_the_page_offers_the_question_and_files_of_grades_without_it(campaign: Campaign) -> None:
    client = Client()
    client.force_login(campaign.created_by)
    page = client.get(f"/campaigns/{campaign.slug}/export/", {"question": "ease"})
    text = page.content.decode()
    assert "4 labels are ready to download." in text
    assert "Relevant means “grade 1” or better." in text
    assert "/qrels?question=ease" in text
    assert "/crowd-kit?" not in text


def test_a_release_carries_all_answers_and_comes_in_with_them(
    campaign: Campaign, tmp_path: Path
) -> None:
    lifecycle.close_campaign(campaign)
    data = built(campaign)
    found = parts(data)
    assert found["questions/ease.qrels.txt"].decode() == export(campaign, "qrels", question="ease")
    assert found["answers.tsv"].decode().splitlines()[:2] == [
        "topic\tdocument\tannotator\trevision\tquestion\tanswer",
        "t1\td1\tA001\t1\tease\t0",
    ]
    path = tmp_path / "release.zip"
    path.write_bytes(data)
    imported = import_release(path, name="release.zip", user=make_user())
    assert imported.further_questions == campaign.further_questions

    def answers(of: Campaign) -> list[Any]:
        rows = Judgement.objects.filter(pair__campaign=of)
        names = ("pair__entry__docno", "membership__pseudonym", "answers")
        return sorted(rows.values_list(*names), key=lambda row: row[:2])

    assert answers(imported) == answers(campaign)
    again = parts(built(imported))
    same = {"answers.tsv", "questions/ease.qrels.txt", "judgements.tsv", "qrels.txt"}
    for name in same - {"judgements.tsv"}:  # which has the slug
        assert again[name] == found[name]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"A001\t1\tease\t0", b"A001\t1\tease\t7", "invalid grade '7'"),
        (b"A001\t1\tease\t0", b"A001\t1\ttrust\t0", "invalid question 'trust'"),
        (b"A001\t1\tease\t0", b"A009\t1\tease\t0", "answers without their judgement"),
        (b"t1\td4\tA001\t1\tease\t1", b"t1\td4\tA001\t1\tease\t0", "qrels differ"),
        (b"t1\td2\tA001\t1\tease\t1", b"t1\td5\tA001\t1\tease\t1", "not asked (Ease)"),
    ],
)
def test_a_changed_answer_is_refused(
    campaign: Campaign, tmp_path: Path, old: bytes, new: bytes, said: str
) -> None:
    lifecycle.close_campaign(campaign)
    path = tmp_path / "release.zip"
    path.write_bytes(built(campaign))
    wrong = changed(path, "answers.tsv", lambda data: data.replace(old, new))
    with pytest.raises(FormatError, match=said.replace("(", r"\(").replace(")", r"\)")):
        import_release(wrong, name="wrong.zip", user=make_user())
    assert Campaign.objects.count() == 1


def test_a_recipe_is_of_all_questions(campaign: Campaign) -> None:
    plan = ReleasePlan("ease", LabelChoices(question="ease"))
    with pytest.raises(CampaignError, match="labels of all questions"):
        save_recipe(campaign, plan, user=None)
    assert "question" not in json.dumps(ReleasePlan().as_json())


def test_what_a_release_lacks_does_not_depend_on_the_question_shown() -> None:
    campaign = make_campaign(
        n_topics=1,
        n_documents=2,
        judgements_per_pair=2,
        min_active_seconds=0,
        further_questions=[make_question("ease", asked_from=1)],
    )
    for name in ("ada", "bob"):
        member = make_annotator(campaign, name)
        for pair in Pair.objects.filter(campaign=campaign):
            judge_pair(member, pair, 0, now=timezone.now())
    assert not make_labels(campaign, LabelChoices(question="ease")).rows
    client = Client()
    client.force_login(campaign.created_by)
    address = f"/campaigns/{campaign.slug}/export/"
    missing = [
        [finding.key for finding in client.get(address, query).context["release_missing"]]
        for query in ({}, {"question": "ease"})
    ]
    assert missing[0] == missing[1]
    assert "labels" not in missing[0]
