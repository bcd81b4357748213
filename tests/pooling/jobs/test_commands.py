"""Commands on the database: the same services, exit status 2 and every problem on standard error
for bad input."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError

from pooling.models import Collection, Job, Upload
from tests.commands import call_command
from tests.pooling.conftest import DOCUMENTS, RUN_A, RUN_B, TOPICS


@pytest.fixture
def folder(tmp_path):
    for name, content in (
        ("topics.tsv", TOPICS),
        ("a.run", RUN_A),
        ("b.run", RUN_B),
        ("d.jsonl", DOCUMENTS),
        ("q.txt", "051 0 a 1\n051 0 b 0\n"),
    ):
        (tmp_path / name).write_text(content)
    return tmp_path


def call(*arguments: object) -> str:
    out = StringIO()
    call_command(*[str(argument) for argument in arguments], stdout=out)
    return out.getvalue()


def test_files_become_a_pool_from_the_command_line(manager, folder, own_storage):
    assert call("create_collection", "My collection", "--manager", "manager") == "my-collection\n"
    here = ["--collection", "my-collection", "--user", "manager"]
    assert "topics 3" in call("import_topics", folder / "topics.tsv", *here)
    assert call("import_run", folder / "a.run", folder / "b.run", *here).count("tag ") == 2
    call("import_documents", folder / "d.jsonl", *here)
    call("import_qrels", folder / "q.txt", "--name", "expert", "--kind", "clicks", *here)
    assert "pairs 4" in call("make_pool", "--depth", 2, "--name", "p", *here)
    made = Collection.objects.get()
    assert (
        made.topics.count(),
        made.runs.count(),
        made.document_files.count(),
        made.qrels.get().kind,
    ) == (3, 2, 1, "clicks")
    assert made.pools.get().entries.count() == 4
    assert set(Job.objects.values_list("created_by__username", "state")) == {("manager", "done")}


def test_an_inspection_imports_nothing_and_leaves_nothing(collection, folder):
    assert "rows 3" in call(
        "import_run", folder / "a.run", "--collection", collection.slug, "--inspect"
    )
    assert not collection.runs.exists()
    assert not Upload.objects.exists()


def test_bad_files_collections_people_and_tags_end_with_status_2_and_reasons(collection, folder):
    (folder / "bad.run").write_text("1 Q0 a 1 9\n")
    wrong = {
        "bad.run:1: 5 columns, expected 6 columns": [
            "import_run",
            folder / "bad.run",
            "--collection",
            collection.slug,
        ],
        "there is no collection with the slug 'nothing'": [
            "import_run",
            folder / "a.run",
            "--collection",
            "nothing",
        ],
        "there is no account with the username": [
            "import_run",
            folder / "a.run",
            "--collection",
            collection.slug,
            "--user",
            "nobody",
        ],
        "absent.run: No such file": [
            "import_run",
            folder / "absent.run",
            "--collection",
            collection.slug,
        ],
        "no run has the tag Z; existing tags: none yet": [
            "make_pool",
            "--collection",
            collection.slug,
            "--runs",
            "Z",
        ],
        "Select at least one run.": ["make_pool", "--collection", collection.slug],
    }
    for reason, arguments in wrong.items():
        with pytest.raises(CommandError) as error:
            call(*arguments)
        assert reason in str(error.value)
        assert error.value.returncode == 2
