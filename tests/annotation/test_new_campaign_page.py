"""The page New campaign: values of presets, cost, example pairs, and entries that survive an
upload."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Campaign
from annotation.selectors.example_pairs import choose_example_pairs
from pooling.models import Collection, Pool, PoolEntry
from tests.builders import make_collection, make_pool, make_user

pytestmark = pytest.mark.django_db
ADDRESS = "/campaigns/new"


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_user("nora", may_create=True))
    return client


@pytest.fixture
def pool(client: Client) -> Pool:
    """Two topics with five documents each."""
    return make_pool(make_collection(manager=User.objects.get(username="nora")))


def entered(collection: Collection, **given: object) -> dict[str, object]:
    return {"name": "Spring", "collection": collection.pk, "way": "once", "preset": "trec", **given}


def test_the_fields_show_the_values_of_the_preset(client, pool):
    form = client.get(ADDRESS).context["form"]
    assert (form["judgements_per_pair"].value(), form["target_per_annotator"].value()) == (3, 300)
    trec = {
        "preset": "trec",
        "values_of": "tripjudge",
        "judgements_per_pair": "3",
        "target_per_annotator": "50",
    }
    form = client.get(ADDRESS, trec).context["form"]
    assert form["judgements_per_pair"].value() == 1
    assert form["target_per_annotator"].value() == "50", "typed"
    assert form["values_of"].value() == "trec"


def test_without_javascript_values_of_the_preset_shown_before_do_not_stay(client, pool):
    shown = {"values_of": "tripjudge", "judgements_per_pair": "3", "target_per_annotator": "50"}
    client.post(ADDRESS, entered(pool.collection, **shown))
    campaign = Campaign.objects.get()
    assert (campaign.judgements_per_pair, campaign.target_per_annotator) == (1, 50)


def test_the_cost_follows_pool_preset_and_numbers(client, pool):
    assert client.get(ADDRESS).context["cost"] is None
    cost = client.get(ADDRESS, {"pool": pool.pk}).context["cost"]
    # 10 pairs with 3 judgements at 48 s are 1,440 s. With a target of 300 each annotator judges at
    # most the 10 pairs.
    assert (cost.n_pairs, cost.judgements, cost.annotators) == (10, 30, 3)
    assert cost.hours == pytest.approx(0.4)
    assert cost.cheaper == pytest.approx(0.4 * 2 / 3)
    assert cost.hours_each == pytest.approx(10 * 48 / 3600)
    typed = {"pool": pool.pk, "judgements_per_pair": "1", "target_per_annotator": "0"}
    cost = client.get(ADDRESS, typed).context["cost"]
    assert (cost.judgements, cost.annotators, cost.hours_each, cost.cheaper) == (
        10,
        None,
        None,
        None,
    )
    assert client.get(ADDRESS, typed | {"judgements_per_pair": "-1"}).context["cost"] is None


def test_the_only_pool_of_a_collection_is_chosen_and_a_foreign_pool_dropped(client, pool):
    def chosen(**asked: object) -> object:
        return client.get(ADDRESS, asked).context["form"].initial["pool"]

    assert chosen(collection=pool.collection.pk) == pool
    other = make_collection(manager=pool.collection.managers.get())
    assert chosen(collection=other.pk, pool=pool.pk) is None


def test_entries_are_kept_while_files_are_uploaded(client, pool):
    typed = {
        "name": "Kept",
        "preset": "trec",
        "values_of": "trec",
        "judgements_per_pair": "2",
        "guidelines-trec": "# Mine",
        "way": "files",
    }
    assert client.post(ADDRESS, typed).url == "/collections/new"
    form = client.get(ADDRESS).context["form"]
    assert [form[name].value() for name in ("name", "preset", "judgements_per_pair")] == [
        *("Kept", "trec", "2"),
    ]
    page = client.get(ADDRESS, {"pool": pool.pk})
    assert page.context["form"].initial["pool"] == pool
    assert "# Mine" in page.content.decode()
    assert not form["with_link"].value(), "unchecked"
    assert client.post(ADDRESS, {"way": "discard"}).url == ADDRESS
    assert not client.get(ADDRESS).context["form"]["name"].value()
    assert not Campaign.objects.exists()


def test_entries_are_forgotten_when_the_campaign_is_created(client, pool):
    client.post(ADDRESS, {"name": "Kept", "way": "files"})
    client.post(ADDRESS, entered(pool.collection, pool=pool.pk))
    assert client.get(ADDRESS).context["is_restored"] is False


def test_graded_example_pairs_are_added_to_the_guidelines(client, pool):
    first, second = choose_example_pairs(pool)
    given = {
        "pool": pool.pk,
        "guidelines-trec": "# Mine",
        f"example-{first.entry}-grade": "1",
        f"example-{first.entry}-reason": "It names\nthe topic only.",
        f"example-{second.entry}-grade": "",
        f"example-{second.entry}-reason": "not graded",
    }
    client.post(ADDRESS, entered(pool.collection, **given))
    assert Campaign.objects.get().guidelines.get().text == (
        "# Mine\n\n## Examples\n\n"
        "**“query number 1”, document “Title 1”.** *Related*: It names the topic only."
    )


def test_examples_are_pairs_of_different_topics_that_few_runs_returned(pool):
    PoolEntry.objects.update(contributions={"a": 1, "b": 2})
    for topic, document in (("t1", "d4"), ("t1", "d5"), ("t2", "d3")):
        PoolEntry.objects.filter(topic__topic_id=topic, docno=document).update(
            contributions={"a": 1}
        )
    PoolEntry.objects.filter(topic__topic_id="t1", docno="d4").update(document=None)
    shown = choose_example_pairs(pool)
    assert [(one.query, one.title) for one in shown] == [
        ("query number 2", "Title 3"),
        ("query number 1", "Title 5"),
    ]


def test_the_page_asks_how_grades_map_to_the_scale_before_the_campaign_is_created(client, pool):
    """The presets have the grades 0 to 3, relevant from 2 (trec), and 0 to 1 (binary)."""

    def check(table: str, **given: object) -> Any:
        file = SimpleUploadedFile("gold.txt", table.encode())
        typed = {"preset": "trec", "known_file": file, "way": "grades", **given}
        response = client.post(ADDRESS, typed)
        assert response.status_code == 200
        return response.context["form"]

    form = check("t1 0 d1 0\nt1 0 d2 1\n")
    assert form.grades_asked == [(0, 0, True), (1, 2, True)]
    assert form.rows_kept == "", "the browser keeps the file"
    assert not check("t1 0 d1 0\nt1 0 d2 1\n", preset="binary").doubt
    assert not check("t1 0 d1 0\nt1 0 d2 3\n").doubt
    assert "gold.txt:1" in check("nonsense\n").unreadable
    assert not client.post(ADDRESS, {"way": "grades"}).context["form"].doubt
    assert not Campaign.objects.exists()
