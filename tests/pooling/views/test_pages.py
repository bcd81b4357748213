from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from pooling.models import Job, Run, Topic, Upload
from pooling.services.collections import create_collection
from tests.pooling.conftest import RUN_A, bring_in, run


@pytest.fixture
def signed_in(client, manager):
    client.force_login(manager)
    return client


def send(client, collection, content: bytes, *, name="a.run", json_wanted=True, **data):
    file = SimpleUploadedFile(name, content)
    headers = {"accept": "application/json"} if json_wanted else {}
    return client.post(
        reverse("collection-upload", args=[collection.slug]),
        {"kind": "run", "file": file, **data},
        headers=headers,
    )


def test_an_upload_becomes_a_job_whose_card_the_page_asks_for(signed_in, collection):
    response = send(signed_in, collection, RUN_A.encode())
    assert response.status_code == 201
    job = Job.objects.get()
    assert response.json() == {
        "jobs": [{"url": f"/jobs/{job.pk}/", "fragment": f"/jobs/{job.pk}/part"}]
    }
    assert job.parameters["mode"] == "careful"
    waiting = signed_in.get(f"/jobs/{job.pk}/part?was=active")
    assert 'hx-trigger="every 1s"' in waiting.content.decode()
    run(job)
    done = signed_in.get(f"/jobs/{job.pk}/part?was=active")
    assert done.headers["HX-Trigger"] == "jobFinished"
    assert "hx-trigger" not in done.content.decode()
    assert Run.objects.get().tag == "A"


def test_options_reach_the_import(signed_in, collection):
    send(
        signed_in,
        collection,
        b"1 Q0 a 2 9 t\n1 Q0 b 1 5 t\n",
        order="rank",
        tag="named",
        baseline="on",
        submitted_on="2021-05-03",
    )
    assert run(Job.objects.get()).state == "done"
    row = Run.objects.get()
    assert (row.tag, row.baseline, str(row.submitted_on)) == ("named", True, "2021-05-03")


def test_notes_stand_on_the_card_without_asking_for_a_look(signed_in, collection):
    send(
        signed_in,
        collection,
        b"# ir_metadata.start\n# ir_metadata.end\n1 Q0 a 1 5 t\n1 Q0 b 2 5 t\n",
    )
    page = signed_in.get(f"/jobs/{run(Job.objects.get()).pk}/part").content.decode()
    assert "2 comment lines (beginning with #) were skipped" in page
    assert "Ties are ordered by document ID, as in trec_eval" in page
    assert "1 warning" not in page


def test_the_page_of_a_run_shows_its_ir_metadata_in_full(signed_in, collection, manager):
    lines = [f"key{n}: value" for n in range(6)]
    head = "".join(f"# {one}\n" for one in ("ir_metadata.start", *lines, "ir_metadata.end"))
    bring_in(collection, "run", head + RUN_A, name="a.run", user=manager)
    row = Run.objects.get()
    page = signed_in.get(reverse("run", args=[collection.slug, row.pk])).content.decode()
    assert "\n".join(lines) in page
    assert 'rows="6"' in page


def test_several_files_without_script_become_several_jobs(signed_in, collection):
    files = [
        SimpleUploadedFile(f"{i}.run", RUN_A.replace("A\n", f"{i}\n").encode()) for i in range(3)
    ]
    response = signed_in.post(
        reverse("collection-upload", args=[collection.slug]), {"kind": "run", "file": files}
    )
    assert response.url == reverse("collection", args=[collection.slug])
    assert Job.objects.count() == 3


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"kind": "virus"}, "kind"),
        ({"mode": "somehow"}, "mode"),
        ({"submitted_on": "soon"}, "submitted_on"),
        ({"file": ""}, "no file"),
    ],
)
def test_a_wrong_request_is_answered_with_what_is_wrong(signed_in, collection, data, says):
    response = send(signed_in, collection, RUN_A.encode(), **data)
    assert response.status_code == 400
    assert says in response.json()["error"]
    assert not Upload.objects.exists()


def test_a_body_that_is_too_large_is_refused_before_it_is_read(signed_in, collection, settings):
    settings.MAX_UPLOAD_BYTES = 100
    response = send(signed_in, collection, b"x" * 200)
    assert response.status_code == 413
    assert "at most 100" in response.json()["error"]


def test_a_path_in_a_file_name_is_shown_without_the_path_and_used_nowhere(
    signed_in, collection, own_storage
):
    send(signed_in, collection, RUN_A.encode(), name="../../<b>evil</b>.run")
    kept = Upload.objects.get()
    assert kept.name == "b>.run"  # what follows the last slash, as every browser sends it
    assert str(own_storage) in kept.file.path
    page = signed_in.get(reverse("job", args=[Job.objects.get().pk])).content.decode()
    assert "<b>" not in page


def test_a_file_that_waits_is_imported_or_discarded_by_its_manager(signed_in, full):
    upload = full.uploads.get()
    page = signed_in.get(reverse("collection", args=[full.slug])).content.decode()
    assert "1 file to review" in " ".join(page.split())
    assert "CSV: Files to review" not in page, "a table to decide in is none to take along"
    response = signed_in.post(
        reverse("upload-decide", args=[full.slug, upload.pk]), {"action": "import"}
    )
    job = Job.objects.first()
    assert response.url == reverse("job", args=[job.pk])
    assert run(job).report["stored"] is True
    bring_in(full, "run", RUN_A.replace("A\n", "V\n"), mode="inspect")
    bring_in(full, "run", RUN_A.replace("A\n", "U\n"), mode="inspect")
    assert signed_in.get(reverse("jobs")).content.decode().count("to review") == 2
    page = signed_in.post(
        reverse("upload-decide-all", args=[full.slug]), {"action": "discard"}, follow=True
    )
    assert not full.uploads.exists()
    assert "Discarded 2 files." in page.content.decode()
    assert "to review" not in signed_in.get(reverse("jobs")).content.decode()


def test_a_refused_file_shows_line_text_and_expectation_and_can_be_downloaded(
    signed_in, collection
):
    job = bring_in(collection, "run", "1 Q0 a 1 9 t\n1 Q0 <img/src=x> 2 t\n" * 60, name="bad.run")
    page = signed_in.get(reverse("job", args=[job.pk])).content.decode()
    assert "1 Q0 &lt;img/src=x&gt; 2 t" in page
    assert "<img" not in page
    table = signed_in.get(reverse("job-problems", args=[job.pk])).content.decode()
    rows = [line.split("\t") for line in table.splitlines()]
    assert rows[0] == ["line", "problem", "expected", "text"]
    assert rows[1][0] == "2"
    assert rows[1][3] == "1 Q0 <img/src=x> 2 t"
    assert re.fullmatch(r"\d+ more problems", rows[-1][1])


def test_script_in_a_document_is_shown_as_text(signed_in, full):
    page = signed_in.get(
        reverse("document", args=[full.slug, full.documents.get(docno="a").pk])
    ).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; text of a" in page
    assert "<script>alert" not in page


def test_cancelling_from_the_card_returns_the_updated_card(signed_in, collection):
    send(signed_in, collection, RUN_A.encode())
    job = Job.objects.get()
    response = signed_in.post(reverse("job-cancel", args=[job.pk]), headers={"hx-request": "true"})
    assert "cancelled" in response.content.decode()
    assert run(job).state == "cancelled"


def test_topics_are_decided_on_the_check_page(signed_in, full, manager):
    url = reverse("collection-check", args=[full.slug])
    page = signed_in.get(url).content.decode()
    assert "#1 or #2" in " ".join(page.split())
    assert "no text" in page
    seven, eight = Topic.objects.get(topic_id="7"), Topic.objects.get(topic_id="8")
    signed_in.post(
        url,
        {
            f"topic-{seven.pk}": "keep",
            f"topic-{eight.pk}": "remove",
            "topic-999999": "remove",
            "topic-x": "remove",
        },
    )
    assert dict(full.topics.values_list("topic_id", "removed_reason")) == {
        "051": "",
        "7": "",
        "8": "no text",
    }
    assert (
        signed_in.get(reverse("topics-removed", args=[full.slug])).content.decode().splitlines()[1]
        == "8\t#1 or #2\tno text\t"
    )
    signed_in.post(url, {"level": "suspect"})
    assert Job.objects.first().parameters == {"level": "suspect"}
    signed_in.post(url, {"all": "remove"})
    signed_in.post(
        reverse("collection-topics-change", args=[full.slug]),
        {"action": "remove", "topic": [seven.pk]},
    )
    assert Topic.objects.get(pk=seven.pk).removed_reason == "duplicate"


def test_the_preview_shows_pairs_per_depth_and_their_cost(signed_in, full):
    job = full.jobs.get(kind="preview pool")
    url = reverse("pool-preview", args=[full.slug, job.pk])
    page = signed_in.get(url, {"judgements": 2, "seconds": 90}).content.decode()
    # by hand: depth 2 holds 051 a, b, d and 7 x: 4 pairs, 8 judgements, 720 s
    found = signed_in.get(url, {"judgements": 2, "seconds": 90}).context["found"]
    assert [(d.depth, d.pairs, d.judgements, d.hours) for d in found.depths] == [
        (1, 3, 6, 0.15),
        (2, 4, 8, 0.2),
    ]
    assert 'A pool of <span data-figure="pairs">4</span> pairs' in page


def test_the_preview_offers_each_way_of_selecting_with_its_share(signed_in, full):
    job = full.jobs.get(kind="preview pool")
    answer = signed_in.get(reverse("pool-preview", args=[full.slug, job.pk]))
    ways = answer.context["ways"]
    assert [(way.kind, way.chosen) for way in ways] == [
        ("depth", True),
        ("ordered", False),
        ("sampled", False),
    ]
    assert [way.share for way in ways] == [way.pairs / 4 for way in ways]
    assert answer.context["chosen"] == ways[0]


def test_a_pool_is_built_from_the_form_and_its_file_downloaded(signed_in, full):
    runs = list(full.runs.values_list("pk", flat=True))
    response = signed_in.post(
        reverse("collection-pool-new", args=[full.slug]),
        {"runs": runs, "depth": 1, "seed": 3, "name": "one", "action": "build"},
    )
    pool = full.pools.get(name="one")
    assert response.url == reverse("pool", args=[full.slug, pool.pk])
    assert "Waiting for the background worker" in signed_in.get(response.url).content.decode()
    run(Job.objects.first())
    text = b"".join(
        signed_in.get(reverse("pool-table", args=[full.slug, pool.pk])).streaming_content
    ).decode()
    assert len(text.splitlines()) == 4
    signed_in.post(
        reverse("pool-change", args=[full.slug, pool.pk]), {"action": "extend", "depth": 2}
    )
    assert run(Job.objects.first()).report["facts"]["new pairs"] == 1
    signed_in.post(reverse("pool-change", args=[full.slug, pool.pk]), {"action": "delete"})
    assert not full.pools.filter(name="one").exists()


def test_runs_of_another_collection_cannot_be_pooled(signed_in, full, manager):
    other = create_collection(name="Other", user=manager)
    bring_in(other, "topics", "1\tone\n")
    response = signed_in.post(
        reverse("collection-pool-new", args=[other.slug]),
        {"runs": [full.runs.first().pk], "depth": 1, "action": "build"},
    )
    assert response.status_code == 400
    assert not other.pools.exists()


def test_a_collection_is_described_shared_and_deleted(signed_in, full, django_user_model):
    django_user_model.objects.create_user("friend")
    url = reverse("collection-edit", args=[full.slug])
    signed_in.post(
        url, {"action": "describe", "name": "Renamed", "description": "", "n_documents": 9}
    )
    refused = signed_in.post(
        url, {"action": "describe", "name": "Renamed", "description": "", "n_documents": "9" * 30}
    )
    assert (refused.status_code, "1000000000000" in refused.content.decode()) == (400, True)
    signed_in.post(url, {"action": "add-manager", "username": "friend"})
    full.refresh_from_db()
    assert (full.name, full.n_documents, full.managers.count()) == ("Renamed", 9, 2)
    assert (
        "There is no account with the username"
        in signed_in.post(url, {"action": "add-manager", "username": "nobody"}).content.decode()
    )
    signed_in.post(reverse("collection-delete", args=[full.slug]), {"confirm": "something else"})
    assert full.pk
    signed_in.post(reverse("collection-delete", args=[full.slug]), {"confirm": full.slug})
    assert not type(full).objects.filter(pk=full.pk).exists()


def test_the_last_manager_stays(signed_in, full, manager):
    page = signed_in.post(
        reverse("collection-edit", args=[full.slug]),
        {"action": "remove-manager", "user": manager.pk},
    )
    assert "needs at least one manager" in page.content.decode()


def count(client, url, capture) -> int:
    with capture() as queries:
        assert client.get(url).status_code == 200
    return len(queries)


@pytest.mark.long
def test_lists_take_the_same_number_of_queries_whatever_they_hold(
    signed_in, full, manager, django_assert_max_num_queries
):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def queries(url: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert signed_in.get(url).status_code == 200
        return len(captured)

    names = [
        "collection",
        "collection-topics",
        "collection-check",
        "collection-runs",
        "collection-qrels",
        "collection-documents",
        "collection-pools",
    ]
    urls = [reverse(name, args=[full.slug]) for name in names]
    urls += [
        reverse("collections"),
        reverse("jobs"),
        reverse("pool", args=[full.slug, full.pools.get().pk]),
    ]
    urls += [
        f"/api/v1/collections/{full.slug}/{part}/"
        for part in ("topics", "runs", "pools", "uploads")
    ] + [
        "/api/v1/collections/",
        "/api/v1/jobs/",
    ]
    few = {url: queries(url) for url in urls}
    for i in range(12):
        create_collection(name=f"More {i}", user=manager)
        bring_in(full, "run", f"051 Q0 n{i} 1 9 R{i}\n", user=manager)
        bring_in(full, "topics", f"n{i}\tasthma\n", user=manager, mode="import")
        bring_in(full, "run", f"051 Q0 m{i} 1 9 I{i}\n", mode="inspect", user=manager)
    from pooling.services import pools

    assert (
        run(
            pools.request_extension(
                full.pools.get(), runs=list(full.runs.all()), depth=5, user=manager
            )
        ).state
        == "done"
    )
    many = {url: queries(url) for url in urls}
    assert {url: (few[url], many[url]) for url in urls if many[url] > few[url] + 2} == {}
    assert max(many.values()) < 30


def test_no_page_has_inline_script_or_style(signed_in, full):
    pages = [
        reverse("collections"),
        reverse("collection-new"),
        reverse("jobs"),
        reverse("job", args=[full.jobs.first().pk]),
    ]
    pages += [
        reverse(f"collection{part}", args=[full.slug])
        for part in (
            "",
            "-edit",
            "-topics",
            "-check",
            "-runs",
            "-qrels",
            "-documents",
            "-pools",
            "-pool-new",
        )
    ]
    pages += [reverse("pool", args=[full.slug, full.pools.get().pk])]
    for url in pages:
        text = signed_in.get(url).content.decode()
        assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", text), url


def test_report_of_a_job_survives_as_json(full):
    for job in full.jobs.all():
        json.dumps(job.report, allow_nan=False)
