"""Real collections: every run, qrels, topic and document file that we know is read, and as other
readers read it."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from assay.formats.clicks import read_clicks
from assay.formats.detect import detect_kind
from assay.formats.documents import read_documents
from assay.formats.errors import FormatError
from assay.formats.judgements import read_judgements
from assay.formats.pool import read_pool
from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.formats.topic_scores import read_topic_scores
from assay.formats.topics import read_topics
from assay.pools.depth import cut_run, make_depth_pool

pytestmark = pytest.mark.data


def text_of(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")


def listed_runs(data_folder: Path) -> list[tuple[str, int, int, str]]:
    rows = [
        line.split("\t")
        for line in (data_folder / "format-samples/run_file_features.tsv")
        .read_text()
        .splitlines()[1:]
    ]
    return [(file, int(topics), int(lines), features) for file, topics, lines, features in rows]


@pytest.mark.long
def test_every_known_run_is_read_with_the_option_it_needs_and_counted_right(data_folder):
    for file, n_topics, n_lines, features in listed_runs(data_folder):
        needs_leniency = "columns" in features or "header" in file
        if needs_leniency:
            with pytest.raises(FormatError):
                read_run(data_folder / file)
        run = read_run(data_folder / file, lenient=needs_leniency)
        header = "header" in file
        assert len(run) == n_lines - header, file
        assert len(run.topics) == n_topics - header, file
        several = any("tags in one file" in warning for warning in run.warnings)
        assert several == ("several run tags" in features and not header), file
        assert detect_kind(data_folder / file) == "run", file


def test_a_sample_of_runs_of_every_collection_is_ordered_as_pytrec_eval_reads_them(data_folder):
    files = [
        file
        for file, _, _, features in listed_runs(data_folder)
        if "columns" not in features and "header" not in file
    ]
    for file in files[::9]:
        parsed = pytrec_eval.parse_run(text_of(data_folder / file).splitlines())
        run = read_run(data_folder / file)
        assert run.topics == list(parsed), file
        for i, topic in enumerate(run.topics):
            rows = run.rows(i)
            got = list(zip(run.scores[rows].tolist(), run.documents[rows].tolist(), strict=True))
            assert got == sorted(
                ((score, d.encode()) for d, score in parsed[topic].items()), reverse=True
            ), (file, topic)


@pytest.mark.parametrize(
    ("file", "n_topics", "counts"),
    [
        ("robust03/qrels.robust2003.txt.gz", 100, {0: 122_722, 1: 5_667, 2: 407}),
        (
            "clef-ehealth-2015/qrels.eng.clef2015.qtest.graded.txt.gz",
            66,
            {0: 6_741, 1: 1_515, 2: 457},
        ),
        ("trec-covid/qrels.covid-complete.txt.gz", 50, {-1: 2, 0: 42_652, 1: 11_055, 2: 15_609}),
        ("dl21-passage/qrels.nist.txt.gz", 53, None),
        ("dl21-passage/qrels.gpt4.txt.gz", 424, None),
        ("nfcorpus/qrels.test.3-2-1.txt.gz", 325, {1: 3_486, 2: 11_758, 3: 576}),
        (
            "fira-trec19/fira-trec19-qrels-snippets.txt.gz",
            43,
            {0: 13_566, 1: 6_201, 2: 3_145, 3: 1_286},
        ),
        ("tripjudge/qrels_4class.txt", 1_136, None),
        ("trec_eval-reference/qrels.test.with-comments", 3, None),
    ],
)
def test_qrels_have_the_grades_that_are_published(data_folder, file, n_topics, counts):
    qrels = read_qrels(data_folder / file)
    assert len(qrels.topics) == n_topics
    grades, n = np.unique(qrels.grades, return_counts=True)
    assert counts is None or dict(zip(grades.tolist(), n.tolist(), strict=True)) == counts
    if "comments" not in file:
        parsed = pytrec_eval.parse_qrel(text_of(data_folder / file).splitlines())
        got = {
            topic: dict(
                zip(
                    [d.decode() for d in qrels.documents[qrels.rows(i)].tolist()],
                    qrels.grades[qrels.rows(i)].tolist(),
                    strict=True,
                )
            )
            for i, topic in enumerate(qrels.topics)
        }
        assert got == parsed


@pytest.mark.parametrize(
    ("file", "n", "first"),
    [
        ("format-samples/topics.51-100.trec1.sgml.gz", 50, ("051", "Airbus Subsidies")),
        ("format-samples/topics.trecxml.xml", 3, ("1", "lights")),
        (
            "format-samples/topics.covid-round4-udel.xml",
            45,
            ("1", "coronavirus origin origin COVID-19"),
        ),
        ("format-samples/topics.singleline.txt", 2, ("1", "one")),
        (
            "format-samples/topics.beir-nfcorpus.test.tsv.gz",
            323,
            ("PLAIN-2", "Do Cholesterol Statin Drugs Cause Breast Cancer?"),
        ),
        ("format-samples/fira-export-queries.tsv", 38, ("1048585", "what is paula deen's brother")),
        ("robust03/topics.robust03.sgml.txt", 100, ("303", "Hubble Telescope Achievements")),
        ("trec-covid/topics.covid-round5.xml", 50, ("1", "coronavirus origin")),
        (
            "clef-ehealth-2015/queries-EN-narratives.txt",
            67,
            ("clef2015.test.1", "many red marks on legs after traveling from us"),
        ),
        (
            "clef-ehealth-2015/queries-FR.xml",
            66,
            (
                "clef2015.test.1",
                "nombreuses taches rouges sur les jambes après un voyage des États-Unis",
            ),
        ),
        ("cacm/topics.cacm.txt", 64, None),
        ("vaswani-npl/query-text.trec", 93, None),
        ("cranfield/trec/cran.qry.xml", 225, None),
        ("cranfield/queries.tsv", 225, None),
        ("nfcorpus/beir/queries.jsonl", 325, ("PLAIN-1008", "deafness")),
        ("tripjudge/queries_remain_cleaned.tsv", 1_136, ("trip_24", "pain management nursing")),
        ("medline-1033/MED.QRY", 30, None),
    ],
)
def test_topics_of_every_form_are_read(data_folder, file, n, first):
    topics = read_topics(data_folder / file)
    assert len(topics) == n
    assert all(topic.text for topic in topics)
    assert first is None or topics[0][:2] == first


@pytest.mark.parametrize(
    ("file", "n", "n_empty"),
    [
        ("cranfield/trec/cran.all.1400.xml.gz", 1_400, 2),
        ("cranfield/smart/cran.all.1400.gz", 1_400, 2),
        ("nfcorpus/beir/corpus.jsonl.gz", 3_395, 0),
        ("vaswani-npl/doc-text.trec.gz", 11_429, 0),
        ("cacm/cacm.tar.gz", 3_204, 0),
        ("medline-1033/MED.ALL.gz", 1_033, 0),
        ("format-samples/fira-export-documents.tsv", 44, 0),
        ("format-samples/beir-sample-corpus.jsonl", 2, 0),
    ],
)
def test_documents_of_every_form_are_read(data_folder, file, n, n_empty):
    documents = list(read_documents(data_folder / file))
    assert len(documents) == len({document.document for document in documents}) == n
    assert sum(not document.text for document in documents) == n_empty
    if "cranfield" in file:
        assert [d.document for d in documents if not d.text] == ["471", "995"]


def test_crowdsourced_judgements_are_read_in_order_of_arrival(data_folder):
    judgements = read_judgements(data_folder / "trec-crowd-2011/judgements.tsv.gz", scale=2)
    assert (len(judgements), len(judgements.annotators), len(judgements.topics)) == (
        58_476,
        956,
        46,
    )
    pairs = set(zip(judgements.topic.tolist(), judgements.document.tolist(), strict=True))
    assert len(pairs) == 3_387
    triples = set(
        zip(
            judgements.topic.tolist(),
            judgements.document.tolist(),
            judgements.annotator.tolist(),
            strict=True,
        )
    )
    assert len(judgements) - len(triples) == 972


def test_firas_task_list_is_a_pool(data_folder):
    pool = read_pool(data_folder / "fira-trec19/judgement-pairs.tsv.gz")
    assert len(pool) == 24_198
    assert pool.everyone.sum() == 10


def test_the_simulated_click_log_is_counted(data_folder):
    counts = read_clicks(
        data_folder / "nfcorpus/sim-clicks/clicks.tsv.gz",
        shown=data_folder / "nfcorpus/sim-clicks/shown.tsv.gz",
    )
    assert (counts.n_sessions, int(counts.clicks.sum()), len(counts), len(counts.topics)) == (
        30_000,
        19_245,
        2_626,
        277,
    )


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("rag25/nuggets.jsonl", "nuggets"),
        ("rag25/rubrics.jsonl", "rubrics"),
        ("answers-spot-check/my_best_run_01.jsonl", "answers"),
        ("answers-spot-check/trec-leaderboard.txt", "leaderboard"),
    ],
)
def test_files_about_generated_answers_are_recognised(data_folder, file, kind):
    assert detect_kind(data_folder / file) == kind


def test_a_leaderboard_of_auto_judge_is_read(data_folder):
    scores = read_topic_scores(data_folder / "answers-spot-check/trec-leaderboard.txt")
    assert scores.tags == ["my_best_run_01", "my_best_run_02", "my_best_run_02_citations"]
    assert (scores.topics, scores.measures) == (["28"], ["Measure-01", "Measure-02"])
    assert scores.values[:, 0].tolist() == [[1, 3], [2, 2], [3, 1]]


@pytest.mark.long
@pytest.mark.parametrize(
    "folder", ["robust03/runs", "dl21-passage/runs-judged53", "clef-ehealth-2015/runs-top100"]
)
def test_pools_of_real_runs_equal_a_dictionary(data_folder, folder):
    paths = sorted((data_folder / folder).iterdir())[:15]
    runs = [replace(read_run(path), tag=str(number)) for number, path in enumerate(paths)]
    pool = make_depth_pool(
        [cut_run(run, 10) for run in runs], depth=10, rng=np.random.default_rng(0)
    )
    expected: dict[tuple[str, str], dict[str, int]] = {}
    for run, path in zip(runs, paths, strict=True):
        ranked = pytrec_eval.parse_run(io.StringIO(text_of(path)))
        for topic, scores in ranked.items():
            best = sorted(
                scores.items(), key=lambda pair: (pair[1], pair[0].encode()), reverse=True
            )[:10]
            for rank, (document, _) in enumerate(best, 1):
                expected.setdefault((topic, document), {})[run.tag] = rank
    assert {(p.topic, p.document): dict(p.runs) for p in pool} == expected
    assert all(
        p.best_rank == min(expected[p.topic, p.document].values())
        and p.priority == 10 - p.best_rank
        for p in pool
    )
