"""Files out of a campaign: the labels of methods/aggregation.md through the database, what never counts, and the
same bytes every time."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest

from analysis.judgements.labels import LabelChoices, make_labels
from analysis.publishing.exports import EXPORTS, ExportOptions, available_exports, prepare_export
from annotation.models import Campaign, Judgement
from annotation.services.errors import CampaignError
from annotation.services.judging import submission
from annotation.services.people import participation
from assay.formats.judgements import read_judgements
from assay.labels.aggregation.dawid_skene import MAX_ROUNDS_BY_RULE, StoppingRule
from assay.labels.labels import MISSING
from tests.analysis.commands.judged_file import run, written
from tests.analysis.publishing.exported import (
    BINARY,
    EXAMPLES,
    GRADED,
    START,
    examples_campaign,
    judged,
    pair_of,
    with_everything,
)
from tests.builders import make_annotator, make_campaign, make_manager

pytestmark = pytest.mark.django_db
SCRIPT = Path(__file__).resolve().parents[3] / "static" / "js" / "judge" / "thanks.js"


@pytest.fixture
def campaign():
    return examples_campaign()


def text(campaign: Campaign, name: str, **chosen) -> str:
    wanted = ExportOptions(
        LabelChoices.from_json(chosen),
        comments=chosen.pop("comments", False),
        spreadsheet=chosen.pop("spreadsheet", False),
    )
    return prepare_export(EXPORTS[name], campaign, wanted).read().decode("utf-8")


def table(campaign: Campaign, name: str, **chosen) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text(campaign, name, **chosen)), delimiter="\t"))


def test_the_method_examples_export_the_expected_graded_and_binary_qrels(campaign):
    assert text(campaign, "qrels") == GRADED
    assert text(campaign, "qrels-binary") == BINARY


def test_the_decisions_of_the_examples_come_out_with_the_labels(campaign):
    rows = {(row["topic"], row["document"]): row for row in table(campaign, "labels")}
    for pair, (grades, label, decision, binary, binary_decision) in EXAMPLES.items():
        row = rows[pair]
        assert (row["grade"], row["decision"], row["binary"], row["binary_decision"]) == (
            str(label),
            decision,
            str(binary),
            binary_decision,
        )
        assert row["judgements"] == str(len(grades))


def test_a_pair_with_fewer_judgements_than_a_label_needs_has_no_binary_label_either(campaign):
    found = make_labels(campaign, LabelChoices(min_judgements=3))
    of_pair = {
        found.table.pair_ids(pair): int(found.binary.label[pair])
        for pair in range(found.table.n_pairs)
    }
    enough = {
        pair: binary for pair, (grades, _, _, binary, _) in EXAMPLES.items() if len(grades) >= 3
    }
    assert len(enough) == 4
    assert of_pair == {pair: enough.get(pair, MISSING) for pair in EXAMPLES}


def test_what_is_excluded_too_fast_extra_superseded_or_without_grade_never_enters_labels(campaign):
    with_everything(campaign)
    assert text(campaign, "qrels") == GRADED
    assert text(campaign, "qrels-binary") == BINARY
    n_counted = sum(len(grades) for grades, *_ in EXAMPLES.values())
    assert len(text(campaign, "crowd-kit").splitlines()) == 1 + n_counted
    assert len(text(campaign, "fira").splitlines()) == 1 + n_counted
    book = json.loads(text(campaign, "quepid-book"))
    assert sum(len(pair["judgements"]) for pair in book["query_doc_pairs"]) == n_counted


def test_quepids_tables_have_every_pair_and_the_label_of_those_that_have_one(campaign):
    grades = {tuple(line.split()[::2]): line.split()[3] for line in GRADED.splitlines()}
    rows = list(csv.DictReader(io.StringIO(text(campaign, "quepid-ratings"))))
    topics = dict(campaign.collection.topics.values_list("text", "topic_id"))
    assert {
        (topics[row["query"]], row["docid"]): row["rating"] for row in rows if row["rating"]
    } == grades
    assert len(rows) == campaign.pairs.count()
    detailed = list(csv.DictReader(io.StringIO(text(campaign, "quepid-detailed"))))
    assert [(row["Query Text"], row["Doc ID"], row["Rating"]) for row in detailed] == [
        (row["query"], row["docid"], row["rating"]) for row in rows
    ]
    general = list(csv.DictReader(io.StringIO(text(campaign, "quepid-general"))))
    assert sum(int(row["Count"]) for row in general) == campaign.pairs.count()
    assert {row["Score"] for row in general} == {""}


def test_the_labels_are_handed_over_to_engines_under_their_queries(campaign):
    topics = dict(campaign.collection.topics.values_list("text", "topic_id"))
    grades = sorted(tuple(line.split()[::2] + line.split()[3:]) for line in GRADED.splitlines())
    judgements = json.loads(text(campaign, "opensearch"))
    assert judgements["name"] == campaign.name
    assert (
        sorted(
            (topics[one["query"]], rated["docId"], rated["rating"])
            for one in judgements["judgmentRatings"]
            for rated in one["ratings"]
        )
        == grades
    )
    request = json.loads(text(campaign, "rank-eval"))
    assert {
        (one["id"], rated["_index"], rated["_id"], str(rated["rating"]))
        for one in request["requests"]
        for rated in one["ratings"]
    } == {(topic, campaign.collection.slug, document, grade) for topic, document, grade in grades}
    rows = list(csv.DictReader(io.StringIO(text(campaign, "label-csv"))))
    assert sorted((row["topic"], row["document"], row["grade"]) for row in rows) == grades
    assert text(campaign, "ltr").count(" qid:") == len(grades) + len(judgements["judgmentRatings"])


def test_every_revision_is_in_the_raw_judgements_and_each_that_does_not_count_has_its_reason(
    campaign,
):
    with_everything(campaign)
    rows = table(campaign, "judgements")
    assert len(rows) == Judgement.objects.count()
    reasons = sorted(row["exclusion_reason"] for row in rows if row["excluded"] == "1")
    assert reasons == [
        "annotator excluded: answers at random",
        "cannot judge: other",
        "extra: the pair already had the judgements it needs",
        "faster than the campaign's 1 s",
        "superseded by a later revision",
        "superseded by a later revision",
    ]
    assert all(not row["exclusion_reason"] for row in rows if row["excluded"] == "0")
    revised = [
        row for row in rows if (row["qid"], row["docid"], row["annotator"]) == ("t1", "d3", "A001")
    ]
    assert [(row["revision"], row["grade"], row["spans"]) for row in revised] == [
        ("1", "0", ""),
        ("2", "3", "0-4"),
        ("3", "0", ""),
    ]
    first = rows[0]
    assert (
        first["label"],
        first["active_ms"],
        first["guideline_version"],
        first["device"],
        first["status"],
    ) == (
        "Partly answers",
        "20000",
        "1",
        "keyboard",
        "counted",
    )
    assert len(first["lease_id"]) == 36
    assert first["judged_at"].startswith("2026-03-02T09:")
    assert table(campaign, "excluded") == [row for row in rows if row["excluded"] == "1"]


def test_aggregating_the_raw_judgements_as_a_plain_file_gives_the_same_qrels(campaign, tmp_path):
    with_everything(campaign)
    file = written(tmp_path, text(campaign, "judgements"), "judgements.tsv")
    for grades, expected in (("graded", GRADED), ("binary", BINARY)):
        run("aggregate", file, "--labels", grades, "--output", str(tmp_path / "qrels.txt"))
        assert (tmp_path / "qrels.txt").read_text() == expected


def test_an_adjudication_overrides_the_label_and_is_marked_and_may_label_a_pair_nobody_judged(
    campaign,
):
    manager = make_manager(campaign).user
    submission.adjudicate_pair(
        pair_of(campaign, "t1", "d1"), 0, reason="off topic,\nsee guidelines", actor=manager
    )
    empty = make_campaign(n_topics=1, n_documents=1)
    submission.adjudicate_pair(pair_of(empty, "t1", "d1"), 3, reason="", actor=manager)
    assert text(campaign, "qrels") == GRADED.replace("t1 0 d1 2", "t1 0 d1 0")
    assert text(campaign, "qrels-binary") == BINARY.replace("t1 0 d1 1", "t1 0 d1 0")
    assert [
        row["document"] for row in table(campaign, "labels") if row["decision"] == "adjudicated"
    ] == ["d1"]
    assert text(empty, "qrels") == "t1 0 d1 3\n"
    (row,) = table(campaign, "adjudications")
    assert (row["topic"], row["document"], row["grade"], row["reason"]) == (
        "t1",
        "d1",
        "0",
        "off topic, see guidelines",
    )


def test_feedback_leaves_under_pseudonyms_and_is_harmless_in_a_spreadsheet(campaign):
    first, second = campaign.memberships.filter(role="annotator").order_by("pseudonym")[:2]
    participation.save_feedback(second, score="DONT_LIKE_IT", text="=1+1\nToo\tlong ")
    participation.save_feedback(first, score="VERY_GOOD", text=" ")
    opinion, remark = "How was judging here?", "Anything to tell us?"
    assert all(
        f'"{question}"' in SCRIPT.read_text("utf-8") for question in (opinion, remark)
    )  # those of the page
    assert table(campaign, "feedback") == [
        {"annotator": "A001", "question": opinion, "answer": "Very good"},
        {"annotator": "A002", "question": opinion, "answer": "Don't like it"},
        {"annotator": "A002", "question": remark, "answer": "=1+1 Too long"},
    ]
    assert "\t'=1+1 Too long\n" in text(campaign, "feedback", spreadsheet=True)


def test_the_same_judgements_in_another_order_of_rows_give_the_same_bytes(campaign):
    before = {
        name: prepare_export(export, campaign, ExportOptions()).read()
        for name, export in available_exports(campaign).items()
    }
    rows = list(Judgement.objects.order_by("-pk"))
    moved = Judgement.objects.order_by("-pk").first().pk
    for number, row in enumerate(rows, 1):
        Judgement.objects.filter(pk=row.pk).update(id=moved + number)
    assert {
        name: prepare_export(export, campaign, ExportOptions()).read()
        for name, export in available_exports(campaign).items()
    } == before


def test_export_options_filter_judgements_and_record_the_exclusion_reason(campaign):
    assert (
        text(campaign, "qrels", min_judgements=3) == "t1 0 d1 2\nt1 0 d2 2\nt1 0 d3 0\nt2 0 d3 1\n"
    )
    assert text(campaign, "qrels", exclude=["A001"], min_judgements=2).splitlines()[:3] == [
        "t1 0 d1 2",
        "t1 0 d2 2",
        "t1 0 d3 2",
    ]
    assert (
        text(campaign, "qrels-binary", min_relevant=3)
        == "t1 0 d1 0\nt1 0 d2 0\nt1 0 d3 0\nt2 0 d1 0\nt2 0 d2 0\nt2 0 d3 0\n"
    )
    assert text(campaign, "qrels", min_seconds=21) == ""
    assert {row["exclusion_reason"] for row in table(campaign, "judgements", min_seconds=21)} == {
        "faster than 21 s, left out by choice"
    }
    campaign.pairs.filter(entry__topic__topic_id="t1").update(kind="gold", gold_grade=2)
    assert text(campaign, "qrels", with_gold=False) == "t2 0 d1 1\nt2 0 d2 0\nt2 0 d3 1\n"
    assert text(campaign, "qrels") == GRADED
    assert text(campaign, "qrels", method="median").splitlines()[2] == "t1 0 d3 2"


def test_comment_lines_say_how_labels_were_made_and_that_people_were_simulated(campaign):
    Campaign.objects.filter(pk=campaign.pk).update(annotator_type="simulated")
    campaign.refresh_from_db()
    lines = text(campaign, "qrels", comments=True).splitlines()
    assert lines[0] == f"# campaign {campaign.slug}: majority, at least 2 judgements"
    assert lines[1].startswith("# SIMULATED")
    assert EXPORTS["qrels"].filename(campaign) == f"{campaign.slug}-simulated-qrels.txt"


def test_a_comment_line_says_that_the_rounds_of_dawid_skene_ran_out(campaign, monkeypatch):
    said = (
        "# dawid-skene did not converge within 1 round: some labels might change in further rounds"
    )
    assert said not in text(campaign, "qrels", comments=True, method="dawid-skene").splitlines()
    monkeypatch.setitem(MAX_ROUNDS_BY_RULE, StoppingRule.PENALISED, 1)
    for name in ("qrels", "qrels-binary"):
        assert said in text(campaign, name, comments=True, method="dawid-skene").splitlines()


def test_formulas_are_made_harmless_on_request_and_never_otherwise(campaign):
    with_everything(campaign)
    assert "\t=1+1\n" in text(campaign, "judgements")
    assert "\t'=1+1\n" in text(campaign, "judgements", spreadsheet=True)


def test_files_for_other_tools_are_read_back_with_the_same_grades(campaign, tmp_path):
    expected = sorted((t, d, g) for (t, d), (grades, *_) in EXAMPLES.items() for g in grades)
    for name, file in (("fira", "f.tsv"), ("crowd-kit", "c.csv")):
        read = read_judgements(written(tmp_path, text(campaign, name), file), scale=4)
        found = zip(read.topic.tolist(), read.document.tolist(), read.grade.tolist(), strict=True)
        assert sorted((read.topics[t], read.documents[d], g) for t, d, g in found) == expected
    read = read_judgements(written(tmp_path, text(campaign, "quepid-book"), "b.json"), scale=4)
    assert sorted(read.grade.tolist()) == sorted(g for _, _, g in expected)
    assert read.annotators[0] == f"A001@{campaign.slug}.invalid"


def test_the_beir_folder_holds_corpus_queries_and_qrels(campaign):
    with zipfile.ZipFile(prepare_export(EXPORTS["beir"], campaign, ExportOptions())) as folder:
        assert folder.namelist() == ["corpus.jsonl", "qrels/test.tsv", "queries.jsonl"]
        assert folder.read("qrels/test.tsv").decode().splitlines()[:2] == [
            "query-id\tcorpus-id\tscore",
            "t1\td1\t2",
        ]
        documents = [json.loads(line) for line in folder.read("corpus.jsonl").splitlines()]
        assert [d["_id"] for d in documents] == ["d1", "d2", "d3"]
        assert set(documents[0]) == {"_id", "title", "text"}
        assert json.loads(folder.read("queries.jsonl").splitlines()[0]) == {
            "_id": "t1",
            "text": "query number 1",
        }


def test_the_pool_and_the_topics_come_with_provenance_and_reasons(campaign):
    campaign.collection.topics.create(
        topic_id="t9", text="Query  number 1", position=9, removed_reason="duplicate", same_as="t1"
    )
    assert text(campaign, "pool").splitlines()[:2] == [
        "topic\tdocument\tbest_rank\tpriority\truns",
        "t1\td1\t1\t9\trun:1",
    ]
    assert text(campaign, "topics") == "t1\tquery number 1\nt2\tquery number 2\n"
    assert (
        text(campaign, "topics-removed")
        == "topic\ttext\treason\tsame_as\nt9\tQuery number 1\tduplicate\tt1\n"
    )


def test_a_campaign_without_judgements_gives_empty_files_not_errors():
    empty = make_campaign(n_topics=1, n_documents=1)
    for export in available_exports(empty).values():
        prepare_export(export, empty, ExportOptions())
    assert text(empty, "qrels") == ""


def test_a_scale_that_fira_does_not_have_is_refused_not_cut():
    scale = [
        {"value": i, "name": f"grade {i}", "explanation": "", "example": "", "shape": "disc"}
        for i in range(6)
    ]
    campaign = make_campaign(n_topics=1, n_documents=1, scale=scale)
    for grade in (5, 2):
        judged(make_annotator(campaign), campaign.pairs.get(), grade, now=START)
    assert text(campaign, "qrels") == "t1 0 d1 2\n"
    with pytest.raises(CampaignError, match="1 judgement has a grade above 3"):
        text(campaign, "fira")


def test_an_id_that_cannot_stand_in_qrels_is_said_in_words(campaign):
    campaign.collection.topics.filter(topic_id="t1").update(topic_id="t 1")
    with pytest.raises(CampaignError, match="contains white space"):
        text(campaign, "qrels")


def test_grades_that_do_not_begin_at_0_keep_their_values():
    scale = [
        {"value": i, "name": f"grade {i}", "explanation": "", "example": "", "shape": "disc"}
        for i in (1, 2, 5)
    ]
    campaign = make_campaign(n_topics=1, n_documents=1, scale=scale, min_relevant=5)
    for grade in (5, 5, 1):
        judged(make_annotator(campaign), campaign.pairs.get(), grade, now=START)
    assert text(campaign, "qrels") == "t1 0 d1 5\n"
    assert text(campaign, "qrels-binary") == "t1 0 d1 1\n"
