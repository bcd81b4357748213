"""Run a campaign from its files to its qrels through the API: create and open the campaign, let
simulated annotators judge, close the campaign, and export the qrels.

The script uses only the client that openapi-python-client generates from the API's schema:

    curl -H "Authorization: Bearer $MANAGER" http://127.0.0.1:8000/api/schema > schema.yml
    openapi-python-client generate --path schema.yml --meta none --output-path assay_client
    python campaign_by_client.py http://127.0.0.1:8000 $MANAGER ada=$ADA bob=$BOB > qrels.txt

Each person creates a token on the page Account, or you create it with `assay token create`. ada and
bob are usernames.
"""

from __future__ import annotations

import io
import sys
import time
import uuid
from typing import Any

from assay_client import AuthenticatedClient
from assay_client.api.campaigns import (
    campaigns_apply,
    campaigns_create,
    campaigns_exports_file,
    campaigns_progress,
)
from assay_client.api.collections import (
    collections_create,
    collections_pools_create,
    collections_uploads_create,
)
from assay_client.api.jobs import jobs_retrieve
from assay_client.api.judging import judging_acknowledge, judging_lease, judging_submit
from assay_client.models import (
    CollectionRequest,
    DocumentRequest,
    Job,
    JobState,
    LeaseRequest,
    ModeEnum,
    NewPoolRequest,
    NewUploadRequest,
    NumberRequest,
    Problem,
    SubmitRequest,
    UploadKind,
)
from assay_client.types import File

SLUG, POOL = "by-client", "Depth 2"
FILES = {
    UploadKind.TOPICS: ("topics.tsv", "q1\tsea levels\nq2\told ships\n"),
    UploadKind.DOCUMENTS: (
        "documents.jsonl",
        "".join(
            f'{{"_id": "d{n}", "text": "Text number {n} of the small example."}}\n'
            for n in range(1, 5)
        ),
    ),
    UploadKind.RUN: (
        "example.run",
        "q1 Q0 d1 1 9 example\nq1 Q0 d2 2 8 example\nq2 Q0 d3 1 9 example\nq2 Q0 d4 2 8 example\n",
    ),
}
GRADES = {("q1", "d1"): 3, ("q1", "d2"): 1, ("q2", "d3"): 0, ("q2", "d4"): 2}
"""Grades that the simulated annotators give."""
DOCUMENT = {
    "collection": {"slug": SLUG},
    "pool": {"name": POOL},
    "campaign": {
        "slug": SLUG,
        "name": "By a generated client",
        "judgements_per_pair": 2,
        "target_per_annotator": 0,
        "min_active_seconds": 0.0,
        "guidelines": "# What to do\n\nRead, then grade.",
        "state": "open",
    },
}


def check(answer: Any) -> Any:
    """Return the answer. If it is an error, end the program with its message."""
    if isinstance(answer, Problem) or answer is None:
        raise SystemExit(
            answer.detail if answer is not None else "The schema does not describe this answer."
        )
    return answer


def wait_for(client: AuthenticatedClient, job: Job) -> Job:
    """Wait until the job has ended, and return it."""
    while job.state in (JobState.QUEUED, JobState.RUNNING):
        time.sleep(0.2)
        job = check(jobs_retrieve.sync(job.id, client=client))
    if job.state != JobState.DONE:
        raise SystemExit(f"{job.label}: {job.message}")
    return job


def create_campaign(client: AuthenticatedClient, people: list[str]) -> None:
    """Create the collection with its files and pool, and open the campaign."""
    check(
        collections_create.sync(client=client, body=CollectionRequest(name="By client", slug=SLUG))
    )
    for kind, (name, text) in FILES.items():
        file = File(payload=io.BytesIO(text.encode()), file_name=name, mime_type="text/plain")
        body = NewUploadRequest(file=file, kind=kind, mode=ModeEnum.IMPORT)
        wait_for(client, check(collections_uploads_create.sync(SLUG, client=client, body=body)))
    wait_for(
        client,
        check(
            collections_pools_create.sync(
                SLUG, client=client, body=NewPoolRequest(depth=2, name=POOL)
            )
        ),
    )
    document = {
        **DOCUMENT,
        "campaign": {**DOCUMENT["campaign"], "people": [{"user": name} for name in people]},
    }
    created = check(campaigns_create.sync(client=client, body=DocumentRequest.from_dict(document)))
    print(*(change.words for change in created.changes), sep="\n", file=sys.stderr)


def judge(client: AuthenticatedClient) -> int:
    """Judge until no pair is left. Return the number of judged pairs."""
    check(judging_acknowledge.sync(SLUG, client=client, body=NumberRequest(number=1)))
    served, n = check(judging_lease.sync(SLUG, client=client, body=LeaseRequest(want=1))), 0
    while served.pairs:
        pair = served.pairs[0]
        answer = SubmitRequest(
            key=uuid.uuid4(),
            lease=pair.lease,
            grade=GRADES[pair.topic.id, pair.document.id],
            want=1,
            guideline_version=1,
            active_ms=2000,
            idle_ms=0,
            hidden_ms=0,
            wall_ms=2000,
            device="script",
        )
        served, n = check(judging_submit.sync(SLUG, client=client, body=answer)), n + 1
    return n


def main(url: str, manager: str, *annotators: str) -> None:
    tokens = dict(one.split("=", 1) for one in annotators)
    clients = {
        name: AuthenticatedClient(base_url=url, token=token, prefix="Token")
        for name, token in {"": manager, **tokens}.items()
    }
    manages = clients.pop("")
    create_campaign(manages, list(clients))
    for name, client in clients.items():
        print(f"{name} judged {judge(client)} pairs", file=sys.stderr)
    progress = check(campaigns_progress.sync(SLUG, client=manages))
    print(f"{progress.counted} of {progress.needed} judgements", file=sys.stderr)
    closing = {"collection": {"slug": SLUG}, "campaign": {"slug": SLUG, "state": "closed"}}
    check(campaigns_apply.sync(SLUG, client=manages, body=DocumentRequest.from_dict(closing)))
    sys.stdout.write(check(campaigns_exports_file.sync(SLUG, "qrels", client=manages)))


if __name__ == "__main__":
    main(*sys.argv[1:])
