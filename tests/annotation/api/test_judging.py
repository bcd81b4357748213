"""The judging page's API: who may, every state, the shape of answers and errors, and what must
never be shown."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Judgement, Lease, Membership, Message, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import lifecycle
from annotation.services.people import exclusion, tokens
from tests.builders import judge, judge_pair, make_annotator, make_campaign, make_user

pytestmark = pytest.mark.django_db
GET = ["setup", "skipped", "history", "history/1", "pairs/1/near-duplicates", "questions"]
POST = [
    "leases",
    "leases/renew",
    "leases/release",
    "judgements",
    "judgements/1/revise",
    "skip",
    "skipped/1/resume",
    "guideline/acknowledge",
    "consent",
    "messages/1/read",
    "feedback",
    "questions",
    "questions/1/read",
]


class Page:
    """The page of one annotator."""

    def __init__(self, member: Membership) -> None:
        self.member, self.client = member, APIClient()
        self.client.force_authenticate(member.user)
        self.address = f"/api/v1/judging/{member.campaign.slug}/"
        self.held: list[str] = []

    def get(self, path):
        return self.client.get(self.address + path)

    def post(self, path, **body):
        return self.client.post(self.address + path, body, format="json")

    def pairs(self, want=3, **more):
        found = self.post("leases", want=want, held=self.held, **more).json()
        self.held += [pair["lease"] for pair in found["pairs"]]
        return found

    def judge(self, lease, grade=1, **more):
        return self.post(
            "judgements",
            lease=lease,
            grade=grade,
            key=str(more.pop("key", None) or uuid.uuid4()),
            held=self.held,
            **more,
        )


@pytest.fixture
def page():
    # No minimum time: within a test the server's clock leaves next to none.
    return Page(
        make_annotator(
            make_campaign(judgements_per_pair=2, guideline="# Read\n\n*this*", min_active_seconds=0)
        )
    )


def every_call(client, slug):
    address = f"/api/v1/judging/{slug}/"
    for path in GET:
        yield path, client.get(address + path)
    for path in POST:
        yield path, client.post(address + path, {}, format="json")
    yield "profile", client.put(address + "profile", {}, format="json")


def test_the_signed_out_get_401_everywhere(page):
    for path, answer in every_call(APIClient(), page.member.campaign.slug):
        assert (path, answer.status_code, answer.json()["code"]) == (path, 401, "signed_out")


def test_strangers_get_404_and_managers_403_everywhere(page):
    stranger, manager = APIClient(), APIClient()
    stranger.force_authenticate(make_user())
    manager.force_authenticate(page.member.campaign.created_by)
    for client, status in ((stranger, 404), (manager, 403)):
        for path, answer in every_call(client, page.member.campaign.slug):
            assert (path, answer.status_code) == (path, status)


def test_a_token_signs_in_and_a_wrong_one_is_refused(page):
    token = tokens.create_api_token(user=page.member.user, name="script")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    assert client.get(page.address + "setup").status_code == 200
    client.credentials(HTTP_AUTHORIZATION="Token assay_wrong")
    answer = client.get(page.address + "setup")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_invalid")


def test_a_session_needs_its_csrf_token(page):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(page.member.user)
    assert client.post(page.address + "leases", {"want": 1}, format="json").status_code == 403
    assert not Lease.objects.exists()


def test_a_beacon_gives_leases_back_with_a_form(page):
    page.pairs()
    form = {"leases": json.dumps(page.held)}
    assert page.client.post(page.address + "leases/release", form).json()["released"] == 3
    assert not Lease.objects.filter(state="live").exists()


@pytest.mark.parametrize(
    "body",
    [
        [],
        ["x"],
        5,
        None,
        "x",
        {"leases": False},
        {"leases": 5},
        {"leases": ["[1]"]},
        {"leases": {"a": 1}},
    ],
)
def test_leases_that_are_given_back_as_nothing_that_could_be_leases_are_malformed(page, body):
    answer = page.client.post(
        page.address + "leases/release", json.dumps(body), content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize(
    "leases", ["[", "[" * 100_000, "[null]", '[{"a": 1}]', "x", SimpleUploadedFile("a file", b"[]")]
)
def test_a_beacon_with_nothing_that_could_be_leases_is_malformed(page, leases):
    answer = page.client.post(
        page.address + "leases/release", {"leases": leases}, format="multipart"
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_no_leases_are_none_given_back(page):
    assert page.post("leases/release").json()["released"] == 0


def test_setup_has_everything_the_page_needs_once(page):
    message = Message.objects.create(membership=page.member, text="Well done")
    setup = page.get("setup").json()
    assert setup["state"] == "judging"
    assert [grade["name"] for grade in setup["scale"]] == [
        "Not relevant",
        "Related",
        "Partly answers",
        "Fully answers",
    ]
    assert setup["guideline"] == {
        "number": 1,
        "html": "<h1>Read</h1>\n<p><em>this</em></p>\n",
        "note": "",
        "acknowledged": 1,
    }
    assert [row["text"] for row in setup["messages"]] == ["Well done"]
    assert "completion_code" not in setup["campaign"]
    assert setup["has_judged"] is False
    page.post(f"messages/{message.pk}/read")
    assert page.get("setup").json()["messages"] == []


def test_setup_tells_which_guidelines_were_read_last_also_when_newer_ones_have_to_be_read(page):
    lifecycle.save_guideline(page.member.campaign, "# New")
    setup = page.get("setup").json()
    assert (setup["state"], setup["guideline"]["number"], setup["guideline"]["acknowledged"]) == (
        "guideline_changed",
        2,
        1,
    )


def test_from_lease_to_judgement_to_the_next_pair(page):
    first = page.pairs()
    assert [pair["document"]["id"] for pair in first["pairs"]] == ["d1", "d2", "d3"]
    answer = page.judge(
        first["pairs"][0]["lease"], 2, active_ms=5_000, wall_ms=6_000, device="keyboard"
    ).json()
    assert (
        answer["judgement"]["status"],
        answer["judgement"]["revision"],
        answer["judgement"]["late"],
    ) == ("counted", 1, False)
    assert (answer["progress"]["judged"], answer["progress"]["today"], len(answer["pairs"])) == (
        1,
        1,
        1,
    )
    assert page.get("setup").json()["has_judged"] is True
    assert check_invariants(page.member.campaign) == []


def test_the_annotator_never_sees_rank_score_run_known_grade_or_other_peoples_labels(page):
    judge(make_annotator(page.member.campaign), 3)
    gold = Pair.objects.order_by("position").first()
    lifecycle.set_pair_kind(gold, Pair.Kind.GOLD, gold_grade=3, explanation="secret")
    text = page.post("leases", want=4).content.decode()
    for word in ("rank", "score", "contributions", "gold", "secret", "priority", "why", "grade"):
        assert word not in text.replace('"rotation"', "")
    pair = json.loads(text)["pairs"][0]
    assert set(pair) == {
        "lease",
        "order",
        "left_in_topic",
        "pair",
        "served_at",
        "expires_at",
        "topic",
        "document",
        "skipped_before",
        "previous",
    }


def test_the_same_key_gives_the_same_answer(page):
    lease, key = page.pairs()["pairs"][0]["lease"], uuid.uuid4()
    answers = [page.judge(lease, 2, key=key) for _ in range(3)]
    assert {answer.status_code for answer in answers} == {200}
    assert len({json.dumps(answer.json()["judgement"], sort_keys=True) for answer in answers}) == 1
    assert Judgement.objects.count() == 1


def test_refusals_say_what_is_wrong(page):
    lease = page.pairs()["pairs"][0]["lease"]
    cases = [
        (page.judge(lease, 9), 400, "grade_unknown"),
        (page.judge(lease, None), 400, "reason_missing"),
        (page.judge(lease, 1, spans=[[0, 1]]), 400, "spans_off"),
        (page.judge(str(uuid.uuid4()), 1), 404, "lease_unknown"),
        (page.judge("not a token", 1), 400, "malformed"),
        (page.judge(lease, 1, active_ms=-5), 400, "malformed"),
        (page.post("judgements"), 400, "malformed"),
        (page.get("history?limit=x"), 400, "malformed"),
        (page.get("history?limit=0"), 400, "malformed"),
        (page.get("history?limit=201"), 400, "malformed"),
        (page.get("history?before=-1"), 400, "malformed"),
        (page.get("history/999999"), 404, "judgement_unknown"),
        (page.post("guideline/acknowledge", number=7), 404, "guideline_unknown"),
    ]
    for answer, status, code in cases:
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.json()["detail"]
    page.judge(lease, 1)
    assert (
        page.judge(lease, 2).json()["judgement"]["revision"] == 2
    )  # the same lease on another device


def test_each_annotator_reads_errors_in_their_own_language_in_one_process(page):
    told = {
        language: page.client.post(
            page.address + "guideline/acknowledge",
            {"number": 0},
            format="json",
            headers={"Accept-Language": language},
        ).json()["detail"]
        for language in ("en", "de", "es")
    }
    assert len(set(told.values())) == 3, told


def test_what_was_put_aside_is_listed_and_taken_up_again(page):
    pairs = page.pairs()["pairs"]
    first = pairs[0]
    assert page.post("skip", lease=first["lease"], want=0).status_code == 200
    [item] = page.get("skipped").json()["items"]
    assert (item["pair"], item["document"]["id"]) == (first["pair"], first["document"]["id"])
    [again] = page.post(f"skipped/{first['pair']}/resume").json()["pairs"]
    assert again["pair"] == first["pair"]
    assert again["lease"] != first["lease"]
    assert (
        page.post(f"skipped/{first['pair']}/resume").json()["pairs"][0]["lease"] == again["lease"]
    )  # asked again: the same
    assert page.get("skipped").json()["items"] == []
    assert page.judge(again["lease"], 1).json()["judgement"]["status"] == "counted"
    answer = page.post(f"skipped/{first['pair']}/resume")
    assert (answer.status_code, answer.json()["code"]) == (409, "already_judged")
    never = page.post(f"skipped/{pairs[1]['pair'] + 999}/resume")
    assert (never.status_code, never.json()["code"]) == (404, "not_aside")
    assert check_invariants(page.member.campaign) == []


def test_what_others_have_finished_meanwhile_is_not_taken_up(page):
    [first, *_] = page.pairs()["pairs"]
    page.post("skip", lease=first["lease"], want=0)
    pair = Pair.objects.get(pk=first["pair"])
    for _ in range(pair.open_slots):
        judge_pair(make_annotator(page.member.campaign), pair, 1, now=timezone.now())
    answer = page.post(f"skipped/{first['pair']}/resume")
    assert (answer.status_code, answer.json()["code"]) == (409, "taken")


def test_the_history_of_one_topic_is_that_topics(page):
    given = page.pairs(want=6)["pairs"]
    for pair in given:
        page.judge(pair["lease"], 1, want=0)
    first = given[0]["topic"]["id"]
    expected = [pair["pair"] for pair in reversed(given) if pair["topic"]["id"] == first]
    assert [row["pair"] for row in page.get(f"history?topic={first}").json()["items"]] == expected
    assert page.get("history?topic=no-such").json()["items"] == []
    assert page.get("history?topic=%00").status_code == 400


def test_revising_through_the_history(page):
    lease = page.pairs()["pairs"][0]["lease"]
    number = page.judge(lease, 1, note="first").json()["judgement"]["id"]
    answer = page.post(f"judgements/{number}/revise", key=str(uuid.uuid4()), grade=3, want=0).json()
    assert (answer["judgement"]["revision"], answer["judgement"]["status"]) == (2, "counted")
    shown = page.get(f"history/{number}").json()
    assert (
        shown["judgement"]["grade"],
        shown["pair"]["previous"]["grade"],
        shown["pair"]["document"]["id"],
    ) == (3, 3, "d1")
    assert [row["grade"] for row in page.get("history").json()["items"][0]["revisions"]] == [1, 3]


def test_judging_later_and_the_heartbeat(page):
    pair = page.pairs(want=1)["pairs"][0]
    after = page.post("skip", lease=pair["lease"], key=str(uuid.uuid4()), want=1).json()
    assert after["pairs"][0]["pair"] != pair["pair"]
    ended = Lease.objects.get(token=pair["lease"])
    renewed = page.post("leases/renew", leases=[pair["lease"], after["pairs"][0]["lease"]]).json()[
        "leases"
    ]
    assert [renewed[pair["lease"]]["state"], renewed[after["pairs"][0]["lease"]]["state"]] == [
        "released",
        "live",
    ]
    assert (
        Lease.objects.get(pk=ended.pk).expires_at == ended.expires_at
    )  # what has ended is pushed out no more


def test_own_settings_and_feedback_are_stored(page):
    assert (
        page.client.put(
            page.address + "profile", {"theme": "dark", "keys": {"1": "a"}}, format="json"
        ).json()["profile"]["theme"]
        == "dark"
    )
    assert page.get("setup").json()["profile"] == {"theme": "dark", "keys": {"1": "a"}}
    assert (
        page.client.put(page.address + "profile", {"x": "y" * 30_000}, format="json").status_code
        == 400
    )
    assert page.post("feedback", score="VERY_GOOD", text="nice").status_code == 200
    assert page.post("feedback", score="SUPERB").status_code == 400
    assert page.get("setup").json()["feedback_given"]


def test_every_state_is_reached_and_says_so():
    now = timezone.now()
    campaign = make_campaign(
        judgements_per_pair=1,
        guideline="one",
        consent_text="Do you agree?",
        target_per_annotator=1,
        thanks_text="*Bye*",
    )
    page = Page(make_annotator(campaign, guideline_read=0))

    def state():
        found = page.post("leases", want=1).json()
        assert found["message"] or found["state"] == "judging"
        assert {"progress", "server_time"} <= set(found)
        return found

    assert (state()["state"], state()["consent_html"]) == (
        "consent_needed",
        "<p>Do you agree?</p>\n",
    )
    page.post("consent")
    assert (state()["state"], state()["guideline"]["number"]) == ("guideline_changed", 1)
    page.post("guideline/acknowledge", number=1)
    found = state()
    assert found["state"] == "judging"
    page.judge(found["pairs"][0]["lease"], 1)
    reached = state()
    assert (reached["state"], reached["may_continue"], reached["completion_code"]) == (
        "target_reached",
        True,
        campaign.completion_code,
    )
    assert reached["thanks_html"] == "<p><em>Bye</em></p>\n"
    assert page.post("leases", want=1, continue_after_target=True).json()["state"] == "judging"
    Membership.objects.filter(pk=page.member.pk).update(target=0, daily_limit=1)
    assert state()["state"] == "daily_limit"
    Membership.objects.filter(pk=page.member.pk).update(daily_limit=None)
    exclusion.pause_annotator(page.member, reason="wait", actor=None)
    assert (state()["state"], state()["reason"]) == ("paused", "wait")
    exclusion.resume_annotator(page.member, actor=None)
    lifecycle.pause_campaign(campaign, reason="lunch")
    assert (state()["state"], state()["reason"], state()["who"]) == ("paused", "lunch", "campaign")
    lifecycle.resume_campaign(campaign)
    lifecycle.update_campaign(campaign, actor=None, deadline=now - timedelta(minutes=1))
    assert state()["state"] == "deadline_passed"
    lifecycle.update_campaign(campaign, actor=None, deadline=None)
    exclusion.exclude_annotator(page.member, reason="random", actor=None)
    assert state()["state"] == "excluded"
    exclusion.include_annotator(page.member, actor=None)
    lifecycle.close_campaign(campaign)
    assert state()["state"] == "closed"
    assert (
        Page(make_annotator(make_campaign(state="draft"))).post("leases").json()["state"] == "draft"
    )


def test_the_day_is_that_of_the_annotators_own_time_zone():
    campaign = make_campaign(judgements_per_pair=1)
    page = Page(make_annotator(campaign))
    row = judge(page.member, 1)
    hours_ago = timezone.now() - timedelta(hours=23)
    Judgement.objects.filter(pk=row.pk).update(judged_at=hours_ago)
    for zone in (
        ZoneInfo("Pacific/Kiritimati"),
        ZoneInfo("Pacific/Pago_Pago"),
    ):  # 25 hours apart: at least one has had midnight since
        page.member.user.profile.time_zone = zone.key
        page.member.user.profile.save()
        midnight_passed = (
            hours_ago.astimezone(zone).date() != timezone.now().astimezone(zone).date()
        )
        assert page.get("setup").json()["progress"]["today"] == (0 if midnight_passed else 1)


def test_the_number_of_queries_does_not_grow_with_campaign_or_history(
    django_assert_max_num_queries,
):
    for n_documents in (4, 40):
        campaign = make_campaign(
            n_topics=2, n_documents=n_documents, judgements_per_pair=1, ranks=[1] * n_documents
        )
        page = Page(make_annotator(campaign))
        for _ in range(n_documents):
            judge(page.member, 1)
        pairs = page.pairs()["pairs"]
        with django_assert_max_num_queries(45):
            page.judge(pairs[0]["lease"], 1)
        with django_assert_max_num_queries(12):
            page.get("history")
