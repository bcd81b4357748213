"""A file brought as another kind than it is: asked about on the page, by the API and by the
commands, and kept until that is answered."""

from __future__ import annotations

from io import StringIO

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from pooling.management.import_commands import ImportFailed
from pooling.models import Job, Topic, Upload
from tests.commands import call_command
from tests.pooling.conftest import RUN_A, bring_in, run

DOCUMENTS = "".join(f'{{"_id": "d{n}", "title": "Title {n}", "text": "text"}}\n' for n in range(3))
QUESTION = "This looks like documents, not topics. Import it as documents?"


@pytest.fixture
def swapped(collection, manager) -> Upload:
    job = bring_in(collection, "topics", DOCUMENTS, name="docs.jsonl", user=manager)
    assert (job.state, job.report["stored"], job.report["hold"], job.report["looks_like"]) == (
        "done",
        False,
        [QUESTION],
        "documents",
    )
    assert not Topic.objects.exists()
    return collection.uploads.get()


def test_labels_of_an_llm_judge_are_not_taken_for_a_run_without_a_question(collection, manager):
    job = bring_in(
        collection,
        "run",
        "1 Q0 a 3 1 me\n1 Q0 b 0 1 me\n1 Q0 c 0 0.5 me\n",
        name="labels.txt",
        user=manager,
    )
    assert job.report["hold"] == [
        "This looks like LLM labels, not a run. Import LLM labels on a campaign's LLM judges page."
    ]
    assert (job.report["stored"], job.report["looks_like"]) == (False, "")


def test_the_page_offers_both_ways(client, collection, manager, swapped):
    client.force_login(manager)
    page = client.get(reverse("collection", args=[collection.slug])).content.decode()
    assert "This looks like documents, not topics" in page
    assert "Import as documents" in page
    assert "Import as topics anyway" in page
    client.post(reverse("upload-decide", args=[collection.slug, swapped.pk]), {"kind": "documents"})
    assert run(Job.objects.first()).report["stored"]
    assert (
        collection.document_files.get().n_documents,
        collection.topics.count(),
        collection.uploads.count(),
    ) == (3, 0, 0)


def test_a_person_may_insist(client, collection, manager, swapped):
    client.force_login(manager)
    client.post(reverse("upload-decide", args=[collection.slug, swapped.pk]), {"action": "import"})
    assert run(Job.objects.first()).report["stored"]
    assert collection.topics.count() == 3


def test_the_api_takes_the_kind(collection, manager, swapped):
    client = APIClient()
    client.force_authenticate(manager)
    address = f"/api/v1/collections/{collection.slug}/uploads/{swapped.pk}/"
    assert client.post(address, {"kind": "virus"}, format="json").status_code == 400
    assert client.post(address, {"kind": "documents"}, format="json").status_code == 202
    assert run(Job.objects.first()).report["stored"]
    assert collection.document_files.exists()


def test_the_command_ends_with_the_question_and_can_be_told(collection, tmp_path):
    path = tmp_path / "a.run"
    path.write_text(RUN_A)
    with pytest.raises(
        ImportFailed,
        match=r"a.run: This looks like a run, not topics\. Import it as run\? Use import_run, or --as-named",
    ) as error:
        call_command("import_topics", str(path), "--collection", collection.slug)
    assert error.value.returncode == 2
    assert not collection.uploads.exists()
    with pytest.raises(ImportFailed, match="duplicate"):
        call_command("import_topics", str(path), "--collection", collection.slug, "--as-named")
    out = StringIO()
    call_command(
        "import_topics", str(path), "--collection", collection.slug, "--inspect", stdout=out
    )
    assert "warning: This looks like a run" in out.getvalue()


def test_ids_with_and_without_zeros_are_told_apart(collection, manager):
    bring_in(collection, "topics", "1\tone\n2\ttwo\n", user=manager)
    job = bring_in(
        collection, "run", "001 Q0 a 1 9 A\n002 Q0 a 1 9 A\n", mode="careful", user=manager
    )
    assert (
        "IDs are compared as text, so 001 does not match 1: write them the same way in both files"
        in job.report["hold"][0]
    )


def test_files_of_unknown_topics_are_not_offered_to_be_imported_at_once(
    client, collection, manager
):
    client.force_login(manager)
    address = reverse("collection", args=[collection.slug])
    bring_in(collection, "topics", "1\tone\n2\ttwo\n", user=manager)
    for n in range(2):
        bring_in(collection, "run", f"1 Q0 a{n} 1 9 A{n}\n", mode="inspect", user=manager)
    assert 'small primary" name="action" value="import"> Import all' in " ".join(
        client.get(address).content.decode().split()
    ).replace(" >", ">")
    bring_in(collection, "run", "x Q0 a 1 9 B\n", mode="careful", user=manager)
    page = " ".join(client.get(address).content.decode().split())
    assert (
        'button small quiet" name="action" value="import" data-confirm="Some of these files may not match'
        in page
    )


def test_a_refused_file_stays_in_sight_until_it_is_dismissed(client, collection, manager):
    client.force_login(manager)
    for n in range(9):
        bring_in(
            collection,
            "run",
            "1 Q0 a 1 9\n" if n == 0 else f"1 Q0 a{n} 1 9 T{n}\n",
            name=f"{n}.run",
            user=manager,
        )
    address = reverse("collection-runs", args=[collection.slug])
    page = client.get(address).content.decode()
    assert "1 file refused" in page
    assert "0.run" in page
    failed = Job.objects.get(state="failed")
    client.post(reverse("upload-dismiss", args=[collection.slug]), {"job": failed.pk})
    assert "refused" not in client.get(address).content.decode()
    failed.refresh_from_db()
    assert failed.report["n_problems"] == 1  # the job keeps its report
