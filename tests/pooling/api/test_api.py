from __future__ import annotations

from datetime import date

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from pooling import api_urls
from pooling.models import Collection, Job, Run, Topic
from pooling.services.collections import create_collection
from tests.pooling.conftest import DOCUMENTS, RUN_A, RUN_B, TOPICS, run

NUMBERED = {
    "api-upload": "uploads",
    "api-document-file": "document_files",
    "api-run": "runs",
    "api-qrels": "qrels",
    "api-pool": "pools",
    "api-pool-extend": "pools",
    "api-pool-batches": "pools",
    "api-pool-stages": "pools",
    "api-pool-entries": "pools",
    "api-pool-table": "pools",
}
METHODS = {
    "api-upload": ["post", "delete"],
    "api-topics-check": ["post"],
    "api-topics-decisions": ["post"],
    "api-document-file": ["delete"],
    "api-pool-preview": ["post"],
    "api-pool-extend": ["post"],
    "api-pool-batches": ["post"],
    "api-pool-stages": ["post"],
    "api-collection": ["get", "patch", "delete"],
    "api-uploads": ["get", "post"],
    "api-topics": ["get", "delete"],
    "api-run": ["get", "patch", "delete"],
    "api-qrels": ["get", "delete"],
    "api-pools": ["get", "post"],
    "api-pool": ["get", "patch", "delete"],
}
ON_COLLECTIONS = [
    pattern.name for pattern in api_urls.urlpatterns if "slug" in str(pattern.pattern)
]


def calls(collection):
    for name in ON_COLLECTIONS:
        args = [collection.slug]
        if name in NUMBERED:
            args.append(getattr(collection, NUMBERED[name]).first().pk)
        for method in METHODS.get(name, ["get"]):
            yield f"{method} {name}", method, reverse(name, args=args)


def test_nobody_without_a_sign_in_gets_anything(client, full):
    answers = {what: getattr(client, method)(url).status_code for what, method, url in calls(full)}
    assert set(answers.values()) <= {401, 403}
    for url in ("/api/v1/collections/", "/api/v1/jobs/", f"/api/v1/jobs/{full.jobs.first().pk}/"):
        assert client.get(url).status_code in (401, 403)
    assert full.pools.count() == 1


def test_strangers_and_managers_of_other_collections_get_404(client, full):
    neighbour = User.objects.create_user("neighbour")
    create_collection(name="Another", user=neighbour)
    client.force_login(neighbour)
    answers = {
        what: getattr(client, method)(url, content_type="application/json").status_code
        for what, method, url in calls(full)
    }
    assert answers == dict.fromkeys(answers, 404)
    through_his = {
        what: getattr(client, method)(
            url.replace(f"/{full.slug}/", "/another/"), content_type="application/json"
        ).status_code
        for what, method, url in calls(full)
        if what.split()[1] in NUMBERED
    }
    assert through_his == dict.fromkeys(through_his, 404)
    assert client.get(f"/api/v1/jobs/{full.jobs.first().pk}/").status_code == 404
    assert client.post(f"/api/v1/jobs/{full.jobs.first().pk}/cancel").status_code == 404
    assert client.post("/api/v1/collections/", {"name": "Mine"}).status_code == 403
    assert [c["slug"] for c in client.get("/api/v1/collections/").json()["results"]] == ["another"]


def test_managers_read_everything(client, full, manager):
    client.force_login(manager)
    for what, method, url in calls(full):
        if method == "get":
            assert client.get(url).status_code == 200, what


@pytest.fixture
def creator(client, django_user_model, own_storage):
    client.force_login(django_user_model.objects.create_superuser("creator"))
    return client


def post(client, url, data):
    return client.post(url, data, content_type="application/json")


def test_a_collection_is_filled_and_pooled_over_the_api(creator):
    assert (
        post(creator, "/api/v1/collections/", {"name": "Mine", "slug": "mine"}).status_code == 201
    )
    assert (
        post(creator, "/api/v1/collections/", {"name": "Mine", "slug": "mine"}).status_code == 409
    )
    base = "/api/v1/collections/mine/"
    for kind, content in (
        ("topics", TOPICS),
        ("run", RUN_A),
        ("run", RUN_B),
        ("documents", DOCUMENTS),
        ("qrels", "051 0 a 1\n051 0 b 0\n"),
    ):
        file = SimpleUploadedFile(f"{kind}.txt", content.encode())
        answer = creator.post(base + "uploads/", {"kind": kind, "file": file, "mode": "import"})
        assert answer.status_code == 202, answer.json()
        run(Job.objects.get(pk=answer.json()["id"]))
        job = creator.get(f"/api/v1/jobs/{answer.json()['id']}/").json()
        assert (job["state"], job["share"], job["report"]["stored"]) == ("done", 1.0, True)
    assert [t["topic_id"] for t in creator.get(base + "topics/").json()["results"]] == [
        "051",
        "7",
        "8",
    ]
    assert post(creator, base + "topics/decisions", {"remove": ["8"], "keep": ["7"]}).json() == {
        "changed": 2
    }
    assert post(creator, base + "topics/decisions", {"remove": ["nine"]}).status_code == 409
    assert post(
        creator, base + "topics/decisions", {"remove": ["7"], "reason": "two readings"}
    ).json() == {"changed": 1}
    assert Topic.objects.get(topic_id="7").removed_reason == "two readings"
    assert (
        post(creator, base + "topics/decisions", {"remove": ["7"], "reason": "x" * 201}).status_code
        == 400
    )
    assert post(creator, base + "topics/decisions", {"keep": ["7"]}).json() == {"changed": 1}
    assert (
        run(
            Job.objects.get(
                pk=post(creator, base + "topics/check", {"level": "suspect"}).json()["id"]
            )
        ).state
        == "done"
    )
    preview = run(
        Job.objects.get(pk=post(creator, base + "pools/preview", {"depth": 2}).json()["id"])
    )
    assert preview.report["facts"]["pairs"] == 4
    answer = post(creator, base + "pools/", {"depth": 1, "runs": ["A"], "name": "p"})
    assert answer.status_code == 202
    run(Job.objects.get(pk=answer.json()["id"]))
    pool = creator.get(base + "pools/").json()["results"][0]
    assert (pool["name"], pool["runs"], pool["n_pairs"]) == ("p", ["A"], 2)
    assert (
        post(creator, base + "pools/", {"runs": ["Z"]}).json()["detail"] == "No run has the tag Z."
    )
    url = f"{base}pools/{pool['id']}/"
    run(Job.objects.get(pk=post(creator, url + "extend", {"runs": ["B"]}).json()["id"]))
    entries = creator.get(url + "entries").json()
    assert entries["count"] == 3
    assert {(e["topic"], e["docno"], e["has_text"]) for e in entries["results"]} == {
        ("051", "a", True),
        ("051", "b", True),
        ("7", "x", False),
    }
    assert b"".join(creator.get(url + "pool.tsv").streaming_content).startswith(
        b"topic\tdocument\tbest_rank"
    )
    rid = creator.get(base + "runs/").json()["results"][0]["id"]
    assert (
        creator.patch(
            f"{base}runs/{rid}/", {"group": "us"}, content_type="application/json"
        ).json()["group"]
        == "us"
    )
    assert creator.delete(f"{base}runs/{rid}/").status_code == 409
    assert creator.delete(url).status_code == 204
    assert creator.delete(f"{base}runs/{rid}/").status_code == 204
    assert creator.delete(base).status_code == 204
    assert not Collection.objects.exists()


def test_an_inspection_waits_until_it_is_imported_or_discarded(creator):
    post(creator, "/api/v1/collections/", {"name": "Mine", "slug": "mine"})
    base = "/api/v1/collections/mine/"
    for tag in ("A", "B"):
        file = SimpleUploadedFile("a.run", RUN_A.replace("A\n", f"{tag}\n").encode())
        answer = creator.post(
            base + "uploads/",
            {"kind": "run", "file": file, "mode": "inspect", "group": "g", "lenient": "true"},
        )
        assert run(Job.objects.get(pk=answer.json()["id"])).report["stored"] is False
    first, second = (u["id"] for u in creator.get(base + "uploads/").json()["results"])
    assert (
        run(Job.objects.get(pk=creator.post(f"{base}uploads/{first}/").json()["id"])).report[
            "stored"
        ]
        is True
    )
    assert creator.delete(f"{base}uploads/{second}/").status_code == 204
    assert [(r["tag"], r["group"]) for r in creator.get(base + "runs/").json()["results"]] == [
        ("A", "g")
    ]


def test_too_large_a_body_and_a_wrong_kind_are_refused(creator, settings):
    post(creator, "/api/v1/collections/", {"name": "Mine", "slug": "mine"})
    answer = creator.post(
        "/api/v1/collections/mine/uploads/",
        {"kind": "virus", "file": SimpleUploadedFile("a", b"x")},
    )
    assert answer.status_code == 400
    settings.MAX_UPLOAD_BYTES = 10
    answer = creator.post(
        "/api/v1/collections/mine/uploads/",
        {"kind": "run", "file": SimpleUploadedFile("a", b"x" * 500)},
    )
    assert answer.status_code == 409
    assert "at most 10" in answer.json()["detail"]


def test_a_queued_job_is_cancelled(creator):
    post(creator, "/api/v1/collections/", {"name": "Mine", "slug": "mine"})
    file = SimpleUploadedFile("a.run", RUN_A.encode())
    job = creator.post("/api/v1/collections/mine/uploads/", {"kind": "run", "file": file}).json()
    assert creator.post(f"/api/v1/jobs/{job['id']}/cancel").json()["state"] == "cancelled"


@pytest.fixture
def three_runs(collection, manager):
    """Names and groups in different orders, one without a date."""
    rows = [
        ("a", "zoo", date(2026, 3, 1), True),
        ("b", "ant", None, False),
        ("c", "zoo", date(2026, 1, 1), False),
    ]
    for tag, group, day, baseline in rows:
        Run.objects.create(
            collection=collection,
            tag=tag,
            group=group,
            submitted_on=day,
            baseline=baseline,
            source_name=tag,
            digest=tag,
            n_rows=1,
            n_topics=1,
        )
    return f"/api/v1/collections/{collection.slug}/runs/"


@pytest.mark.parametrize(
    ("asked", "tags"),
    [
        ("", "abc"),
        ("ordering=-tag", "cba"),
        ("ordering=group,-tag", "bca"),
        ("ordering=submitted_on", "cab"),
        ("ordering=-submitted_on", "acb"),  # without a date: last in either direction
        ("group=zoo", "ac"),
        ("group=zo", ""),
        ("baseline=true", "a"),
        ("baseline=false&ordering=-tag", "cb"),
        ("ordering=-tag&limit=1&offset=1", "b"),
    ],
)
def test_lists_are_ordered_and_chosen_from_as_asked(three_runs, client, manager, asked, tags):
    client.force_login(manager)
    answer = client.get(f"{three_runs}?{asked}").json()
    assert "".join(run["tag"] for run in answer["results"]) == tags


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("ordering=digest", "ordering"),
        ("ordering=", "ordering"),
        ("baseline=yes", "baseline"),
        ("grup=zoo", "grup"),
    ],
)
def test_a_list_refuses_what_it_cannot_be_asked_for(three_runs, client, manager, asked, name):
    client.force_login(manager)
    answer = client.get(f"{three_runs}?{asked}")
    assert (answer.status_code, answer.json()["code"], list(answer.json()["errors"])) == (
        400,
        "malformed",
        [name],
    )
