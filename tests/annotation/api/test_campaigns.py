"""Campaigns by API: made and changed by a document, which is also what one gets; progress and
agreement."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Campaign
from pooling.models import Job
from pooling.platform import jobs
from tests.builders import (
    judge,
    make_annotator,
    make_campaign,
    make_collection,
    make_pool,
    make_user,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return make_user("manager", may_create=True)


@pytest.fixture
def client(manager) -> Client:
    client = Client()
    client.force_login(manager)
    return client


def sent(client: Client, path: str, document: dict, method: str = "put"):
    return getattr(client, method)(
        f"/api/v1/campaigns/{path}", document, content_type="application/json"
    )


def test_a_document_makes_a_campaign_changes_it_and_again_changes_nothing(client, manager):
    ada = make_user("ada")
    pool = make_pool(make_collection(n_topics=1, n_documents=3, manager=manager, slug="small"))
    said = {
        "collection": {"slug": "small"},
        "pool": {"name": pool.name},
        "campaign": {
            "slug": "autumn",
            "name": "Autumn",
            "judgements_per_pair": 1,
            "deadline": None,
            "guidelines": "# Read",
            "state": "open",
            "gold": [{"topic": "t1", "document": "d1", "grade": 3}],
            "people": [{"user": ada.username}],
        },
    }
    tried = sent(client, "?dry_run=true", said, "post")
    assert (tried.status_code, tried.json()["applied"], Campaign.objects.exists()) == (
        200,
        False,
        False,
    )
    made = sent(client, "", said, "post")
    assert (made.status_code, made.json()["campaign"], made.json()["changes"]) == (
        201,
        "autumn",
        tried.json()["changes"],
    )
    campaign = Campaign.objects.get()
    assert (campaign.state, campaign.n_pairs, campaign.n_gold) == ("open", 3, 1)
    assert {m.user.username: m.role for m in campaign.memberships.all()} == {
        "manager": "manager",
        "ada": "annotator",
    }
    assert sent(client, "", said, "post").status_code == 409
    assert sent(client, "autumn/document", said).json()["changes"] == []
    closed = sent(
        client, "autumn/document", {**said, "campaign": {"slug": "autumn", "state": "closed"}}
    ).json()
    assert [one["words"] for one in closed["changes"]] == ["state: “open” → “closed”"]
    assert (closed["changes"][0]["from"], closed["changes"][0]["to"]) == ("open", "closed")
    whole = client.get("/api/v1/campaigns/autumn/document").json()
    assert sent(client, "autumn/document", whole).json()["changes"] == []
    assert (
        whole["campaign"]["state"],
        whole["campaign"]["deadline"],
        whole["campaign"]["guidelines"],
    ) == ("closed", None, "# Read")
    assert client.get("/api/v1/campaigns/autumn/").json()["state"] == "closed"


def test_binary_gold_needs_to_say_what_its_grades_count_as(client, manager):
    campaign = make_campaign(manager=manager, slug="c", n_topics=1, n_documents=2)
    of = {"slug": campaign.collection.slug}
    gold = [
        {"topic": "t1", "document": "d1", "grade": 1},
        {"topic": "t1", "document": "d2", "grade": 0},
    ]
    refused = sent(
        client, "c/document", {"collection": of, "campaign": {"slug": "c", "gold": gold}}
    )
    assert (refused.status_code, list(refused.json()["errors"])) == (400, ["campaign.gold"])
    counts_as = [{"file_grade": 0, "grade": 0}, {"file_grade": 1, "grade": 2}]
    assert sent(
        client,
        "c/document",
        {"collection": of, "campaign": {"slug": "c", "gold": gold, "gold_grades": counts_as}},
    ).json()["applied"]
    same = [{"file_grade": 0, "grade": 3}, {"file_grade": 1, "grade": 2}]
    tried = sent(
        client,
        "c/document?dry_run=true",
        {"collection": of, "campaign": {"slug": "c", "gold": gold, "gold_grades": same}},
    ).json()
    assert tried["warnings"] == [
        "“Partly answers” is the correct grade for all 2 gold questions, so annotators who always choose it would pass. Add questions with other grades."
    ]
    assert dict(campaign.pairs.values_list("entry__docno", "gold_grade")) == {"d1": 2, "d2": 0}


def test_mistakes_name_the_key_and_refusals_the_reason(client, manager):
    campaign = make_campaign(manager=manager, slug="c")
    wrong = sent(
        client,
        "c/document",
        {
            "collection": {"slug": "x"},
            "campaign": {"slug": "c", "band": 0, "scale": [{"value": "a"}]},
        },
    )
    assert (wrong.status_code, wrong.headers["Content-Type"]) == (400, "application/problem+json")
    assert set(wrong.json()["errors"]) == {
        "campaign.band",
        "campaign.scale[0].value",
        "campaign.scale[0]",
    }
    of = {"slug": campaign.collection.slug}
    pool = sent(
        client,
        "c/document",
        {"collection": of, "pool": {"name": "new", "depth": 3}, "campaign": {"slug": "c"}},
    )
    assert (pool.status_code, "runs in the background" in pool.json()["detail"]) == (409, True)
    path = sent(
        client,
        "c/document",
        {
            "collection": {**of, "topics": ["/etc/passwd"]},
            "campaign": {"slug": "c", "guidelines_file": "/etc/passwd"},
        },
    )
    assert (path.status_code, list(path.json()["errors"])) == (
        400,
        ["collection.topics[0]", "campaign.guidelines_file"],
    )
    assert (
        sent(
            client, "c/document?dry_run=perhaps", {"collection": of, "campaign": {"slug": "c"}}
        ).status_code
        == 400
    )


def test_the_file_itself_is_a_body_and_mistakes_have_its_lines(client, manager):
    campaign = make_campaign(manager=manager, slug="c", name="C")
    make_annotator(campaign, "ada")
    of = f'[collection]\nslug = "{campaign.collection.slug}"\n\n[campaign]\nslug = "c"\n'

    def put(text: str, query: str = ""):
        return client.put(
            f"/api/v1/campaigns/c/document{query}", text.encode(), content_type="application/toml"
        )

    said = f'{of}name = "Größe"\npeople = [{{ user = "manager", role = "manager" }}]\n'
    made = put(said).json()
    assert [one["words"] for one in made["changes"]] == ["name: “C” → “Größe”"]
    assert made["unnamed"] == ["people: ada A001: kept (no judgements; removed with prune)"]
    assert put(said).json()["changes"] == []
    assert [one["words"] for one in put(said, "?prune=true&dry_run=true").json()["changes"]] == [
        "people: ada A001: removed (no judgements)"
    ]
    wrong = put(f"{of}band = 0\n")
    assert (wrong.status_code, wrong.json()["errors"]) == (
        400,
        {"campaign.band": ["line 6: band = 0, expected at least 1 and at most 32,767"]},
    )
    assert wrong.headers["Content-Type"] == "application/problem+json"
    for text, reason in (
        ("name = \n", "body:6: invalid TOML"),
        (
            "a." * 20_000 + "b = 1\n",
            "body:6: a key with too many parts",
        ),  # 1.6 GB of memory for 40 kB
        (f"band = {'1' * 5000}\n", "a number with fewer digits"),
    ):
        broken = put(of + text)
        assert (broken.status_code, reason in broken.json()["detail"]) == (400, True), text[:20]
    assert put("\xff").status_code == 400
    campaign.refresh_from_db()
    assert (campaign.name, campaign.memberships.count()) == ("Größe", 2)


def test_nobody_changes_what_is_not_his(client, manager):
    """The manager of a campaign on somebody's collection may not change the collection, nor a
    stranger either; a maker makes no campaign on it."""
    owner = make_user("owner", may_create=True)
    collection = make_collection(manager=owner, slug="theirs")
    make_campaign(manager=manager, collection=collection, slug="mine")
    make_campaign(manager=owner, slug="other")
    of = {"slug": "theirs"}
    assert (
        sent(
            client, "mine/document", {"collection": of, "campaign": {"slug": "mine", "name": "New"}}
        ).status_code
        == 200
    )
    assert (
        sent(
            client,
            "mine/document",
            {"collection": {**of, "name": "New"}, "campaign": {"slug": "mine"}},
        ).status_code
        == 404
    )
    assert (
        sent(
            client, "", {"collection": of, "campaign": {"slug": "further", "name": "F"}}, "post"
        ).status_code
        == 403
    )
    assert (
        sent(
            client, "other/document", {"collection": of, "campaign": {"slug": "other"}}
        ).status_code
        == 404
    )
    assert (
        sent(
            client,
            "mine/document",
            {"collection": of, "campaign": {"slug": "other", "name": "Taken"}},
        ).status_code
        == 400
    )
    collection.refresh_from_db()
    assert (collection.name, Campaign.objects.filter(name="Taken").exists()) == ("Theirs", False)
    plain = Client()
    plain.force_login(make_user("plain"))
    assert (
        sent(
            plain,
            "",
            {"collection": {"slug": "n", "name": "N"}, "campaign": {"slug": "n", "name": "N"}},
            "post",
        ).status_code
        == 403
    )


def test_the_list_has_what_one_manages_by_state_and_in_order(client, manager):
    for slug, state in (("a", "open"), ("b", "draft"), ("c", "open")):
        make_campaign(manager=manager, slug=slug, state=state)
    make_campaign(slug="theirs")
    assert [
        one["slug"]
        for one in client.get("/api/v1/campaigns/?state=open&ordering=-slug").json()["results"]
    ] == ["c", "a"]
    assert client.get("/api/v1/campaigns/").json()["count"] == 3


def test_progress_and_agreement_are_those_of_the_pages(client, manager, monkeypatch):
    campaign = make_campaign(
        manager=manager,
        slug="c",
        n_topics=1,
        n_documents=2,
        judgements_per_pair=2,
        min_active_seconds=0,
    )
    for name in ("ada", "bob"):
        member = make_annotator(campaign, name)
        for grade in (1, 2):
            judge(member, grade)
    now = client.get("/api/v1/campaigns/c/progress").json()
    assert (
        now["needed"],
        now["counted"],
        now["pairs"],
        now["complete"],
        now["complete_depth"],
    ) == (4, 4, 2, 2, 2)
    assert [(one["rank"], one["complete"]) for one in now["levels"]] == [(1, 1), (2, 1)]
    first = client.get("/api/v1/campaigns/c/agreement").json()
    assert (first["figures"], first["working"]) == (None, True)
    jobs.run_job(Job.objects.get(kind="agreement statistics").pk)
    then = client.get("/api/v1/campaigns/c/agreement").json()
    assert (then["working"], then["current"], then["figures"]["graded"]["alpha"]) == (
        False,
        True,
        1.0,
    )  # both gave the same grades
