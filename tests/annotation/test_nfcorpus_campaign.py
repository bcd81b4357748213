"""A campaign on a real collection: NFCorpus as it is published, the depth-10 pool of ten systems,
judged by simulated annotators to its end."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from io import StringIO
from pathlib import Path

import pytest

from annotation.models import Judgement
from annotation.selectors.judging import check_invariants
from pooling.models import Collection, Topic
from tests.builders import make_campaign
from tests.commands import call_command

pytestmark = [pytest.mark.data, pytest.mark.django_db(transaction=True)]
ANNOTATORS, DEPTH = 20, 10


def counted_pairs(runs: list[Path], topics: set[str]) -> int:
    """The size of the pool, counted line by line: the ten highest scores of each run and topic,
    ties by document id from behind."""
    pool: set[tuple[str, str]] = set()
    for path in runs:
        found: dict[str, list[tuple[float, str]]] = defaultdict(list)
        with gzip.open(path, "rt") as lines:
            for topic, _, document, _, score, _ in map(str.split, lines):
                found[topic].append((float(score), document))
        pool |= {
            (topic, document)
            for topic, rows in found.items()
            if topic in topics
            for _, document in sorted(rows)[-DEPTH:]
        }
    return len(pool)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("mode", "n_topics"), [("direct", 20), ("http", 3)])
def test_every_pair_of_a_real_campaign_ends_complete_without_overshoot(
    data_folder, request, settings, tmp_path, mode, n_topics
):
    """Through the services twenty topics, over HTTP three (the whole takes minutes:
    docs/reference/commands.md says how it ended)."""
    settings.MEDIA_ROOT = tmp_path / "files"
    folder = data_folder / "nfcorpus"
    qrels, runs = folder / "qrels.test.3-2-1.txt.gz", sorted((folder / "runs").glob("*.run.gz"))
    call_command(
        "import_set", str(folder / "beir"), new="NFCorpus", stdout=StringIO(), stderr=StringIO()
    )
    collection = Collection.objects.get()
    if n_topics:
        answered = list(Topic.objects.order_by("position").values_list("pk", flat=True)[:n_topics])
        Topic.objects.exclude(pk__in=answered).update(removed_reason="not in this test")
    call_command(
        "import_run",
        *map(str, runs),
        collection=collection.slug,
        stdout=StringIO(),
        stderr=StringIO(),
    )
    call_command(
        "make_pool", collection=collection.slug, depth=DEPTH, stdout=StringIO(), stderr=StringIO()
    )
    campaign = make_campaign(
        collection=collection, pool=collection.pools.get(), judgements_per_pair=3
    )
    n_pairs = campaign.pairs.count()
    assert n_pairs == counted_pairs(
        runs, set(Topic.objects.filter(removed_reason="").values_list("topic_id", flat=True))
    )
    assert not campaign.pairs.filter(without_text=True).exists()
    how = (
        ["--direct"]
        if mode == "direct"
        else [
            "--url",
            request.getfixturevalue("live_server").url,
            "--threads",
            "4",
            "--patience",
            "1",
        ]
    )
    out = StringIO()
    options = [
        "--campaign",
        campaign.slug,
        "--truth",
        str(qrels),
        "--n-annotators",
        str(ANNOTATORS),
    ]
    call_command("simulate_annotators", "--json", *options, *how, stdout=out)
    found = json.loads(out.getvalue())
    assert found["errors"] == []
    late = Judgement.objects.filter(
        status="extra", late=True
    ).count()  # answers after their lease, when others had taken the pair
    statuses = {"counted": 3 * n_pairs} | ({"extra": late} if late else {})
    assert (found["judgements"], found["statuses"]) == (3 * n_pairs + late, statuses)
    assert late <= n_pairs // 100
    assert (found["slots_left"], found["slots_held"]) == (0, 0)
    assert check_invariants(campaign) == []
    with gzip.open(qrels, "rt") as lines:
        known = {
            (topic, document): int(grade) for topic, _, document, grade in map(str.split, lines)
        }
    given = Judgement.objects.values_list(
        "grade", "pair__entry__topic__topic_id", "pair__entry__docno"
    )
    right = sum(grade == known.get((topic, docno), 0) for grade, topic, docno in given)
    assert right / (3 * n_pairs) == pytest.approx(0.8, abs=0.02 if mode == "direct" else 0.08)
