"""Creation of the demo campaign: its data files are written, and a campaign file imports them."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from annotation.core.campaign_file import CampaignDescription
from annotation.demo.accounts import create_accounts
from annotation.demo.corpus import CorpusEntry, read_standard_library
from annotation.demo.systems import SYSTEMS, run_lines
from annotation.demo.topics import TOPICS
from annotation.models import Campaign, Profile
from annotation.services.campaigns.campaign_files import CampaignFile
from annotation.services.campaigns.declaration import apply_plan, plan_campaign

CAMPAIGN_FILE = Path(__file__).with_name("campaign.toml")


def create_demo(say: Callable[[str], None]) -> Campaign:
    """Create the accounts and apply the campaign file: collection, topic check, runs, pool and an
    open campaign. Raises FormatError or pooling.platform.jobs.Refused if one of its jobs fails."""
    say("Reading the documentation of the Python standard library …")
    entries = read_standard_library()
    users = create_accounts({"manager": "manager", "annotator": "annotator"})
    Profile.objects.create(user=users["manager"], may_create=True)
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:
        write_files(Path(folder), entries, say)
        say("Importing topics, documents and runs; building the pool …")
        _, campaign = apply_plan(
            plan_campaign(demo_document(Path(folder), n_documents=len(entries)), folder=folder),
            actor=users["manager"],
        )
    assert campaign is not None, "the file describes one"
    say(
        f"The demo campaign is open: {len(entries):,} documents, {campaign.n_topics} topics, "
        f"{campaign.n_pairs:,} pairs."
    )
    return campaign


def demo_document(folder: Path, *, n_documents: int) -> CampaignDescription:
    """Return the campaign file with the values of this installation and day."""
    said = CampaignFile(shutil.copy(CAMPAIGN_FILE, folder)).described
    deadline = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(days=7)
    return replace(
        said,
        collection=said.collection | {"n_documents": n_documents},
        campaign=said.campaign | {"deadline": deadline},
    )


def write_files(folder: Path, entries: list[CorpusEntry], say: Callable[[str], None]) -> None:
    """Write topics and documents (JSONL), and one TREC run per system."""
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
    for tag, system in SYSTEMS.items():
        say(f"Running {tag} …")
        scores = system(texts, [topic.text for topic in TOPICS])
        path = folder / f"{tag}.run"
        path.write_text(
            "\n".join(run_lines(tag, [t.topic for t in TOPICS], names, scores)) + "\n",
            encoding="utf-8",
        )
