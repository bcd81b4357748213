"""Relevance and understandability of CLEF eHealth 2015 as two questions of a campaign: labels,
agreement and correlation against values computed by other programs, and simulated annotators."""

from __future__ import annotations

import csv
import gzip
import json
import uuid
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from analysis.judgements.agreement_by_question import compute_agreement_by_question
from analysis.judgements.labels import LabelChoices, make_labels
from analysis.judgements.rows import read_counted_table
from analysis.publishing.release.importing import import_release
from annotation.models import Campaign, Judgement, Pair
from annotation.services.campaigns import lifecycle
from assay.formats.qrels import read_qrels
from assay.labels.agreement.alpha import krippendorff_alpha
from assay.measures.understandability import correlate_facets
from pooling.models import Collection, Document, Pool, PoolEntry, Topic
from tests.analysis.publishing.test_releases import built
from tests.annotation.core.test_campaign_questions import make_grades, make_question
from tests.annotation.test_simulate import simulate
from tests.builders import make_annotator, make_campaign, make_user

pytestmark = [pytest.mark.data, pytest.mark.django_db]
N_TOPICS, N_DOCUMENTS = 3, 20
"""Size of the simulated campaign."""


def make_facet_campaign(pairs: Iterable[tuple[str, str]], **settings: Any) -> Campaign:
    """A campaign on these pairs with relevance (0 to 2) and understandability (0 to 3)."""
    pairs = sorted(pairs)
    collection = Collection.objects.create(slug="clef", name="CLEF")
    topics = {
        topic: Topic.objects.create(collection=collection, topic_id=topic, text=topic, position=n)
        for n, topic in enumerate(sorted({topic for topic, _ in pairs}))
    }
    documents = {
        row.docno: row
        for row in Document.objects.bulk_create(
            Document(collection=collection, docno=docno, title=docno, text="words", n_words=1)
            for docno in sorted({docno for _, docno in pairs})
        )
    }
    pool = Pool.objects.create(collection=collection, name="pool", depth=1, n_pairs=len(pairs))
    PoolEntry.objects.bulk_create(
        PoolEntry(
            pool=pool,
            topic=topics[topic],
            docno=docno,
            document=documents[docno],
            best_rank=1,
            priority=0,
            position=position,
        )
        for position, (topic, docno) in enumerate(pairs)
    )
    return make_campaign(
        collection=collection,
        pool=pool,
        scale=make_grades(0, 1, 2),
        min_relevant=1,
        spans_from=1,
        min_active_seconds=0,
        further_questions=[
            make_question(scale=make_grades(0, 1, 2, 3), min_relevant=2, required=False)
        ],
        **settings,
    )


def labels_of(campaign: Campaign, question: str, least: int = 2) -> dict[tuple[str, str], int]:
    choices = LabelChoices(question=question, min_judgements=least)
    return {(row.topic, row.document): row.grade for row in make_labels(campaign, choices).rows}


def read_labels(path: Path) -> dict[tuple[str, str], int]:
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {(topic, document): int(grade) for topic, _, document, grade in rows}


def test_labels_agreement_and_correlation_are_those_of_other_programs(data_folder: Path) -> None:
    reference = data_folder / "answers-reference" / "facets"
    with (reference / "judgements.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    campaign = make_facet_campaign({(row["topic"], row["document"]) for row in rows})
    pairs = {
        (pair.entry.topic.topic_id, pair.entry.docno): pair
        for pair in Pair.objects.filter(campaign=campaign).select_related("entry__topic")
    }
    members = {name: make_annotator(campaign, name) for name in {r["annotator"] for r in rows}}
    Judgement.objects.bulk_create(
        Judgement(
            key=uuid.uuid4(),
            pair=pairs[row["topic"], row["document"]],
            membership=members[row["annotator"]],
            grade=int(row["relevance"]),
            answers={"understandability": int(row["understandability"])}
            if row["understandability"]
            else {},
            judged_at=timezone.now(),
        )
        for row in rows
    )
    expected = json.loads((reference / "agreement.expected.json").read_text(encoding="utf-8"))
    for question in ("relevance", "understandability"):
        wanted = read_labels(reference / f"labels.{question}.expected.qrels")
        assert labels_of(campaign, question) == wanted
    counts = read_counted_table(campaign).counts
    facets = expected["facets"]
    assert krippendorff_alpha(counts, level="ordinal") == pytest.approx(
        facets["relevance"]["alpha_ordinal"], abs=1e-9
    )
    [found] = compute_agreement_by_question(campaign)
    wanted = facets["understandability"]
    assert (found["judgements"], found["pairs"]) == (
        wanted["judgements"],
        wanted["pairs_with_two_or_more"],
    )
    assert found["alpha"] == pytest.approx(wanted["alpha_ordinal"], abs=1e-9)
    correlation = expected["correlation_of_labels"]
    assert found["labelled"] == correlation["pairs"]
    assert found["spearman"] == pytest.approx(correlation["spearman"], abs=1e-9)


@pytest.fixture
def truth(data_folder: Path, tmp_path: Path) -> dict[str, dict[tuple[str, str], int]]:
    """The published grades of some pairs that have both."""
    folder, found = data_folder / "clef-ehealth-2015", {}
    for key, name in (("relevance", "qrels"), ("understandability", "qread")):
        text = gzip.decompress((folder / f"{name}.eng.clef2015.qtest.graded.txt.gz").read_bytes())
        rows = [line.split() for line in text.decode().splitlines()]
        found[key] = {(row[0], row[2]): int(row[3]) for row in rows}
    both = sorted(found["relevance"].keys() & found["understandability"].keys())
    topics = sorted({topic for topic, _ in both})[:N_TOPICS]
    kept = [pair for topic in topics for pair in [p for p in both if p[0] == topic][:N_DOCUMENTS]]
    for key, grades in found.items():
        lines = [f"{topic} 0 {document} {grades[topic, document]}\n" for topic, document in kept]
        (tmp_path / f"{key}.txt").write_text("".join(lines))
    return {key: {pair: grades[pair] for pair in kept} for key, grades in found.items()}


def simulate_facets(campaign: Campaign, folder: Path, reliability: str) -> None:
    more = ("--question-truth", f"understandability={folder / 'understandability.txt'}")
    found = simulate(
        campaign,
        folder / "relevance.txt",
        *("--direct", "--n-annotators", "3", "--reliability", reliability),
        *more,
    )
    assert found["slots_left"] == 0


def test_perfect_annotators_give_the_published_labels_also_after_a_release(
    truth: dict[str, dict[tuple[str, str], int]], tmp_path: Path
) -> None:
    campaign = make_facet_campaign(truth["relevance"], judgements_per_pair=2)
    simulate_facets(campaign, tmp_path, "1")
    lifecycle.close_campaign(campaign)
    path = tmp_path / "release.zip"
    path.write_bytes(built(campaign))
    imported = import_release(path, name="release.zip", user=make_user())
    for of in (campaign, imported):
        for question, grades in truth.items():
            assert labels_of(of, question) == grades
        [row] = compute_agreement_by_question(of)
        assert row["alpha"] == 1
    qrels, facet = (
        read_qrels(BytesIO((tmp_path / f"{key}.txt").read_bytes()), name=key) for key in truth
    )
    assert qrels.documents.tolist() == facet.documents.tolist()
    wanted = correlate_facets(qrels.grades, facet.grades)
    assert row["spearman"] == pytest.approx(wanted.spearman, abs=1e-12)


def test_agreement_falls_with_noise(
    truth: dict[str, dict[tuple[str, str], int]], tmp_path: Path
) -> None:
    campaign = make_facet_campaign(truth["relevance"], judgements_per_pair=2)
    simulate_facets(campaign, tmp_path, "0.6")
    [row] = compute_agreement_by_question(campaign)
    assert 0 < row["alpha"] < 0.9
    assert labels_of(campaign, "understandability") != truth["understandability"]
