"""Load for bench_sampling: an interim check whether judging can stop, run by the worker in a
generated campaign of the size of TripJudge.

    python -m benchmarks.look_load depth|sampled [--quick]

1,136 topics, 7 runs, and a depth-10 pool of about 29,000 pairs, of which the first half (or the
first stage of a sampled pool, half of it) has three judgements. Everything is in its own SQLite
database. Only the job is measured: labels, model or estimates, advice.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

N_TOPICS, N_RUNS, DEPTH, N_DOCUMENTS, N_ANNOTATORS = 1136, 7, 10, 70, 20


def main() -> None:
    kind, quick = sys.argv[1], "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"ASSAY_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
        os.environ.pop("ASSAY_DATABASE_URL", None)
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        campaign = create_campaign(kind, N_TOPICS // 20 if quick else N_TOPICS)
        print(json.dumps(measure_check(campaign)))


def create_campaign(kind: str, n_topics: int) -> Any:
    import numpy as np
    from django.contrib.auth.models import User
    from django.core.files.base import ContentFile

    from annotation.services.campaigns import lifecycle
    from assay.pools.pool_kinds import PoolKind
    from pooling.models import Document, Pool, Topic
    from pooling.services import pools, uploads
    from pooling.services.collections import create_collection
    from pooling.services.making import make_parameters

    rng = np.random.default_rng(3)
    owner = User.objects.create(username="owner")
    collection = create_collection(name="Generated", user=owner)
    Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=str(t), text=f"query number {t}", position=t)
        for t in range(n_topics)
    )
    for number in range(N_RUNS):
        lines = []
        for topic in range(n_topics):
            order = np.argsort(np.arange(N_DOCUMENTS) + rng.normal(0, N_DOCUMENTS / 5, N_DOCUMENTS))
            lines += [
                f"{topic} Q0 {topic}-{d} {rank} {100 - rank} run{number}\n"
                for rank, d in enumerate(order.tolist(), start=1)
            ]
        upload = uploads.store_upload(
            collection,
            kind="run",
            file=ContentFile("".join(lines).encode(), name="run.txt"),
            name="run.txt",
            user=None,
        )
        finish_job(uploads.request_import(upload, mode="import", options={}, user=None))
    ids = [f"{topic}-{d}" for topic in range(n_topics) for d in range(N_DOCUMENTS)]
    Document.objects.bulk_create(
        (Document(collection=collection, docno=one, text="text", n_words=1) for one in ids),
        batch_size=2000,
    )
    making = make_parameters(PoolKind(kind), stages=(0.5,))
    job = finish_job(
        pools.request_pool(
            collection, runs=list(collection.runs.all()), depth=DEPTH, making=making, user=owner
        )
    )
    campaign = lifecycle.create_campaign(
        name="Generated",
        collection=collection,
        actor=owner,
        min_active_seconds=0,
        target_per_annotator=0,
    )
    lifecycle.set_pool(campaign, Pool.objects.get(pk=job.parameters["pool"]))
    lifecycle.open_campaign(campaign)
    insert_judgements(campaign, rng)
    return campaign


def finish_job(job: Any) -> Any:
    from pooling.platform import jobs

    jobs.run_job(job.pk)
    job.refresh_from_db()
    if job.state != "done":
        raise SystemExit(f"the job {job.kind} ended as {job.state}: {job.message}")
    return job


def insert_judgements(campaign: Any, rng: Any) -> None:
    """Insert three judgements for each pair of the first half in order, or of the stage. Top ranks
    are often relevant, and one judgement in ten is wrong."""
    import uuid

    from django.contrib.auth.models import User
    from django.db import transaction
    from django.utils import timezone

    from annotation.models import Judgement, Membership, Pair

    users = User.objects.bulk_create(User(username=f"u{k}") for k in range(N_ANNOTATORS))
    members = Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role="annotator", pseudonym=f"A{k:02d}", seed=k)
        for k, user in enumerate(users)
    )
    pairs = list(campaign.pairs.select_related("entry").order_by("position"))
    pairs = pairs if campaign.pool.kind == "sampled" else pairs[: len(pairs) // 2]
    now, rows = timezone.now(), []
    for number, pair in enumerate(pairs):
        truth = int(rng.integers(1, 4)) if rng.random() < 1 / (1 + pair.entry.best_rank / 5) else 0
        for turn in range(3):
            grade = int(rng.integers(0, 4)) if rng.random() < 0.1 else truth
            member = members[(number + 7 * turn) % N_ANNOTATORS]
            rows.append(
                Judgement(
                    key=uuid.uuid4(),
                    pair=pair,
                    membership=member,
                    revision=1,
                    current=True,
                    grade=grade,
                    judged_at=now,
                    received_at=now,
                )
            )
        pair.counted, pair.open_slots, pair.started = 3, pair.needed - 3, True
    with transaction.atomic():
        Judgement.objects.bulk_create(rows, batch_size=2000)
        Pair.objects.bulk_update(pairs, ["counted", "open_slots", "started"], batch_size=500)


def measure_check(campaign: Any) -> dict[str, Any]:
    from analysis.judgements import interim_checks
    from annotation.models import Campaign, Judgement

    campaign = Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk)
    job = interim_checks.request_interim_check(campaign, user=None)
    wall, processor = time.perf_counter(), time.process_time()
    report = finish_job(job).report
    taken = {"seconds": time.perf_counter() - wall, "processor": time.process_time() - processor}
    if "undefined" in report:
        raise SystemExit(f"no advice was given: {report['undefined']}")
    return taken | {
        "pairs": campaign.pool.n_pairs,
        "judgements": Judgement.objects.count(),
        "judged": report["judged"],
    }


if __name__ == "__main__":
    main()
