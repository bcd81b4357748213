"""Create the demo: write its data files, and import them with a campaign file."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.core.campaign_file import CampaignDescription
from annotation.demo import example
from annotation.demo.accounts import create_demo_accounts
from annotation.demo.clicks import simulate_click_labels
from annotation.demo.corpus import CorpusEntry, read_standard_library
from annotation.demo.systems import SYSTEMS, run_lines
from annotation.demo.topics import TOPICS
from annotation.models import Campaign
from annotation.services.campaigns.campaign_files import CampaignFile
from annotation.services.campaigns.declaration import apply_plan, plan_campaign
from assay.formats.qrels import write_qrels
from pooling.platform import jobs

CAMPAIGN_FILE = Path(__file__).with_name("campaign.toml")


def create_demo(print_progress: Callable[[str], None], *, with_example: bool = True) -> Campaign:
    """Create the accounts and campaigns of the demo."""
    return create_campaigns(create_demo_accounts(), print_progress, with_example=with_example)


def create_campaigns(
    manager: User, print_progress: Callable[[str], None], *, with_example: bool = True
) -> Campaign:
    """Create the demo's collection, runs, click labels and pool from its campaign file, check its
    topics, and return its open campaign. With `with_example`, also create the example and the job
    that fills it. Everything or nothing is created. Raises FormatError or
    pooling.platform.jobs.Refused if an import fails."""
    print_progress("Reading the documentation of the Python standard library …")
    entries = read_standard_library()
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:
        write_files(Path(folder), entries, print_progress)
        print_progress("Importing topics, documents and runs; building the pool …")
        described = demo_document(Path(folder), n_documents=len(entries))
        with transaction.atomic():
            campaign = apply_description(described, folder=folder, actor=manager)
            if with_example:
                create_example(described, actor=manager)
    print_progress(
        f"The demo is ready: {len(entries):,} documents, {campaign.n_topics} topics, "
        f"{campaign.n_pairs:,} pairs."
    )
    return campaign


def apply_description(
    description: CampaignDescription, *, folder: str | None, actor: User
) -> Campaign:
    _, campaign = apply_plan(plan_campaign(description, folder=folder, actor=actor), actor=actor)
    assert campaign is not None, "the file describes one"
    return campaign


def create_example(description: CampaignDescription, *, actor: User) -> None:
    """Create the empty example campaign on the demo's collection and pool, and the job that fills
    it.
    description: the demo's campaign file."""
    said = description.campaign
    managers = [person for person in said["people"] if person["role"] == "manager"]
    campaign = apply_description(
        CampaignDescription(
            collection={"slug": description.collection["slug"]},
            pool={"name": description.pool["name"]},
            campaign=said | example.SETTINGS | {"people": managers},
        ),
        folder=None,
        actor=actor,
    )
    example.choose_gold_questions(campaign, actor=actor)
    example.recruit(campaign)
    jobs.enqueue(
        example.FILL_JOB,
        {},
        label=f"Filling {campaign.name}",
        user=actor,
        collection=campaign.collection,
        campaign_id=campaign.pk,
    )


def demo_document(folder: Path, *, n_documents: int) -> CampaignDescription:
    """Return the demo's campaign file, filled in with values of this installation and the current
    day."""
    said = CampaignFile(shutil.copy(CAMPAIGN_FILE, folder)).described
    deadline = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(days=7)
    return replace(
        said,
        collection=said.collection | {"n_documents": n_documents},
        campaign=said.campaign | {"deadline": deadline},
    )


def write_files(
    folder: Path, entries: list[CorpusEntry], print_progress: Callable[[str], None]
) -> None:
    """Write topics and documents (JSONL), one TREC run per system, and labels from simulated clicks
    on the results of BM25."""
    topics_file, documents_file = folder / "topics.jsonl", folder / "documents.jsonl"
    with topics_file.open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({"id": t.topic, "text": t.text, "description": t.description}) + "\n"
            for t in TOPICS
        )
    with documents_file.open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps(
                {
                    "id": e.document,
                    "title": e.title,
                    "text": e.text,
                    "kind": e.kind,
                    "module": e.module,
                }
            )
            + "\n"
            for e in entries
        )
    names = [entry.document for entry in entries]
    texts = [
        f"{e.document.replace('.', ' ').replace('_', ' ')} {e.title} {e.text}" for e in entries
    ]
    runs = {}
    for tag, system in SYSTEMS.items():
        print_progress(f"Running {tag} …")
        scores = system(texts, [topic.text for topic in TOPICS])
        runs[tag] = run_lines(tag, [t.topic for t in TOPICS], names, scores)
        (folder / f"{tag}.run").write_text("\n".join(runs[tag]) + "\n", encoding="utf-8")
    with example.QRELS.open(encoding="utf-8") as qrels:
        grades = {(t, d): int(grade) for t, _, d, grade in map(str.split, qrels)}
    with (folder / "clicks.qrels").open("w", encoding="utf-8") as out:
        write_qrels(simulate_click_labels(runs["BM25"], grades, seed=0), out)
