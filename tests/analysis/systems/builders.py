"""A small collection with runs, qrels from judgements and from clicks, and a campaign with
judgements. Also the same data as files for commands."""

from __future__ import annotations

import json
import os
import shlex
from datetime import date, timedelta
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from django.utils import timezone

from annotation.models import Campaign
from assay.cli.command_list import find_command
from assay.formats.qrels import read_qrels, save_qrels
from assay.formats.runs import read_run, save_run
from pooling.models import Collection, Job
from pooling.platform import jobs
from pooling.services.stored_columns import store_columns
from tests.builders import (
    lease_of,
    make_annotator,
    make_campaign,
    make_collection,
    make_pool,
    make_user,
    submit,
)
from tests.commands import call_command

N_TOPICS, N_DOCUMENTS = 8, 30
GROUPS = ["north", "north", "south", "", "east"]


def run_texts(seed: int = 5, n_runs: int = 5) -> dict[str, str]:
    """Return runs of different quality over documents d1, d2, ..., d30, with ties. The last run
    lacks some topics."""
    rng = np.random.default_rng(seed)
    texts = {}
    for r in range(n_runs):
        rows = []
        for t in range(1, N_TOPICS + 1 - (r == n_runs - 1)):
            scores = np.round(
                np.linspace(3, 0, N_DOCUMENTS) + rng.normal(0, 0.4 + 0.3 * r, N_DOCUMENTS), 1
            )
            for d in rng.choice(N_DOCUMENTS, 20, replace=False):
                rows.append(f"t{t} Q0 d{d + 1} 0 {scores[d]} sys.{r}\n")
        texts[f"sys.{r}"] = "".join(rows)
    return texts


def qrels_text(seed: int, grades: int) -> str:
    rng = np.random.default_rng(seed)
    rows = [
        f"t{t} 0 d{d} {max(0, int(rng.normal(grades * (1 - d / N_DOCUMENTS), 1)))}\n"
        for t in rng.permutation(N_TOPICS) + 1
        for d in rng.choice(N_DOCUMENTS, 16, replace=False) + 1
    ]
    return "".join(rows)


def small_collection(*, slug: str = "small") -> Collection:
    manager = make_user(f"{slug}-owner", may_create=True)
    collection = make_collection(
        n_topics=N_TOPICS, n_documents=N_DOCUMENTS, manager=manager, slug=slug
    )
    for number, (tag, text) in enumerate(run_texts().items()):
        run = read_run(BytesIO(text.encode()), name=f"{tag}.txt")
        name, digest = store_columns("runs", lambda path, run=run: save_run(run, path))
        collection.runs.create(
            tag=tag,
            group=GROUPS[number],
            description=f"system {number} with BERT" if number % 2 else "BM25",
            submitted_on=date(2021, 1 + number // 2, 3 + number),
            baseline=number == 0,
            source_name=f"{tag}.txt",
            columns=name,
            digest=digest,
            n_rows=len(run),
            n_topics=len(run.topics),
        )
    for called, seed, grades in (("judged, old", 1, 3), ("clicks A", 2, 1), ("clicks B", 3, 2)):
        qrels = read_qrels(BytesIO(qrels_text(seed, grades).encode()), name=called)
        name, digest = store_columns("qrels", lambda path, qrels=qrels: save_qrels(qrels, path))
        kind = "clicks" if called.startswith("clicks") else "judged"
        collection.qrels.create(
            name=called,
            kind=kind,
            columns=name,
            digest=digest,
            n_rows=len(qrels),
            n_topics=len(qrels.topics),
        )
    return collection


def small_campaign(collection: Collection, *, judged: bool = True) -> Campaign:
    """Create a campaign in which three annotators have judged pairs of the collection."""
    owner = collection.managers.get()
    campaign = make_campaign(
        collection=collection, pool=make_pool(collection), manager=owner, name="Spring"
    )
    if judged:
        rng = np.random.default_rng(9)
        now = timezone.now()
        annotators = [make_annotator(campaign) for _ in range(2)]
        for pair in campaign.pairs.order_by("position")[:40]:
            for annotator in annotators:
                submit(
                    annotator,
                    lease_of(annotator, pair, now=now),
                    int(rng.integers(0, 4)),
                    now=now + timedelta(seconds=6),
                    active_ms=5000,
                    wall_ms=5500,
                )
    return campaign


def work_off(job: Job) -> Job:
    jobs.run_job(job.pk)
    job.refresh_from_db()
    return job


def by_command(command: str, folder: Path) -> dict:
    """Return the output of the report's command, run as a user would in the folder of its files."""
    program, *words = shlex.split(command)
    assert program == "assay"
    found = find_command(words)
    assert found is not None
    _, module, arguments = found
    out = StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        call_command(module, *arguments, stdout=out, stderr=StringIO())
    finally:
        os.chdir(here)
    return json.loads(out.getvalue())
