"""Campaigns made on one page, with known pairs from qrels or a file, and duplicated ones."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.core.presets import PRESETS
from annotation.models import Campaign, Membership
from annotation.selectors.drafts import find_contradictions
from annotation.services.campaigns import campaign_creation, control_pairs
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.errors import CampaignError
from annotation.services.people import exclusion
from pooling.models import Collection
from pooling.platform import jobs
from pooling.services import uploads
from tests.builders import (
    judge,
    make_annotator,
    make_campaign,
    make_collection,
    make_pool,
    make_user,
)

pytestmark = pytest.mark.django_db
QRELS = "t1 0 d1 3\nt1 0 d2 0\nt1 0 d3 1\nt1 0 d4 2\nt2 0 d1 0\nt2 0 d2 3\nt2 0 d9 1\nt3 0 d1 1\n"
"""Of the pairs t1, t2 with d1 to d5: six with a grade from 0 to 3; t2 d9 and t3 d1 are no pairs."""
BINARY = "t1 0 d1 1\nt1 0 d2 0\nt1 0 d3 1\nt1 0 d4 0\n"


@pytest.fixture
def maker(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    return make_user(may_create=True)


@pytest.fixture
def collection(maker) -> Collection:
    return make_collection(manager=maker)


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def bring_qrels(collection: Collection):
    upload = uploads.store_upload(
        collection,
        kind="qrels",
        file=ContentFile(QRELS.encode(), name="q"),
        name="q.txt",
        user=None,
    )
    jobs.run_job(uploads.request_import(upload, mode="import", options={}, user=None).pk)
    return collection.qrels.get()


def asked(collection: Collection, **given) -> dict[str, object]:
    return {"name": "Spring", "collection": collection.pk, "way": "once", "preset": "trec", **given}


def test_the_guidelines_of_the_chosen_preset_are_those_written_on_the_page(
    maker, collection
) -> None:
    make_pool(collection)
    client = client_of(maker)
    page = client.get("/campaigns/new").content.decode()
    assert all(f'name="guidelines-{key}"' in page for key in PRESETS)
    assert (
        "mark the words of the document that answer the query" in page
    )  # of the preset that asks for passages
    texts = {
        "guidelines-trec": "# Ours\r\n\r\nRead <b>twice</b>.",
        "guidelines-binary": "# Another",
    }
    refused = client.post("/campaigns/new", asked(collection, **texts, name=" "))
    assert "Read &lt;b&gt;twice&lt;/b&gt;." in refused.content.decode()
    client.post("/campaigns/new", asked(collection, **texts))
    client.post("/campaigns/new", asked(collection, **texts, preset="fira", name="Autumn"))
    assert (
        Campaign.objects.get(slug="spring").guidelines.get().text == "# Ours\n\nRead <b>twice</b>."
    )
    assert Campaign.objects.get(slug="autumn").guidelines.get().text.startswith("# What to do")


@pytest.mark.parametrize("name", ["صحة 2026", "健康問題", "Поиск", "🍋"])
def test_a_campaign_may_be_called_something_in_any_script(maker, collection, name) -> None:
    make_pool(collection)
    answer = client_of(maker).post("/campaigns/new", asked(collection, name=name))
    assert Campaign.objects.get().name == name
    assert client_of(maker).get(answer.url).status_code == 200


@pytest.mark.parametrize(
    ("deadline", "says"),
    [
        ("2020-05-01T12:00", "Choose a date in the future"),
        ("0026-05-01T12:00", "four digits"),
        ("9999-12-31T23:59", "four digits"),
    ],
)
def test_a_deadline_that_cannot_be_meant_is_told_at_once(maker, collection, deadline, says) -> None:
    make_pool(collection)
    refused = client_of(maker).post("/campaigns/new", asked(collection, deadline=deadline))
    assert refused.status_code == 400
    assert says in refused.content.decode()
    assert not Campaign.objects.exists()


def test_one_form_makes_a_campaign_that_opens(maker, collection) -> None:
    pool, qrels = make_pool(collection), bring_qrels(collection)
    client = client_of(maker)
    answer = client.post(
        "/campaigns/new",
        asked(
            collection,
            pool=pool.pk,
            qrels=qrels.pk,
            n_gold="2",
            n_qualification="3",
            with_link="on",
        ),
    )
    assert answer.url == "/campaigns/spring/"
    campaign = Campaign.objects.get()
    assert campaign.scale[0]["name"] == "Irrelevant"
    assert (campaign.judgements_per_pair, campaign.pairs.count()) == (1, 10)
    assert (
        sorted(campaign.pairs.exclude(kind="normal").values_list("kind", flat=True))
        == ["gold"] * 2 + ["qualification"] * 3
    )
    assert campaign.qualification_pass == 0.7
    assert "**Perfectly relevant**" in campaign.guidelines.get().text
    assert campaign.invitations.count() == 1
    assert find_contradictions(campaign) == []
    page = client.get(answer.url).content.decode()
    assert "Selected 2 gold questions and 3 qualification questions. Skipped 2 rows:" in page
    assert "contradict each other" not in page
    client.post("/campaigns/spring/state", {"action": "open"})
    campaign.refresh_from_db()
    assert campaign.state == "open"


def test_the_only_pool_need_not_be_chosen_and_numbers_replace_those_of_the_preset(
    maker, collection
) -> None:
    make_pool(collection)
    client_of(maker).post(
        "/campaigns/new", asked(collection, preset="fira", judgements_per_pair="2")
    )
    campaign = Campaign.objects.get()
    assert (campaign.judgements_per_pair, campaign.spans, campaign.rotate_text) == (
        2,
        "required",
        False,
    )
    assert not campaign.invitations.exists()


def test_a_pool_is_called_the_only_one_where_no_collection_has_another(maker, collection) -> None:
    def unchosen() -> str:
        return client_of(maker).get("/campaigns/new").context["form"].fields["pool"].empty_label

    make_pool(collection)
    make_pool(make_collection(manager=maker))
    make_pool(foreign := make_collection(manager=make_user()))
    make_pool(foreign)
    assert unchosen() == "The only pool"
    make_pool(collection)
    assert unchosen() == "Choose a pool"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "This collection has no pool yet"),
        ({"n_gold": "2"}, "Choose qrels or a file with known grades"),
        ({"preset": "imagenet"}, "imagenet is not one of the available choices"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_made(maker, collection, given, says) -> None:
    answer = client_of(maker).post("/campaigns/new", asked(collection, **given))
    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert not Campaign.objects.exists()


def test_while_the_chosen_pool_is_built_the_page_asks_again(maker, collection) -> None:
    pool = make_pool(collection)
    waits = "The pool is being built…"
    assert waits not in client_of(maker).get(f"/campaigns/new?pool={pool.pk}").content.decode()
    pool.n_pairs = 0
    pool.save()
    page = client_of(maker).get(f"/campaigns/new?pool={pool.pk}").content.decode()
    assert waits in page
    assert 'hx-select-oob="#cost,#examples,#parts"' in page[page.index('id="cost"') :]


def test_a_pool_of_another_collection_is_refused(maker, collection) -> None:
    other = make_pool(make_collection(manager=maker))
    answer = client_of(maker).post("/campaigns/new", asked(collection, pool=other.pk))
    assert "to another collection" in answer.content.decode()
    foreign = make_pool(make_collection(manager=make_user()))
    assert (
        client_of(maker).post("/campaigns/new", asked(collection, pool=foreign.pk)).status_code
        == 400
    )
    assert (
        client_of(maker).get(f"/campaigns/new?pool={foreign.pk}").context["form"].initial["pool"]
        is None
    )


def test_known_grades_that_fit_nothing_keep_the_campaign_from_being_made(maker, collection) -> None:
    make_pool(collection)
    file = SimpleUploadedFile("gold.txt", b"x 0 y 3\n")
    answer = client_of(maker).post("/campaigns/new", asked(collection, known_file=file, n_gold="1"))
    assert answer.status_code == 400
    assert "Check the topic IDs, document IDs and grades." in answer.content.decode()
    assert not Campaign.objects.exists()


def test_a_file_names_the_kind_and_the_explanation_of_each_pair() -> None:
    campaign = make_campaign(state="draft")
    manager = campaign.memberships.get(role="manager").user
    table = b"topic\tdocument\tgrade\tkind\texplanation\nt1\td1\t3\tqualification\tSays it.\nt1\td2\t0\tgold\t\nt1\td3\t\teveryone\t\n"
    client_of(manager).post(
        f"/campaigns/{campaign.slug}/known-pairs",
        {"known_file": SimpleUploadedFile("gold.tsv", table)},
    )
    rows = (
        campaign.pairs.exclude(kind="normal")
        .order_by("entry__docno")
        .values_list("entry__docno", "kind", "gold_grade", "gold_explanation")
    )
    assert list(rows) == [
        ("d1", "qualification", 3, "Says it."),
        ("d2", "gold", 0, ""),
        ("d3", "everyone", None, ""),
    ]


def test_binary_grades_are_asked_for_and_never_taken_for_grades_of_a_longer_scale() -> None:
    campaign = make_campaign(n_topics=1, n_documents=4, state="draft")
    client = client_of(campaign.created_by)
    address = f"/campaigns/{campaign.slug}/known-pairs"
    asked_for = client.post(
        address, {"known_file": SimpleUploadedFile("q.txt", BINARY.encode()), "n_gold": "3"}
    )
    assert asked_for.status_code == 400
    page = " ".join(asked_for.content.decode().split())
    assert (
        "Known grades: 0–1. Grades on the scale: 0–3. Choose a grade on the scale for each known grade."
        in page
    )
    assert '<option value="0" selected>Not relevant</option>' in page
    assert '<option value="2" selected>Partly answers</option>' in page
    assert not campaign.pairs.exclude(kind="normal").exists()
    kept = asked_for.context["form"].rows_kept
    client.post(address, {"known_text": kept, "n_gold": "3", "grade_0": "leave", "grade_1": ""})
    assert not campaign.pairs.exclude(kind="normal").exists(), "grade 1 is not answered"
    told = client.post(
        address, {"known_text": kept, "n_gold": "3", "grade_0": "0", "grade_1": "3"}, follow=True
    ).content.decode()
    assert "3 gold questions" in told
    assert sorted(campaign.pairs.filter(kind="gold").values_list("gold_grade", flat=True)) in (
        [0, 0, 3],
        [0, 3, 3],
    )


def test_the_page_of_a_new_campaign_asks_what_the_grades_of_a_file_count_as(
    maker, collection
) -> None:
    make_pool(collection)
    given = asked(collection, n_gold="4")
    refused = client_of(maker).post(
        "/campaigns/new", given | {"known_file": SimpleUploadedFile("q.txt", BINARY.encode())}
    )
    assert refused.status_code == 400
    assert "Known grades: 0–1. Grades on the scale: 0–3." in refused.content.decode()
    assert not Campaign.objects.exists()
    kept = refused.context["form"].rows_kept
    made = client_of(maker).post(
        "/campaigns/new",
        given | {"known_text": kept, "grade_0": "leave", "grade_1": "2"},
        follow=True,
    )
    assert set(
        Campaign.objects.get().pairs.filter(kind="gold").values_list("gold_grade", flat=True)
    ) == {2}
    assert (
        "“Highly relevant” is the correct grade for all 2 gold questions, so annotators who always choose it would pass."
        in made.content.decode()
    )


def test_a_file_replaces_the_pairs_of_the_kinds_that_it_brings() -> None:
    campaign = make_campaign(n_topics=1, n_documents=4, state="draft")
    before, kept = campaign.pairs.order_by("position")[:2]
    set_pair_kind(before, "gold", gold_grade=1)
    set_pair_kind(kept, "everyone")
    file = SimpleUploadedFile("gold.txt", b"t1 0 d3 3\n")
    client_of(campaign.created_by).post(
        f"/campaigns/{campaign.slug}/known-pairs",
        {"known_file": file, "n_gold": "5", "replace": "on"},
    )
    kinds = campaign.pairs.exclude(kind="normal").values_list("entry__docno", "kind", "gold_grade")
    assert set(kinds) == {("d3", "gold", 3), (kept.entry.docno, "everyone", None)}


def test_a_judged_pair_does_not_become_a_qualification_pair() -> None:
    campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=2)
    ada = make_annotator(campaign)
    judge(ada, 2)
    judged = campaign.pairs.get(judgements__isnull=False)
    rows = [{"topic": "t1", "document": document, "grade": 3} for document in ("d1", "d2")]
    taken = control_pairs.add_known_pairs(campaign, rows, n_gold=0, n_qualification=2, actor=None)
    assert (taken.gold, taken.qualification) == (0, 1)
    judged.refresh_from_db()
    assert judged.kind == "normal"
    with pytest.raises(CampaignError, match="No row matches an ordinary pair"):
        control_pairs.add_known_pairs(
            campaign,
            [{"topic": "t1", "document": "d7", "grade": 3}],
            n_gold=1,
            n_qualification=0,
            actor=None,
        )


def test_a_copy_has_everything_but_judgements() -> None:
    campaign = make_campaign(
        n_topics=2, n_documents=3, judgements_per_pair=2, guideline="# Read", target_per_annotator=7
    )
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    judge(ada, 2)
    gold = campaign.pairs.filter(judgements__isnull=True).select_related("campaign").first()
    set_pair_kind(gold, "gold", gold_grade=3, explanation="why", actor=None)
    exclusion.pause_annotator(bob, reason="away", actor=None)
    Campaign.objects.filter(pk=campaign.pk).update(deadline=timezone.now() - timedelta(days=1))
    campaign.refresh_from_db()
    manager = campaign.memberships.get(role="manager").user
    copy = campaign_creation.duplicate_campaign(
        campaign, name="Again", actor=manager, with_people=True
    )
    assert (copy.state, copy.slug, copy.target_per_annotator, copy.judgements_per_pair) == (
        "draft",
        "again",
        7,
        2,
    )
    assert (copy.deadline, copy.pool, copy.scale) == (None, campaign.pool, campaign.scale)
    assert copy.completion_code != campaign.completion_code
    assert copy.guidelines.get().text == "# Read"
    assert copy.pairs.filter(judgements__isnull=False).count() == 0
    known = copy.pairs.get(kind="gold")
    assert (known.entry_id, known.gold_grade, known.gold_explanation) == (gold.entry_id, 3, "why")
    assert set(copy.memberships.values_list("user", "role")) == {
        (manager.pk, "manager"),
        (ada.user_id, "annotator"),
    }
    alone = campaign_creation.duplicate_campaign(campaign, name="Alone", actor=manager)
    assert set(alone.memberships.values_list("role", flat=True)) == {Membership.Role.MANAGER}


def test_who_may_make_campaigns_duplicates_on_the_page() -> None:
    campaign = make_campaign()
    manager = campaign.memberships.get(role="manager").user
    client = client_of(manager)
    assert (
        "Duplicate campaign"
        in client.get(f"/campaigns/{campaign.slug}/settings/open/").content.decode()
    )
    assert (
        client.post(f"/campaigns/{campaign.slug}/duplicate", {"name": "Twin"}).url
        == "/campaigns/twin/"
    )
    manager.profile.may_create = False
    manager.profile.save()
    assert (
        client.post(f"/campaigns/{campaign.slug}/duplicate", {"name": "Third"}).status_code == 403
    )
    assert (
        "Duplicate campaign"
        not in client.get(f"/campaigns/{campaign.slug}/settings/open/").content.decode()
    )
