"""The manager's pages: who may see them, what they show, what they say when something is
undefined."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from analysis.dashboard import exclusions
from analysis.dashboard.annotators import list_annotators
from analysis.dashboard.progress import progress_heat_map
from analysis.dashboard.to_do_list import ToDoKind, get_to_do_list
from analysis.dashboard.views import progress, trail
from analysis.judgements import live as kept
from analysis.judgements.live import get_snapshot
from analysis.judgements.rows import read_counted_table
from annotation.models import AuditEvent, Campaign, Feedback, Judgement, Membership, Message, Pair
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.judging import scheduling, submission
from annotation.services.people import exclusion
from assay.charts.svg import Picture
from assay.labels.agreement.alpha import krippendorff_alpha
from pooling.models import Job
from pooling.platform import jobs
from pooling.selectors.collections import get_activity
from tests.analysis.bad_annotators import campaign_with_bad_annotators
from tests.builders import judge, judged_campaign, make_annotator, make_campaign, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rows_read_anew")]
PAGES = [
    "",
    "live",
    "people/",
    "agreement/",
    "gold/",
    "judgements/",
    "feedback/",
    "audit/",
]


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def manager_of(campaign) -> Client:
    return client_of(campaign.memberships.get(role="manager").user)


def text_of(response) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode())))


def work(campaign) -> None:
    """Do the campaign's queued jobs."""
    for job in Job.objects.filter(campaign_id=campaign.pk, state=Job.State.QUEUED).order_by("pk"):
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert job.state == Job.State.DONE, job.message


@pytest.mark.parametrize("page", PAGES)
class TestWhoMay:
    def test_the_anonymous_are_sent_to_sign_in(self, client, page):
        assert client.get(f"/campaigns/{make_campaign().slug}/{page}").status_code == 302

    def test_strangers_and_other_managers_find_nothing(self, page):
        campaign = make_campaign()
        assert client_of(make_user()).get(f"/campaigns/{campaign.slug}/{page}").status_code == 404
        assert (
            manager_of(make_campaign()).get(f"/campaigns/{campaign.slug}/{page}").status_code == 404
        )

    def test_annotators_are_refused(self, page):
        campaign = make_campaign()
        assert (
            client_of(make_annotator(campaign).user)
            .get(f"/campaigns/{campaign.slug}/{page}")
            .status_code
            == 403
        )

    def test_the_manager_sees_it_empty_and_with_judgements(self, page):
        campaign = make_campaign()
        client = manager_of(campaign)
        assert client.get(f"/campaigns/{campaign.slug}/{page}").status_code == 200
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        for grade in (0, 1, 2, 3):
            judge(ada, grade, active_ms=9000, wall_ms=9500)
            judge(bob, 3 - grade, active_ms=4000, wall_ms=4500)
        response = client.get(f"/campaigns/{campaign.slug}/{page}")
        assert response.status_code == 200
        assert " style=" not in response.content.decode()
        assert "nan" not in text_of(response).lower().split()

    def test_queries_do_not_grow_with_the_annotators(self, page, django_assert_max_num_queries):
        campaign = make_campaign(n_topics=4, n_documents=6, judgements_per_pair=9)
        client = manager_of(campaign)

        def count(n: int) -> int:
            for _ in range(n):
                member = make_annotator(campaign)
                judge(member, 1, active_ms=5000, wall_ms=6000)
                judge(member, 2, active_ms=5000, wall_ms=6000)
            client.get(f"/campaigns/{campaign.slug}/{page}")
            with django_assert_max_num_queries(60) as captured:
                client.get(f"/campaigns/{campaign.slug}/{page}")
            return len(captured)

        few = count(2)
        assert count(6) <= few + 1  # the second visit may find a job that the first has asked for


class TestUndefinedIsSaid:
    def test_a_forecast_without_a_pace(self):
        campaign = make_campaign(deadline=timezone.now() + timedelta(days=2))
        assert (
            "No judgements yet. Forecast available after two working days and 20 judgements."
            in text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/live"))
        )

    def test_kappa_of_somebody_who_shares_no_pair(self):
        campaign = make_campaign()
        judge(make_annotator(campaign), 2)
        assert "no shared pairs yet" in text_of(
            manager_of(campaign).get(f"/campaigns/{campaign.slug}/people/")
        )

    def test_kappa_where_both_gave_one_and_the_same_grade_only(self):
        campaign = make_campaign(n_topics=1, n_documents=10)
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        for _ in range(10):
            judge(ada, 2)
            judge(bob, 2)
        assert "only one grade on 10 shared pairs" in text_of(
            manager_of(campaign).get(f"/campaigns/{campaign.slug}/people/")
        )

    def test_agreement_of_one_annotator(self):
        campaign = make_campaign()
        judge(make_annotator(campaign), 2)
        client = manager_of(campaign)
        client.get(f"/campaigns/{campaign.slug}/agreement/")
        work(campaign)
        text = text_of(client.get(f"/campaigns/{campaign.slug}/agreement/"))
        assert text.count("undefined") >= 6
        assert "No agreement yet. It appears once two annotators have judged the same pair." in text

    def test_labels_without_two_judgements(self):
        campaign = make_campaign()
        judge(make_annotator(campaign), 2)
        assert "No pair has two judgements yet" in text_of(
            manager_of(campaign).get(f"/campaigns/{campaign.slug}/judgements/")
        )

    def test_the_effect_of_a_method_without_runs_to_rank(self):
        campaign = make_campaign()
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        judge(ada, 2)
        judge(bob, 1)
        client = manager_of(campaign)
        client.get(f"/campaigns/{campaign.slug}/judgements/")
        work(campaign)
        text = text_of(client.get(f"/campaigns/{campaign.slug}/judgements/"))
        assert "A ranking needs at least two runs" in text
        assert "undefined" in text


class TestFiguresOfAJobArriveByThemselves:
    """The page asks for itself until they are there; until then the server says that there is
    nothing new."""

    @pytest.mark.parametrize("page", ["agreement/", "judgements/"])
    def test_without_a_reload(self, page):
        campaign = make_campaign()
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        judge(ada, 2)
        judge(bob, 1)
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/{page}"
        assert 'hx-select="#figures"' in client.get(address).content.decode()
        assert client.get(address, headers={"HX-Request": "true"}).status_code == 204
        work(campaign)
        content = client.get(address, headers={"HX-Request": "true"}).content.decode()
        assert 'id="figures"' in content
        assert 'hx-select="#figures' not in content

    def test_and_their_jobs_do_not_crowd_out_what_people_did_lately(self):
        campaign = make_campaign()
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        judge(ada, 2)
        judge(bob, 1)
        client = manager_of(campaign)
        for page in ("agreement/", "judgements/"):
            client.get(f"/campaigns/{campaign.slug}/{page}")
        work(campaign)
        asked = exclusions.request_exclusion_preview(campaign, ["A001"], user=None)
        found = get_activity(campaign.collection)
        assert [shown.job for shown in found.active] == [asked]
        work(campaign)
        found = get_activity(campaign.collection)
        assert (found.active, [shown.job for shown in found.recent]) == ([], [asked])
        failed = Job.objects.filter(kind="method effect")
        failed.update(state=Job.State.FAILED)
        assert {shown.job for shown in get_activity(campaign.collection).recent} == {
            asked,
            failed.get(),
        }


class TestProgress:
    def test_the_strip_counts_what_is_needed_made_and_complete(self):
        campaign = make_campaign(n_topics=2, n_documents=2, judgements_per_pair=2)
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        judge(ada, 1)
        judge(bob, 1)  # closes the pair that ada began
        judge(ada, 2)
        text = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/live"))
        assert "3 of 8" in text
        page = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/"))
        assert "1 of 4 complete" in page
        assert "One judgement so far 1 " in page

    def test_before_two_days_no_tile_forecasts_the_deadline(self):
        campaign = make_campaign(
            n_topics=2,
            n_documents=2,
            judgements_per_pair=2,
            deadline=timezone.now() + timedelta(days=9),
        )
        ada = make_annotator(campaign)
        for minutes in (30, 20, 10):
            judge(ada, 1, now=timezone.now() - timedelta(minutes=minutes))
        text = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/live"))
        assert "A forecast needs two working days of judgements." in text
        assert "by the deadline" not in text
        assert (
            "3 judgements in the last 24 h (1 per working day needed)" in text
        )  # 5 in five days or more

    def test_of_many_topics_the_least_complete_are_shown_and_before_any_judgement_the_first_in_natural_order(
        self,
    ):
        campaign = make_campaign(n_topics=12, n_documents=1, judgements_per_pair=1)
        topics, _, _, left_out = progress_heat_map(
            campaign, get_snapshot(campaign, fresh=0.0), most=10
        )
        assert (topics, left_out) == ([f"t{n}" for n in range(1, 13)][:10], 2)
        judge(make_annotator(campaign), 1)
        topics, _, _, left_out = progress_heat_map(
            campaign, get_snapshot(campaign, fresh=0.0), most=10
        )
        judged = campaign.pairs.get(counted=1).entry.topic.topic_id
        assert (topics, left_out) == ([f"t{n}" for n in range(1, 13) if f"t{n}" != judged][:10], 2)

    def test_nothing_is_called_more_complete_before_the_first_judgement(self, monkeypatch):
        monkeypatch.setattr(
            progress.selectors,
            "progress_heat_map",
            lambda campaign, live: (["t1"], [1], [[0.0]], 52),
        )
        campaign = make_campaign(n_topics=2, n_documents=1, judgements_per_pair=2)
        client = manager_of(campaign)
        assert "52 more topics are not shown." in " ".join(
            text_of(client.get(f"/campaigns/{campaign.slug}/results/")).split()
        )
        judge(make_annotator(campaign), 1)
        assert "The 52 most complete topics are not shown." in " ".join(
            text_of(client.get(f"/campaigns/{campaign.slug}/")).split()
        )

    def test_why_a_pair_was_served_is_a_sentence(self):
        why = {
            "rule": "highest band, finish started pairs, stay on the topic",
            "turn": 12,
            "priority": -3,
            "band": 1,
            "position": 44,
            "started": True,
            "needed": 3,
            "counted": 1,
            "held_by_others": 1,
            "topic_in_a_row": 4,
            "block_length": 10,
        }
        assert progress.describe_claim_reason(why) == (
            "Highest band, finish started pairs, stay on the topic. Rank window 1. Pair 4 of at most "
            "10 in this topic block. The pair had 1 of 3 judgements. 1 other annotator was judging the pair."
        )
        assert progress.describe_claim_reason(
            {"rule": "gold pair at its turn", "place_in_own_order": 2, "one_in": 20}
        ) == ("Gold pair at its turn. One in 20 pairs is a gold or calibration pair.")
        assert progress.describe_claim_reason({}) == "Not recorded."

    def test_gold_counts_neither_in_the_strip_nor_in_the_line_of_what_was_made(self, monkeypatch):
        campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=2, gold_every=2)
        set_pair_kind(campaign.pairs.first(), "gold", gold_grade=1, explanation="", actor=None)
        campaign.refresh_from_db()
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        for member in (ada, bob):
            for _ in range(3):
                judge(member, 1, now=timezone.now() - timedelta(hours=1))
        drawn = []
        monkeypatch.setattr(
            progress, "line_chart", lambda series, **_: drawn.append(series) or Picture("", "")
        )
        text = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/"))
        assert "4 of 4" in text
        assert drawn[0][0].points[-1][1] == 4

    def test_a_live_lease_says_why_the_pair_was_served(self):
        campaign = make_campaign()
        judge(make_annotator(campaign), 1)
        lease = scheduling.claim_pair(make_annotator(campaign))
        text = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/"))
        assert progress.describe_claim_reason(lease.why) in text
        assert "priority" not in text  # numbers of the scheduler's own stay in the row

    def test_a_stalled_pair_is_listed_after_a_day(self):
        campaign = make_campaign(n_topics=1, n_documents=1)
        judge(make_annotator(campaign), 1)
        client = manager_of(campaign)
        assert "Stalled pairs" not in text_of(client.get(f"/campaigns/{campaign.slug}/"))
        Judgement.objects.update(judged_at=timezone.now() - timedelta(hours=30))
        kept._snapshots.clear()  # the past does not change in earnest
        assert "Stalled pairs" in text_of(client.get(f"/campaigns/{campaign.slug}/"))


class TestOnePerson:
    def act(self, campaign, member, **data):
        return manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/people/{member.pseudonym}/act", data
        )

    def test_a_message_reaches_the_annotator(self):
        campaign = make_campaign()
        ada = make_annotator(campaign)
        self.act(
            campaign,
            ada,
            action="message",
            text="Mind the border between Related and Partly answers.",
        )
        assert Message.objects.get().membership == ada
        setup = client_of(ada.user).get(f"/api/v1/judging/{campaign.slug}/setup").json()
        assert [m["text"] for m in setup["messages"]] == [
            "Mind the border between Related and Partly answers."
        ]

    def test_an_empty_message_is_not_sent(self):
        campaign = make_campaign()
        self.act(campaign, make_annotator(campaign), action="message", text="  ")
        assert not Message.objects.exists()

    def test_a_paused_annotator_is_told_why_and_may_go_on_later(self):
        campaign = make_campaign()
        ada = make_annotator(campaign)
        self.act(campaign, ada, action="pause", text="Please read the guidelines again.")
        setup = client_of(ada.user).get(f"/api/v1/judging/{campaign.slug}/setup").json()
        assert setup["state"] == "paused"
        assert "read the guidelines" in str(setup)
        self.act(campaign, ada, action="resume")
        assert (
            client_of(ada.user).get(f"/api/v1/judging/{campaign.slug}/setup").json()["state"]
            == "judging"
        )

    def test_an_exclusion_is_previewed_done_with_a_reason_and_reversed(self):
        campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=2)
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        for grade in (1, 2):
            judge(ada, grade)
            judge(bob, grade)
        where = self.act(campaign, ada, action="preview").url
        work(campaign)
        client = manager_of(campaign)
        text = text_of(client.get(where))
        assert "2 would no longer count" in text
        assert "Out of 2. These pairs are left with fewer than two judgements" in text
        client.post(where, {"reason": ""})
        ada.refresh_from_db()
        assert ada.status == "active"  # not without a reason
        client.post(where, {"reason": "clicks at random"})
        ada.refresh_from_db()
        assert (ada.status, ada.status_reason) == ("excluded", "clicks at random")
        assert len(read_counted_table(campaign)) == 2
        assert (
            AuditEvent.objects.filter(action="excluded an annotator").get().details["reason"]
            == "clicks at random"
        )
        self.act(campaign, ada, action="include")
        assert len(read_counted_table(campaign)) == 4

    def test_the_preview_of_one_person_excludes_nobody_else(self):
        campaign = make_campaign()
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        where = self.act(campaign, ada, action="preview").url
        other = where.replace(f"/{ada.pseudonym}/", f"/{bob.pseudonym}/")
        assert manager_of(campaign).post(other, {"reason": "x"}).status_code == 404

    def test_annotators_do_none_of_this(self):
        campaign = make_campaign()
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        response = client_of(ada.user).post(
            f"/campaigns/{campaign.slug}/people/{bob.pseudonym}/act",
            {"action": "pause", "text": "x"},
        )
        assert response.status_code == 403

    def test_disagreements_are_shown_side_by_side_the_farthest_first(self):
        campaign = make_campaign(n_topics=1, n_documents=2, judgements_per_pair=2)
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        judge(ada, 1)
        judge(ada, 0)
        judge(bob, 2)
        judge(bob, 3)
        text = text_of(
            manager_of(campaign).get(f"/campaigns/{campaign.slug}/people/{ada.pseudonym}/")
        )
        rows = text.split("The others")[1]
        assert rows.index("Not relevant Fully answers A002") < rows.index(
            "Related Partly answers A002"
        )

    def test_grade_shares_stand_beside_those_of_all_others(self):
        campaign = make_campaign(n_topics=1, n_documents=4, judgements_per_pair=3)
        ada, bob, eve = (make_annotator(campaign) for _ in range(3))
        client, address = (
            manager_of(campaign),
            f"/campaigns/{campaign.slug}/people/{ada.pseudonym}/",
        )
        assert "No judgements yet." in text_of(client.get(address))
        for grade in (0, 0, 0, 3):
            judge(ada, grade)
        assert "Median seconds Not relevant 75% – " in text_of(
            client.get(address)
        )  # nobody else yet
        for member, grades in ((bob, (0, 1, 2, 3)), (eve, (0,))):
            for grade in grades:
                judge(member, grade)
        text = text_of(client.get(address))
        rows = text[text.index("Share among other annotators Median seconds") :]
        shares = re.findall(
            r"(Not relevant|Related|Partly answers|Fully answers) (\d+)% (\d+)%", rows
        )
        assert shares == [
            ("Not relevant", "75", "40"),
            ("Related", "0", "20"),
            ("Partly answers", "0", "20"),
            ("Fully answers", "25", "20"),
        ]


class TestAdjudication:
    def test_a_managers_label_is_marked_and_can_be_withdrawn(self):
        campaign = make_campaign(
            judgements_per_pair=2
        )  # a pair that waits for a third judgement is not disputed yet
        ada, bob = make_annotator(campaign), make_annotator(campaign)
        judge(ada, 0)
        pair = judge(bob, 3).pair
        client = manager_of(campaign)
        assert "Adjudicate 1" in text_of(client.get(f"/campaigns/{campaign.slug}/judgements/"))
        client.post(
            f"/campaigns/{campaign.slug}/pairs/{pair.pk}/",
            {"grade": "2", "reason": "answers a part"},
        )
        pair.refresh_from_db()
        assert (pair.adjudicated_grade, pair.adjudicated_reason) == (2, "answers a part")
        assert "adjudicated" in text_of(client.get(f"/campaigns/{campaign.slug}/judgements/"))
        client.post(f"/campaigns/{campaign.slug}/pairs/{pair.pk}/", {"withdraw": "1"})
        pair.refresh_from_db()
        assert pair.adjudicated_grade is None

    def test_saving_goes_on_to_the_next_disputed_pair_and_undo_comes_back_with_what_was_there(self):
        campaign = judged_campaign(
            {("t1", "d1"): (0, 3), ("t1", "d2"): (0, 2), ("t1", "d3"): (0, 1), ("t1", "d4"): (1, 1)}
        )
        first, second, third, _agreed = (
            f"/campaigns/{campaign.slug}/pairs/{pair.pk}/"
            for pair in campaign.pairs.order_by("position")
        )
        client = manager_of(campaign)
        assert client.post(first, {"grade": "2", "reason": "A part."}).url == second
        page = client.get(second)
        assert "Saved:" in text_of(page)
        assert "Saved:" not in text_of(client.get(second)), "told once"
        assert client.post(first, {"grade": "1"}).url == second
        told = client.get(second).context["saved"]
        assert told["fields"] == {"grade": 2, "reason": "A part.", "undo": "1"}
        assert client.post(first, told["fields"]).url == first
        pair = campaign.pairs.order_by("position").first()
        assert (pair.adjudicated_grade, pair.adjudicated_reason) == (2, "A part.")
        assert client.post(third, {"grade": "0"}).url == second, (
            "the first has a label, so from the start of the queue to the second"
        )
        end = f"/campaigns/{campaign.slug}/judgements/?view=disputed"
        assert client.post(second, {"grade": "0"}).url == end
        assert "Saved:" in text_of(client.get(end))

    def test_each_judgement_is_shown_with_its_passage_and_what_tells_how_far_to_trust_it(self):
        campaign = judged_campaign({("t1", "d1"): (0, 3)})
        pair = campaign.pairs.get()
        text = pair.entry.document.text
        Judgement.objects.filter(pair=pair, grade=3).update(spans=[[0, 8]], note="The first words.")
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/pairs/{pair.pk}/")
        best, worst = page.context["opinions"]
        assert (best.judgement.grade, best.passages) == (3, [text[:8]])
        assert (worst.judgement.grade, worst.passages) == (0, [])
        assert page.context["to_read"]["spans"] == [[0, 8]]
        shown = text_of(page)
        assert "3 grades apart" in shown
        assert "The first words." in shown
        assert "Label now Not relevant tie: lower grade" in shown

    def test_a_pair_of_another_campaign_is_not_found(self):
        pair = make_campaign().pairs.first()
        other = make_campaign()
        assert manager_of(other).get(f"/campaigns/{other.slug}/pairs/{pair.pk}/").status_code == 404


class TestGold:
    def test_a_pair_becomes_gold_with_its_explanation(self):
        campaign = make_campaign()
        pair = campaign.pairs.first()
        client = manager_of(campaign)
        client.post(
            f"/campaigns/{campaign.slug}/gold/",
            {"pair": pair.pk, "kind": "gold", "grade": "3", "explanation": "names the answer"},
        )
        pair.refresh_from_db()
        assert (pair.kind, pair.gold_grade, pair.gold_explanation) == (
            "gold",
            3,
            "names the answer",
        )
        assert (
            "names the answer" in client.get(f"/campaigns/{campaign.slug}/gold/").content.decode()
        )

    def test_ticked_gold_is_removed_or_regraded_at_once(self):
        campaign = make_campaign(n_topics=1, n_documents=4, state="draft")
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/gold/"
        first, second, third, _ordinary = campaign.pairs.order_by("position")
        for pair in (first, second):
            set_pair_kind(pair, "gold", gold_grade=1, explanation="why")
        set_pair_kind(third, "everyone")
        page = client.get(address).content.decode()
        assert (
            "“Not relevant” is the correct grade for all 2 gold questions, so annotators who always choose it would pass."
            in page
        )
        assert f'value="{first.pk}" form="chosen-known"' in page
        client.post(
            address, {"action": "grade-chosen", "known": [first.pk, second.pk], "grade": "3"}
        )
        assert (
            list(campaign.pairs.filter(kind="gold").values_list("gold_grade", "gold_explanation"))
            == [(3, "why")] * 2
        )
        told = client.post(
            address,
            {"action": "grade-chosen", "known": [first.pk, third.pk], "grade": "0"},
            follow=True,
        ).content.decode()
        assert "Calibration pairs have no known grade" in told
        first.refresh_from_db()
        assert first.gold_grade == 3
        told = client.post(
            address,
            {"action": "remove-chosen", "known": [first.pk, second.pk, third.pk]},
            follow=True,
        ).content.decode()
        assert "3 pairs are no longer control pairs." in told
        assert not campaign.pairs.exclude(kind="normal").exists()
        for pair in (first, second):
            set_pair_kind(pair, "gold", gold_grade=1)
        set_pair_kind(third, "everyone")
        client.post(f"{address}?known-kind=gold", {"action": "remove-chosen", "all": "on"})
        assert [p.kind for p in campaign.pairs.exclude(kind="normal")] == ["everyone"], "as listed"
        foreign = make_campaign(n_topics=1, n_documents=1).pairs.get()
        set_pair_kind(foreign, "gold", gold_grade=1)
        client.post(address, {"action": "remove-chosen", "known": [foreign.pk]})
        foreign.refresh_from_db()
        assert foreign.kind == "gold", "of another campaign"

    def test_gold_without_a_grade_is_refused(self):
        campaign = make_campaign()
        pair = campaign.pairs.first()
        response = manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/gold/",
            {"pair": pair.pk, "kind": "gold", "grade": ""},
            follow=True,
        )
        assert "known grade must be on the scale" in text_of(response)
        assert not Pair.objects.filter(kind="gold").exists()

    def test_many_chosen_and_found_pairs_come_page_by_page_and_saving_stays_there(self):
        campaign = make_campaign(n_topics=2, n_documents=15)
        pairs = list(campaign.pairs.order_by("position"))
        Pair.objects.filter(pk__in=[pair.pk for pair in pairs[:25]]).update(kind="everyone")
        client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/gold/"
        first, second = (
            client.get(address, {"known-page": n, "q": "query number"}) for n in (1, 2)
        )
        seen = [pair.pk for response in (first, second) for pair in response.context["known"]]
        assert seen == [pair.pk for pair in pairs[:20]]
        assert [len(response.context["known"]) for response in (first, second)] == [10, 10]
        assert "1 to 10 of 25, page 1 of 3" in text_of(first)
        assert "1 to 10 of 30, page 1 of 3" in text_of(first)
        assert 'href="?q=query+number&amp;known-page=2#known"' in first.content.decode()
        assert (
            'href="?known-page=1&amp;q=query+number&amp;found-page=2#search"'
            in first.content.decode()
        )
        response = client.post(f"{address}?known-page=2", {"pair": pairs[24].pk, "kind": "normal"})
        assert response.url == f"{address}?known-page=2"

    def test_unanimous_pairs_are_proposed(self):
        campaign = make_campaign(n_topics=1, n_documents=1)
        for _ in range(3):
            judge(make_annotator(campaign), 2)
        proposals = (
            manager_of(campaign).get(f"/campaigns/{campaign.slug}/gold/").context["proposals"]
        )
        assert [pair.proposed for pair in proposals] == [2]


def test_details_of_the_audit_trail_are_words_not_dictionaries():
    assert (
        trail._format_detail({"min_active_seconds": [1.0, 2.0], "spans": ["off", "required"]})
        == "min active seconds: 1.0 → 2.0; spans: off → required"
    )
    assert (
        trail._format_detail(
            [{"value": 2, "name": "Partly answers"}, {"value": 3, "name": "Fully answers"}]
        )
        == "2 Partly answers, 3 Fully answers"
    )
    assert (trail._format_detail(True), trail._format_detail(False)) == ("yes", "no")


def test_the_audit_trail_is_searched_by_person_and_by_details():
    campaign = make_campaign()
    ada = make_user("ada")
    AuditEvent.objects.create(
        campaign=campaign,
        actor=ada,
        action="changed settings",
        subject="x",
        details={"deadline": ["", "in spring"]},
    )
    AuditEvent.objects.create(
        campaign=campaign,
        actor=None,
        action="closed",
        subject="y",
        details={"closed_at": "2026-03-02T10:05:00.123456+00:00"},
    )
    client = manager_of(campaign)
    assert "closed at: 2 Mar 2026, 10:05" in text_of(
        client.get(f"/campaigns/{campaign.slug}/audit/")
    )

    def subjects(query: str) -> set[str]:
        page = client.get(f"/campaigns/{campaign.slug}/audit/{query}").context["page"]
        return {event.subject for event in page} & {"x", "y"}

    assert subjects("") == {"x", "y"}
    assert subjects("?q=ada") == {"x"}
    assert subjects("?q=Spring") == {"x"}
    assert subjects("?action=closed") == {"y"}
    assert "No changes match." in text_of(
        client.get(f"/campaigns/{campaign.slug}/audit/?q=nothing+of+it")
    )


def test_who_is_excluded_keeps_kappa_times_and_shares_of_what_was_judged_until_then():
    """The reason for the exclusion was gone with it."""
    campaign = make_campaign(n_topics=2, n_documents=8, judgements_per_pair=2, min_active_seconds=0)
    ada, bob = make_annotator(campaign), make_annotator(campaign)
    for number in range(16):
        judge(ada, number % 4)
        judge(bob, 3 - number % 4)
    before = {person.membership.pk: person for person in list_annotators(campaign)}[bob.pk]
    exclusion.exclude_annotator(bob, reason="the scale the wrong way round", actor=None)
    kept._snapshots.clear()
    after = {person.membership.pk: person for person in list_annotators(campaign)}[bob.pk]
    assert (before.n, after.n, after.n_kept) == (16, 0, 16)
    assert before.kappa is not None
    assert after.kappa == pytest.approx(before.kappa)
    assert after.median == before.median
    assert after.shares == [0.25] * 4


def test_feedback_is_summarised_with_its_n():
    campaign = make_campaign()
    for score, text in (("VERY_GOOD", "clear"), ("GOOD", ""), ("GOOD", "")):
        Feedback.objects.create(membership=make_annotator(campaign), score=score, text=text)
    text = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/feedback/"))
    assert "(n = 3)" in text
    assert "clear" in text
    assert "66.667" in text


def test_counts_that_differ_say_why():
    """Of 3 pairs: gold judged twice, one judged twice, and a qualification pair whose known grade
    is a label without a judgement."""
    campaign = make_campaign(n_topics=1, n_documents=3, judgements_per_pair=2)
    gold, ordinary, known = campaign.pairs.order_by("position")
    set_pair_kind(gold, "gold", gold_grade=2)
    set_pair_kind(known, "qualification", gold_grade=3)
    for ada in (make_annotator(campaign), make_annotator(campaign)):
        judge(ada, 2)
        judge(ada, 2)
    client = manager_of(campaign)
    progress = text_of(client.get(f"/campaigns/{campaign.slug}/"))
    assert "2 of 2" in progress
    assert "Judgements of control pairs 2" in progress
    submission.adjudicate_pair(ordinary, 1, reason="", actor=campaign.created_by)
    labels = text_of(client.get(f"/campaigns/{campaign.slug}/judgements/"))
    assert "3 pairs have a label, by majority vote" in labels
    assert "1 of them was decided by a manager." in labels
    assert "1 of them is the known grade of a qualification pair." in labels


def test_agreement_of_a_campaign_without_judgements_shows_no_boxes_that_wait():
    campaign = make_campaign()
    page = text_of(manager_of(campaign).get(f"/campaigns/{campaign.slug}/agreement/"))
    assert "Agreement appears here when two annotators have judged the same pair." in page
    for nothing in ("Calculating", "By annotator", "Judging time", "Overlap", "All coefficients"):
        assert nothing not in page


def test_text_of_annotators_and_documents_cannot_run():
    campaign = make_campaign()
    Feedback.objects.create(
        membership=make_annotator(campaign), score="GOOD", text="<script>alert(1)</script>"
    )
    assert (
        "<script>alert"
        not in manager_of(campaign).get(f"/campaigns/{campaign.slug}/feedback/").content.decode()
    )


class TestBadAnnotatorsAreSeen:
    """A campaign with a random clicker, a speeder, a contrarian and a Related/Partly answers confuser among
    eight good annotators."""

    @pytest.fixture
    def campaign(self) -> Campaign:
        campaign, self.names = campaign_with_bad_annotators()
        return campaign

    @pytest.mark.long
    def test_each_is_flagged_and_excluding_two_of_them_raises_alpha(self, campaign):
        client = manager_of(campaign)
        people = client.get(f"/campaigns/{campaign.slug}/people/").context["people"]
        raised = {
            person.membership.pseudonym: {flag.name for flag in person.flags} for person in people
        }
        assert "agreement may be chance" in raised[self.names["random"]]
        assert "fast" in raised[self.names["speeder"]]
        assert "against the others" in raised[self.names["contrarian"]]
        assert "confuses Related and Partly answers" in raised[self.names["confuser"]]
        good = [flags for name, flags in raised.items() if name not in self.names.values()]
        assert good == [set()] * 8
        first = get_to_do_list(campaign.created_by)[0][:3]
        assert [item.kind for item in first] == [ToDoKind.RANDOM_LIKE_FLAGS] * 3
        assert {item.actions[0].about for item in first} == {
            self.names[kind] for kind in ("random", "speeder", "contrarian")
        }
        before = krippendorff_alpha(read_counted_table(campaign).counts, level="ordinal")
        for kind in ("random", "speeder"):
            member = Membership.objects.get(campaign=campaign, pseudonym=self.names[kind])
            where = client.post(
                f"/campaigns/{campaign.slug}/people/{member.pseudonym}/act", {"action": "preview"}
            ).url
            work(campaign)
            client.post(where, {"reason": f"{kind}"})
        after = krippendorff_alpha(read_counted_table(campaign).counts, level="ordinal")
        assert after > before + 0.05


def test_the_people_of_a_large_campaign_are_a_page_of_bounded_weight():
    campaign = make_campaign(n_topics=2, n_documents=3)
    client = manager_of(campaign)
    users = User.objects.bulk_create(
        User(username=f"annotator{i}", email=f"annotator{i}@example.org") for i in range(250)
    )
    Membership.objects.bulk_create(
        Membership(
            campaign=campaign, user=user, role="annotator", pseudonym=f"A{i + 1:03}", n_judged=i
        )
        for i, user in enumerate(users)
    )
    page = client.get(f"/campaigns/{campaign.slug}/people/")
    assert page.status_code == 200
    assert len(page.content) < 300_000, len(page.content)
