"""The list of annotators: one row tells all, many are acted on at once, and a large campaign costs
no more than a page of it."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User

from analysis.dashboard import annotator_metrics
from analysis.dashboard.annotator_metrics import count_distinct_by_group, quantiles_by_group
from analysis.dashboard.annotators import list_annotators
from analysis.dashboard.people_list import review_key
from annotation.models import AuditEvent, Campaign, Judgement, Membership, Message
from annotation.services.people import exclusion
from assay.campaigns.flags import AnnotatorFlag, sort_flags
from tests.analysis.bad_annotators import campaign_with_bad_annotators
from tests.analysis.dashboard.test_pages import client_of, manager_of, text_of, work
from tests.builders import judge, make_annotator, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(n_topics=2, n_documents=8, judgements_per_pair=3, target_per_annotator=12)


def with_many(campaign: Campaign, n: int) -> None:
    users = User.objects.bulk_create(
        User(username=f"annotator{i}", email=f"annotator{i}@example.org") for i in range(n)
    )
    Membership.objects.bulk_create(
        Membership(
            campaign=campaign, user=user, role="annotator", pseudonym=f"A{i + 1:03}", n_judged=i
        )
        for i, user in enumerate(users)
    )


def judged_in(ada: Membership, grade: int, seconds: float) -> None:
    """As if it had taken so long; nobody waits for it."""
    judge(ada, grade)
    Judgement.objects.filter(pk=Judgement.objects.filter(membership=ada).latest("pk").pk).update(
        active_ms=int(1000 * seconds)
    )


def address(campaign: Campaign, query: str = "") -> str:
    return f"/campaigns/{campaign.slug}/people/{query}"


def shown(campaign: Campaign, query: str = "") -> list[str]:
    return [
        person.membership.pseudonym
        for person in manager_of(campaign).get(address(campaign, query)).context["people"]
    ]


def test_a_row_has_name_target_seconds_and_note_and_its_file_the_rest(campaign):
    ada = make_annotator(campaign)
    User.objects.filter(pk=ada.user.pk).update(first_name="Ada", last_name="Lovelace")
    for grade, seconds in ((0, 600), (1, 1200), (1, 1800), (3, 1800)):
        judged_in(ada, grade, seconds)
    Membership.objects.filter(pk=ada.pk).update(note="Asked for leave in May.")
    client = manager_of(campaign)
    text = text_of(client.get(address(campaign)))
    assert "Ada Lovelace" in text
    assert "4 of 12" in text
    assert "1500 s" in text  # the median of 600, 1200, 1800 and 1800
    assert "Note: Asked for leave in May." in text
    file = client.get(address(campaign, "?part=table-1&format=csv")).content.decode()
    [row] = csv.DictReader(io.StringIO(file))
    assert (float(row["Hours"]), row["Too fast"], row["Cannot judge"]) == (1.5, "0", "0")


def summary(pseudonym: str, kappa: float | None = 0.5, *flags: str, **member: str) -> Any:
    return SimpleNamespace(
        membership=Membership(pseudonym=pseudonym, **member),
        flags=[AnnotatorFlag(name, "", "") for name in flags],
        kappa=kappa,
        waits=False,
    )


def test_annotators_come_worst_first():
    people = [
        summary("A001", 0.7),
        summary("A002", None),
        summary("A003", 0.4, "fast"),
        summary("A004", 0.3),
        summary("A005", 0.0, "fast", "agreement may be chance"),
        summary("A006", -0.4, "against the others", status="excluded"),
    ]
    order = [one.membership.pseudonym for one in sorted(people, key=review_key)]
    assert order == ["A005", "A003", "A004", "A001", "A002", "A006"]


def test_the_page_says_who_needs_review_and_why(campaign):
    assert "No annotator needs review." in text_of(
        (make_annotator(campaign), manager_of(campaign).get(address(campaign)))[1]
    )
    bad, names = campaign_with_bad_annotators(n_topics=4, n_documents=26)
    page = manager_of(bad).get(address(bad))
    reviewed = [person.membership.pseudonym for person in page.context["to_review"]]
    assert reviewed[0] == names["contrarian"]
    assert shown(bad)[: len(reviewed)] == reviewed
    assert f"{names['contrarian']}: against the others." in text_of(page)
    person = manager_of(bad).get(f"{address(bad)}{names['contrarian']}/")
    now, without = person.context["alphas"]
    assert without > now, "they grade in reverse"
    said = " ".join(text_of(person).split())
    assert f"Alpha without {names['contrarian']}: {without:.2f} , {now:.2f} now." in said


def test_a_panel_shows_one_annotator_next_to_the_list_and_actions_return_to_it(campaign):
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for grade in (0, 1, 2):
        judge(ada, grade)
        judge(bob, 3 - grade)
    client = manager_of(campaign)
    person = f"{address(campaign)}{ada.pseudonym}/"
    panel = client.get(f"{person}?panel").content.decode()
    assert "<html" not in panel
    with_panel = address(campaign, f"?annotator={ada.pseudonym}")
    assert 'class="panel' in client.get(with_panel).content.decode()
    assert 'class="panel' not in client.get(address(campaign, "?annotator=A999")).content.decode()
    page = client.get(person)
    # grades 0 and 3, 1 and 2, 2 and 1: without Ada, none of the three pairs has two judgements
    assert (page.context["at_stake"], page.context["n_differences"]) == (3, 3)
    assert [d.distance for d in page.context["disagreements"]] == [3, 1, 1]
    for back, url in ((with_panel, with_panel), ("https://example.org/", person)):
        sent = client.post(f"{person}act", {"action": "message", "text": "Hello.", "back": back})
        assert sent.url == url


def test_only_the_strongest_sign_is_open_and_the_others_are_counted():
    names = [
        "fast",
        "grades unlike the others'",
        "confuses Related and Partly answers",
        "against the others",
    ]
    assert [flag.name for flag in sort_flags([AnnotatorFlag(name, "", "") for name in names])] == [
        names[3],
        names[0],
        names[2],
        names[1],
    ]


def test_annotators_are_sorted_searched_and_paged_by_the_server(campaign):
    with_many(campaign, 120)
    assert shown(campaign) == [f"A{i:03}" for i in range(1, 21)]
    assert shown(campaign, "?page=6") == [f"A{i:03}" for i in range(101, 121)]
    assert shown(campaign, "?sort=-judged")[:3] == ["A120", "A119", "A118"]
    assert shown(campaign, "?sort=judged")[:3] == ["A001", "A002", "A003"]
    assert shown(campaign, "?q=annotator11") == ["A012", *(f"A{i}" for i in range(111, 121))]
    assert shown(campaign, "?q=nobody-of-this-name") == []
    Membership.objects.filter(pseudonym="A007").update(status="paused")
    assert shown(campaign, "?which=paused") == ["A007"]
    assert shown(campaign, "?which=nonsense&sort=nonsense&page=x")[:2] == ["A001", "A002"]


def test_what_is_undefined_is_last_in_both_directions(campaign):
    ada, bob, eve = (make_annotator(campaign) for _ in range(3))
    judged_in(ada, 1, 9)
    judged_in(eve, 1, 4)
    by_time = [eve.pseudonym, ada.pseudonym, bob.pseudonym]
    assert shown(campaign, "?sort=seconds") == by_time
    assert shown(campaign, "?sort=-seconds") == [by_time[1], by_time[0], by_time[2]]


def test_a_page_of_a_large_campaign_is_small_and_asks_no_more_of_the_database(
    campaign, django_assert_max_num_queries
):
    client = manager_of(campaign)
    with_many(campaign, 1350)
    client.get(address(campaign))
    with django_assert_max_num_queries(14):
        page = client.get(address(campaign))
    assert page.status_code == 200
    assert len(page.content) < 300_000


def test_many_are_told_paused_and_let_go_on_at_once(campaign):
    ada, bob, eve = (make_annotator(campaign) for _ in range(3))
    client, chosen = manager_of(campaign), f"{address(campaign)}chosen"
    both = [ada.pseudonym, bob.pseudonym]
    back = address(campaign, "?sort=-hours")
    sent = client.post(
        chosen,
        {"annotator": both, "action": "message", "text": "Thank you.", "back": back},
        follow=True,
    )
    assert sent.redirect_chain[0][0] == back
    assert (
        f"Message sent to {both[0]} and {both[1]}. They will see it on the judging page."
        in text_of(sent)
    )
    assert set(Message.objects.values_list("membership__pseudonym", "text")) == {
        (name, "Thank you.") for name in both
    }
    client.post(
        chosen, {"annotator": both, "action": "pause", "reason": "Read the guidelines again."}
    )
    statuses = dict(
        campaign.memberships.filter(role="annotator").values_list("pseudonym", "status")
    )
    assert statuses == {both[0]: "paused", both[1]: "paused", eve.pseudonym: "active"}
    client.post(chosen, {"annotator": both, "action": "resume"})
    assert campaign.memberships.filter(role="annotator", status="active").count() == 3
    assert campaign.audit.filter(action="paused an annotator").count() == 2


def test_who_cannot_be_acted_on_is_said_once_with_the_reason(campaign):
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    client, chosen = manager_of(campaign), f"{address(campaign)}chosen"
    both = [ada.pseudonym, bob.pseudonym]
    assert "Select annotators first" in text_of(
        client.post(chosen, {"action": "pause", "reason": "x"}, follow=True)
    )
    assert (
        text_of(client.post(chosen, {"annotator": both, "action": "pause"}, follow=True)).count(
            "Enter a reason"
        )
        == 1
    )
    assert client.post(chosen, {"annotator": both, "action": "let-in"}).status_code == 404
    elsewhere = client.post(
        chosen, {"annotator": both, "action": "resume", "back": "https://example.org/"}
    )
    assert elsewhere.url == address(campaign)
    other = make_annotator(make_campaign())
    client.post(chosen, {"annotator": [other.pseudonym + "x"], "action": "pause", "reason": "x"})
    assert Membership.objects.filter(status="paused").count() == 0


def test_two_are_excluded_together_after_one_preview(campaign):
    ada, bob, eve = (make_annotator(campaign) for _ in range(3))
    for i in range(12):
        judge(ada, i % 4)
        judge(bob, i % 4)
        judge(eve, 3 - i % 4)
    client = manager_of(campaign)
    both = [bob.pseudonym, eve.pseudonym]
    where = client.post(f"{address(campaign)}chosen", {"annotator": both, "action": "preview"}).url
    work(campaign)
    page = client.get(where)
    assert f"Effect of excluding {both[0]} and {both[1]}" in text_of(page)
    assert page.context["report"]["judgements"] == 24
    assert page.context["report"]["labels_after"] == 0  # Ada alone is one judgement a pair
    assert "Enter a reason" in text_of(client.post(where, {"reason": ""}, follow=True))
    done = client.post(where, {"reason": "a shared account"}, follow=True)
    assert f"Excluded {both[0]} and {both[1]}. 24 judgements no longer count" in text_of(done)
    assert set(
        campaign.memberships.filter(status="excluded").values_list("pseudonym", flat=True)
    ) == set(both)
    assert f"Already excluded: {both[0]}, {both[1]}" in text_of(client.get(where))
    client.post(f"{address(campaign)}chosen", {"annotator": both, "action": "include"})
    assert not campaign.memberships.filter(status="excluded").exists()


def test_a_note_is_for_managers_alone(campaign):
    ada = make_annotator(campaign)
    client = manager_of(campaign)
    client.post(
        f"{address(campaign)}{ada.pseudonym}/act",
        {"action": "note", "text": "Knows the author of topic 3."},
    )
    ada.refresh_from_db()
    assert ada.note == "Knows the author of topic 3."
    assert ada.note in text_of(client.get(f"{address(campaign)}{ada.pseudonym}/"))
    event = AuditEvent.objects.get(campaign=campaign, action="wrote a note")
    assert (event.subject, event.details) == (ada.pseudonym, {})
    judging = client_of(ada.user)
    for own in (f"/judge/{campaign.slug}/", f"/api/v1/campaigns/{campaign.slug}/judging", "/"):
        assert "Knows the author" not in judging.get(own).content.decode(), own


def test_quantiles_of_groups_are_those_of_numpy():
    rng = np.random.default_rng(6)
    values, group = rng.exponential(10, 500), rng.integers(0, 40, 500)
    values[rng.random(500) < 0.1] = np.nan
    group[group == 7] = 8
    quartiles = quantiles_by_group(values, group, 41, (0.25, 0.5, 0.75))
    for i in range(41):
        own = values[(group == i) & ~np.isnan(values)]
        expected = np.quantile(own, (0.25, 0.5, 0.75)) if len(own) else [np.nan] * 3
        assert quartiles[i] == pytest.approx(expected, nan_ok=True), i
    assert np.isnan(quartiles[[7, 40]]).all()


def test_hours_are_of_all_judgements_whatever_became_of_them(campaign):
    ada = make_annotator(campaign)
    judged_in(ada, 1, 1800)
    judge(ada, 2, active_ms=500, wall_ms=9000)
    Judgement.objects.filter(membership=ada, status="too fast").update(active_ms=500)
    assert list_annotators(campaign)[0].hours == pytest.approx(1800.5 / 3600)
    exclusion.exclude_annotator(ada, reason="a script", actor=None)
    assert list_annotators(campaign)[0].hours == pytest.approx(1800.5 / 3600)


@pytest.mark.parametrize("most_cells", [0, 1000])
def test_different_topics_of_each_annotator_are_counted(monkeypatch, most_cells):
    monkeypatch.setattr(annotator_metrics, "MAX_CELLS", most_cells)
    counts = count_distinct_by_group(np.array([0, 0, 0, 2, 2]), np.array([1, 1, 3, 0, 0]), 4, 5)
    assert counts.tolist() == [2, 0, 1, 0]
