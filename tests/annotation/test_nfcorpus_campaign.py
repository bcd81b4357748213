"""A campaign on real runs and qrels: the depth-10 pool of ten systems over some topics of NFCorpus, judged by simulated annotators."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from annotation.models import Judgement
from annotation.selectors.judging import audit_invariants
from pooling.core.depth import depth_pool, top_of_run
from pooling.formats.qrels import read_qrels
from pooling.formats.runs import read_run
from pooling.models import Collection, Pool, PoolEntry, Topic
from tests.builders import make_campaign

pytestmark = [pytest.mark.data, pytest.mark.django_db(transaction=True)]
ANNOTATORS, DEPTH = 12, 10


@pytest.fixture(scope="module")
def nfcorpus(data_folder):
    folder = data_folder / "nfcorpus"
    return folder / "qrels.test.3-2-1.txt.gz", [read_run(path) for path in sorted((folder / "runs").glob("*.run.gz"))]


def real_campaign(qrels_file, runs, *, n_topics):
    """The pool of the first topics that all runs answer, three judgements a pair."""
    names = read_qrels(qrels_file).topics
    answered = [name for name in names if all(name in set(run.topics) for run in runs)][:n_topics]
    pooled = depth_pool([top_of_run(run, DEPTH, topics=answered) for run in runs], depth=DEPTH, rng=np.random.default_rng(1))
    collection = Collection.objects.create(slug="nfcorpus", name="NFCorpus")
    topics = {name: Topic.objects.create(collection=collection, topic_id=name, text=name, position=i) for i, name in enumerate(answered)}
    pool = Pool.objects.create(collection=collection, name="depth 10", depth=DEPTH)
    PoolEntry.objects.bulk_create(
        PoolEntry(pool=pool, topic=topics[pair.topic], docno=pair.document, best_rank=pair.best_rank, priority=pair.priority, position=i)
        for i, pair in enumerate(pooled)
    )
    return make_campaign(collection=collection, pool=pool, judgements_per_pair=3), pool.entries.count()


@pytest.mark.parametrize(("mode", "n_topics"), [("direct", 10), ("http", 3)])
def test_every_pair_of_a_real_pool_ends_complete_without_overshoot(nfcorpus, request, mode, n_topics):
    qrels_file, runs = nfcorpus
    campaign, n_pairs = real_campaign(qrels_file, runs, n_topics=n_topics)
    assert n_pairs > 10 * n_topics
    how = ["--direct"] if mode == "direct" else ["--url", request.getfixturevalue("live_server").url, "--threads", "4", "--patience", "1"]
    out = StringIO()
    call_command(
        "simulate_annotators",
        "--json",
        "--campaign",
        campaign.slug,
        "--qrels",
        str(qrels_file),
        "--annotators",
        str(ANNOTATORS),
        *how,
        stdout=out,
    )
    found = json.loads(out.getvalue())
    assert found["errors"] == []
    assert (found["judgements"], found["standings"]) == (3 * n_pairs, {"counted": 3 * n_pairs})
    assert (found["slots_left"], found["slots_held"]) == (0, 0)
    assert audit_invariants(campaign) == []
    right = sum(
        grade == found_grade
        for grade, found_grade in _with_truth(
            Judgement.objects.values_list("grade", "pair__entry__topic__topic_id", "pair__entry__docno"), qrels_file
        )
    )
    assert right / (3 * n_pairs) == pytest.approx(0.8, abs=0.06)


def _with_truth(rows, qrels_file):
    qrels = read_qrels(qrels_file)
    known = {}
    for number, topic in enumerate(qrels.topics):
        rows_of = qrels.rows(number)
        known |= {(topic, d.decode()): int(g) for d, g in zip(qrels.documents[rows_of], qrels.grades[rows_of], strict=True)}
    return [(grade, known.get((topic, docno), 0)) for grade, topic, docno in rows]
