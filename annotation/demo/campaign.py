"""Making the demo campaign: its files are written like anybody's and imported through the same services and jobs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files import File
from django.utils import timezone

from annotation.demo.accounts import make_accounts
from annotation.demo.corpus import Entry, standard_library
from annotation.demo.systems import SYSTEMS, run_lines
from annotation.demo.topics import TOPICS
from annotation.models import Campaign, Membership, Profile
from annotation.services import campaigns, people
from pooling import jobs
from pooling.models import Collection, Job
from pooling.services import collections, pools, topics, uploads

NAME = "Python documentation"
DEPTH = 10

GUIDELINES = """# Which documentation answers the need?

You see what a programmer typed, and one entry of the documentation of Python's standard library: a module, a class, a function or a
method. Grade how well **this entry** answers the need. Judge each entry on its own.

- **Wrong**: about something else.
- **Topic**: about the subject, but it does not help with the need.
- **Partial**: helps with a part of it, or points to what helps.
- **Perfect**: this is what one would use.

| need | entry | grade |
|---|---|---|
| read a csv file | `csv.reader` | Perfect |
| read a csv file | `csv.Dialect` | Partial |
| read a csv file | `csv.writer` | Topic |
| read a csv file | `wave.open` | Wrong |

Press **0** when you cannot judge, and say why. `I` shows more about the need, `?` all keys.
"""


def make_demo(say: Callable[[str], None]) -> Campaign:
    """Accounts, collection, topic check, runs, pool and an open campaign. Raises RuntimeError when one of its jobs failed."""
    say("Reading the documentation of the Python standard library …")
    entries = standard_library()
    users = make_accounts({"manager": "manager", "annotator": "annotator"})
    manager = users["manager"]
    Profile.objects.create(user=manager, may_create=True)
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:
        files = write_files(Path(folder), entries, say)
        say("Importing topics, documents and runs; building the pool …")
        collection = collections.create_collection(
            name=NAME,
            user=manager,
            description="The documentation strings of the Python standard library that is installed with this interpreter.",
            n_documents=len(entries),
        )
        for kind, path in files:
            import_file(collection, kind, path, manager)
    check_topics(collection, manager)
    runs = list(collection.runs.all())
    finish(pools.ask_for_pool(collection, runs=runs, depth=DEPTH, seed=0, name=f"Depth {DEPTH}", user=manager))
    campaign = campaigns.create_campaign(
        name=NAME,
        collection=collection,
        actor=manager,
        description="Which entries of Python's documentation answer what a programmer wants to know?",
        judgements_per_pair=2,
        target_per_annotator=50,
        deadline=timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(days=7),
        expected_seconds=20.0,
        thanks_text="Thank you. Your judgements are part of a small test collection now.",
    )
    campaigns.set_pool(campaign, collection.pools.get(), actor=manager)
    campaigns.save_guideline(campaign, GUIDELINES, actor=manager)
    campaigns.open_campaign(campaign, actor=manager)
    people.add_member(campaign=campaign, user=users["annotator"], role=Membership.Role.ANNOTATOR)
    people.invite(campaign=campaign, actor=manager)
    say(f"The demo campaign is open: {len(entries):,} documents, {campaign.n_topics} topics, {campaign.n_pairs:,} pairs.")
    return campaign


def write_files(folder: Path, entries: list[Entry], say: Callable[[str], None]) -> list[tuple[str, Path]]:
    """Topics (TSV), documents (JSONL) and one TREC run for each system. -> (kind, path), in the order of import"""
    topics_file, documents_file = folder / "topics.jsonl", folder / "documents.jsonl"
    with topics_file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": t.topic, "text": t.text, "description": t.description}) + "\n" for t in TOPICS)
    with documents_file.open("w", encoding="utf-8") as out:
        out.writelines(
            json.dumps({"id": e.document, "title": e.title, "text": e.text, "kind": e.kind, "module": e.module}) + "\n" for e in entries
        )
    names = [entry.document for entry in entries]
    texts = [f"{e.document.replace('.', ' ').replace('_', ' ')} {e.title} {e.text}" for e in entries]
    written = [("topics", topics_file), ("documents", documents_file)]
    for tag, system in SYSTEMS.items():
        say(f"Running {tag} …")
        scores = system(texts, [topic.text for topic in TOPICS])
        path = folder / f"{tag}.run"
        path.write_text("\n".join(run_lines(tag, [t.topic for t in TOPICS], names, scores)) + "\n", encoding="utf-8")
        written.append(("run", path))
    return written


def import_file(collection: Collection, kind: str, path: Path, user: User) -> None:
    with path.open("rb") as source:
        upload = uploads.receive(collection, kind=kind, file=File(source, name=path.name), name=path.name, user=user)
    finish(uploads.ask_for_import(upload, mode="import", options={}, user=user))


def check_topics(collection: Collection, user: User) -> None:
    """What a manager would do: look at the proposals of the strictest useful level, and take them."""
    finish(topics.ask_for_check(collection, level="suspect", user=user))
    topics.decide_all(collection, decision="remove", user=user)


def finish(job: Job) -> None:
    """Do the job here and now; the worker is not running yet."""
    jobs.run_job(job.pk)
    job.refresh_from_db()
    if job.state != Job.State.DONE:
        raise RuntimeError(f"{job.label}: {job.state}: {job.message}")
