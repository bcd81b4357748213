"""Every page x role, the forbidden ones first."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from pooling import urls
from pooling.models import Collection, Job
from pooling.services.collections import create_collection

PAGES = {  # name -> (kind of object its number names, method)
    "collection": (None, "get"),
    "collection-edit": (None, "get"),
    "collection-removal": (None, "get"),
    "collection-delete": (None, "post"),
    "collection-upload": (None, "post"),
    "upload-decide-all": (None, "post"),
    "upload-dismiss": (None, "post"),
    "upload-decide": ("uploads", "post"),
    "collection-topics": (None, "get"),
    "collection-topics-change": (None, "post"),
    "collection-check": (None, "get"),
    "topics-kept": (None, "get"),
    "topics-removed": (None, "get"),
    "collection-runs": (None, "get"),
    "run": ("runs", "get"),
    "collection-qrels": (None, "get"),
    "qrels-delete": ("qrels", "post"),
    "collection-documents": (None, "get"),
    "document": ("documents", "get"),
    "document-file-delete": ("document_files", "post"),
    "collection-pools": (None, "get"),
    "collection-pool-new": (None, "get"),
    "pool-preview": ("previews", "get"),
    "pool": ("pools", "get"),
    "pool-change": ("pools", "post"),
    "pool-table": ("pools", "get"),
}
JOB_PAGES = {"job": "get", "job-fragment": "get", "job-cancel": "post", "job-problems": "get"}
OPEN_TO_SIGNED_IN = {"collections", "collection-new", "jobs"}
BY_ROLE = {"pool-extension"}
"""With two numbers of their own: asked as each role in tests/test_urls_by_role.py."""


def address(name: str, collection: Collection) -> str:
    kind, _ = PAGES[name]
    if kind is None:
        return reverse(name, args=[collection.slug])
    row = (
        collection.jobs.filter(kind="preview pool").first()
        if kind == "previews"
        else getattr(collection, kind).first()
    )
    return reverse(name, args=[collection.slug, row.pk])


def ask(client, name: str, url: str):
    method = PAGES[name][1] if name in PAGES else JOB_PAGES[name]
    return getattr(client, method)(url)


def test_every_page_is_in_one_of_the_lists():
    assert {
        pattern.name for pattern in urls.urlpatterns
    } == PAGES.keys() | JOB_PAGES.keys() | OPEN_TO_SIGNED_IN | BY_ROLE


@pytest.fixture
def stranger(db) -> User:
    return User.objects.create_user("stranger")


@pytest.fixture
def neighbour(stranger) -> User:
    """Manages another collection, in which the same numbers mean nothing."""
    create_collection(name="Another", user=stranger)
    return stranger


def test_nobody_without_a_sign_in_sees_or_changes_a_collection(client, full):
    before = (Collection.objects.count(), Job.objects.count())
    answers = {name: ask(client, name, address(name, full)) for name in PAGES}
    assert {
        name
        for name, answer in answers.items()
        if answer.status_code != 302 or not answer.url.startswith(reverse("sign-in"))
    } == set()
    assert (Collection.objects.count(), Job.objects.count()) == before


def test_a_stranger_does_not_learn_that_a_collection_exists(client, full, stranger):
    client.force_login(stranger)
    assert {
        name: ask(client, name, address(name, full)).status_code for name in PAGES
    } == dict.fromkeys(PAGES, 404)


def test_the_manager_of_another_collection_reaches_nothing_through_his_own(client, full, neighbour):
    client.force_login(neighbour)
    numbered = [name for name, (kind, _) in PAGES.items() if kind]
    assert {
        name: ask(client, name, address(name, full)).status_code for name in numbered
    } == dict.fromkeys(numbered, 404)
    through_his = {
        name: ask(
            client, name, address(name, full).replace(f"/{full.slug}/", "/another/")
        ).status_code
        for name in numbered
    }
    assert through_his == dict.fromkeys(numbered, 404)


def test_jobs_are_seen_by_their_people_only(client, full, stranger):
    urls = {name: reverse(name, args=[full.jobs.first().pk]) for name in JOB_PAGES}
    assert {ask(client, name, url).status_code for name, url in urls.items()} == {302}
    client.force_login(stranger)
    assert {ask(client, name, url).status_code for name, url in urls.items()} == {404}
    full.managers.add(stranger)
    assert {name: ask(client, name, url).status_code for name, url in urls.items()} == {
        "job": 200,
        "job-fragment": 200,
        "job-cancel": 302,
        "job-problems": 200,
    }


@pytest.mark.parametrize("who", ["manager", "superuser"])
def test_managers_and_superusers_see_every_page(client, full, manager, who):
    client.force_login(manager if who == "manager" else User.objects.create_superuser("root"))
    shown = [name for name, (_, method) in PAGES.items() if method == "get"]
    assert {name: client.get(address(name, full)).status_code for name in shown} == dict.fromkeys(
        shown, 200
    )


def test_pages_that_change_something_take_post_only_and_with_the_token(client, full, manager):
    from django.test import Client

    changing = [name for name, (_, method) in PAGES.items() if method == "post"]
    client.force_login(manager)
    assert {
        name: client.get(address(name, full)).status_code for name in changing
    } == dict.fromkeys(changing, 405)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(manager)
    both = [
        name
        for name in PAGES
        if name in {"collection-edit", "collection-check", "run", "collection-pool-new"}
    ]
    assert {
        name: strict.post(address(name, full)).status_code for name in changing + both
    } == dict.fromkeys(changing + both, 403)


def test_only_who_may_create_makes_a_collection(client, stranger):
    from annotation.models import Profile

    client.force_login(stranger)
    assert client.get(reverse("collection-new")).status_code == 403
    assert client.post(reverse("collection-new"), {"name": "Mine"}).status_code == 403
    assert not Collection.objects.exists()
    Profile.objects.create(user=stranger, may_create=True)
    client.force_login(User.objects.get(pk=stranger.pk))
    response = client.post(reverse("collection-new"), {"name": "Mine"})
    assert response.url == reverse("collection", args=["mine"])
    assert list(Collection.objects.get().managers.all()) == [stranger]


def test_lists_hold_ones_own_only(client, full, neighbour):
    client.force_login(neighbour)
    assert [c.name for c in client.get(reverse("collections")).context["collections"]] == [
        "Another"
    ]
    assert client.get(reverse("jobs")).context["jobs"] == []
