"""What viewers and who has a link read of a campaign, and that it is all they can do."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from analysis.dashboard import agreement_metrics
from analysis.judgements.live import expire_caches
from analysis.models import Report
from annotation.models import AuditEvent, Campaign, Invitation, Membership, ResultsLink
from annotation.services.people import accounts, attempts
from annotation.services.people.results_links import MAX_LINKS, create_results_link
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.systems.builders import small_campaign, small_collection
from tests.analysis.systems.test_answers import computed
from tests.builders import judge, make_annotator, make_campaign, make_user

pytestmark = pytest.mark.django_db
PARTS = ("progress", "agreement", "labels", "systems")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def manager_of(campaign: Campaign) -> User:
    return campaign.memberships.get(role="manager").user


def viewer_of(campaign: Campaign) -> Client:
    return client_of(
        accounts.add_member(campaign=campaign, user=make_user(), role=Membership.Role.VIEWER).user
    )


@pytest.fixture
def judged() -> Campaign:
    """Two annotators with names that stand nowhere else judge the same six pairs, and agree on all
    but one."""
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=2, name="Spring")
    for name, grades in (
        ("zwillingsschwester", [2, 2, 0, 0, 1, 1]),
        ("doppelgaenger", [2, 2, 0, 0, 1, 3]),
    ):
        annotator = make_annotator(campaign, name, pseudonym=f"Pseudo-{name}")
        for grade in grades:
            judge(annotator, grade)
    return campaign


def compute_agreement(campaign: Campaign) -> None:
    job = agreement_metrics.request_agreement_job(campaign)
    assert job is not None
    jobs.run_job(job.pk)


def pages_of(client: Client, before: str) -> dict[str, str]:
    answers = {part: client.get(f"{before}{part}/") for part in PARTS}
    assert {part: answer.status_code for part, answer in answers.items()} == dict.fromkeys(
        PARTS, 200
    )
    return {part: answer.content.decode() for part, answer in answers.items()}


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_a_viewer_and_a_link_show_the_same_figures_and_name_nobody(judged):
    compute_agreement(judged)
    token = create_results_link(judged, name="steering group", days=7, actor=None)
    viewer, anybody = viewer_of(judged), Client()
    by_account = pages_of(viewer, f"/campaigns/{judged.slug}/results/")
    by_link = pages_of(anybody, f"/results/{token}/")
    for pages in (by_account, by_link):
        assert "12 of 12" in words(pages["progress"])
        assert "Krippendorff's alpha" in words(pages["agreement"]).replace("&#x27;", "'")
        assert "6 pairs have a label, by majority vote" in words(pages["labels"])
        assert "There are fewer than two runs to compare." in words(pages["systems"])
        assert "No reports yet." in words(pages["systems"])
        whole = "".join(pages.values())
        names = [
            name
            for member in judged.memberships.exclude(role="viewer").select_related("user")
            for name in (member.pseudonym, member.user.username)
        ]
        assert len(names) == 6
        assert [name for name in names if re.search(rf"\b{re.escape(name)}\b", words(whole))] == []
        own = (
            '<form method="post" action="/sign-out">',
            '<form method="post" action="/language">',
        )  # of the account, not of the campaign
        assert whole.count('method="post"') == sum(whole.count(form) for form in own)
    assert "hx-get" not in "".join(by_link.values())


def test_looking_at_results_starts_no_job(judged):
    token = create_results_link(judged, name="x", days=7, actor=None)
    before = Job.objects.count()
    pages = pages_of(viewer_of(judged), f"/campaigns/{judged.slug}/results/")
    pages_of(Client(), f"/results/{token}/")
    assert Job.objects.count() == before
    assert "Not computed yet" in pages["agreement"]
    assert "Not available yet" in words(pages["progress"])


def test_a_campaign_that_is_not_open_has_no_results():
    campaign = make_campaign(state="draft")
    assert (
        "No results yet"
        in viewer_of(campaign).get(f"/campaigns/{campaign.slug}/results/").content.decode()
    )


def test_there_is_no_other_part(judged):
    assert viewer_of(judged).get(f"/campaigns/{judged.slug}/results/people/").status_code == 404


def pictures_of(page: str) -> list[str]:
    """Without the numbers by which a picture and its title are tied together."""
    return [
        re.sub(r'"p\d+t( p\d+d)?"|"p\d+d"', "", picture)
        for picture in re.findall(r'<div class="picture.*?</div>', page, re.DOTALL)
    ]


class TestTheAnswerOfSystems:
    """Which system leads, as managers see it, from what was computed last."""

    @pytest.fixture
    def compared(self, settings, tmp_path) -> Campaign:
        settings.MEDIA_ROOT = tmp_path
        return small_campaign(small_collection())

    def test_readers_see_what_managers_see_and_nobody_is_named(self, compared):
        answer = computed(compared)
        token = create_results_link(compared, name="steering group", days=7, actor=None)
        manager = (
            client_of(manager_of(compared))
            .get(f"/campaigns/{compared.slug}/systems/")
            .content.decode()
        )
        by_account = (
            viewer_of(compared).get(f"/campaigns/{compared.slug}/results/systems/").content.decode()
        )
        by_link = Client().get(f"/results/{token}/systems/").content.decode()
        assert answer["words"].startswith(f"{answer['systems'][0]['tag']} leads by nDCG@10")
        for page in (manager, by_account, by_link):
            assert answer["words"] in unescape(words(page))
            assert page.count('class="picture"') == 3
            assert "Significant differences" in page
            assert "Mean nDCG@10 by run" in page
        for page in (by_account, by_link):
            assert pictures_of(page) == pictures_of(manager) != []
            names = [
                n
                for m in compared.memberships.exclude(role="viewer").select_related("user")
                for n in (m.pseudonym, m.user.username)
            ]
            assert len(names) == 6
            assert [
                name for name in names if re.search(rf"\b{re.escape(name)}\b", words(page))
            ] == []
            assert "hx-get" not in page
            assert 'name="measure"' not in page

    def test_other_measures_are_those_with_an_answer_and_no_job_is_started(self, compared):
        computed(compared, "AP")
        before = Job.objects.count()
        token = create_results_link(compared, name="x", days=7, actor=None)
        page = Client().get(f"/results/{token}/systems/").content.decode()
        assert " leads by AP " in words(page)
        assert re.findall(r'href="\?measure=([^"]+)"', page) == ["AP"]
        for asked in ("nDCG@10", "P@3", "<b>"):
            assert " leads by AP " in words(
                Client().get(f"/results/{token}/systems/", {"measure": asked}).content.decode()
            )
        computed(compared)
        page = Client().get(f"/results/{token}/systems/").content.decode()
        assert " leads by nDCG@10 " in words(page)
        assert re.findall(r'href="\?measure=([^"]+)"', page) == ["nDCG%4010", "AP"]
        assert " leads by AP " in words(
            Client().get(f"/results/{token}/systems/?measure=AP").content.decode()
        )
        assert Job.objects.count() == before + 1, "the one of this test"

    def test_before_the_first_answer_it_is_said_who_asks_for_it(self, compared):
        before = Job.objects.count()
        page = words(
            viewer_of(compared).get(f"/campaigns/{compared.slug}/results/systems/").content.decode()
        )
        assert (
            "Not computed yet. The answer appears after a manager has opened the campaign's Results page."
            in page
        )
        assert Job.objects.count() == before

    def test_an_answer_of_fewer_judgements_says_so(self, compared):
        computed(compared)
        annotator = make_annotator(compared)
        judge(annotator, 1)
        expire_caches()
        page = words(
            viewer_of(compared).get(f"/campaigns/{compared.slug}/results/systems/").content.decode()
        )
        assert "Newer judgements exist." in page
        assert "being computed" not in page


class TestLinks:
    @pytest.fixture
    def token(self, judged) -> str:
        return create_results_link(judged, name="steering group", days=7, actor=manager_of(judged))

    def test_only_a_digest_is_kept(self, judged, token):
        link = judged.results_links.get()
        assert link.digest == hashlib.sha256(token.encode()).hexdigest()
        assert token not in str(vars(link))
        assert token not in str(list(AuditEvent.objects.values()))
        assert len(token) >= 43  # 256 bits in base64

    def test_its_pages_are_not_kept_not_told_of_and_not_found_by_search_engines(self, token):
        for address in (f"/results/{token}/", "/results/wrong/"):
            answer = Client().get(address)
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
            assert "no-store" in answer.headers["Cache-Control"]

    def test_a_wrong_an_ended_and_a_withdrawn_link_open_nothing(self, token):
        answer = Client().get(f"/results/{token[:-1]}/")
        assert (answer.status_code, "Spring" in answer.content.decode()) == (410, False)
        ResultsLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert Client().get(f"/results/{token}/").status_code == 410
        ResultsLink.objects.update(expires_at=timezone.now() + timedelta(days=1))
        assert Client().get(f"/results/{token}/").status_code == 200
        ResultsLink.objects.update(revoked_at=timezone.now())
        assert Client().get(f"/results/{token}/agreement/").status_code == 410

    def test_nothing_can_be_sent_to_it(self, token):
        for part in ("", "agreement/", "reports/1/"):
            assert Client().post(f"/results/{token}/{part}").status_code == 405

    def test_reports_of_other_campaigns_and_unfinished_ones_are_not_there(self, judged, token):
        other = make_campaign()
        rows = {"kind": "evaluate", "title": "Scores", "result": {}}
        foreign = Report.objects.create(
            collection=other.collection, campaign=other, finished_at=timezone.now(), **rows
        )
        waiting = Report.objects.create(collection=judged.collection, campaign=judged, **rows)
        of_collection = Report.objects.create(
            collection=judged.collection, finished_at=timezone.now(), **rows
        )
        for report in (foreign, waiting, of_collection):
            assert Client().get(f"/results/{token}/reports/{report.pk}/").status_code == 404
            assert (
                viewer_of(judged)
                .get(f"/campaigns/{judged.slug}/results/reports/{report.pk}/")
                .status_code
                == 404
            )

    def test_an_address_may_open_so_many_pages_and_others_go_on(self, judged, token, monkeypatch):
        monkeypatch.setattr(attempts, "MOST_LOOKS", 2)
        second = create_results_link(judged, name="another", days=7, actor=None)
        assert [Client().get(f"/results/{token}/systems/").status_code for _ in range(3)] == [
            200,
            200,
            429,
        ]
        assert int(Client().get(f"/results/{token}/systems/").headers["Retry-After"]) == 300
        assert Client(REMOTE_ADDR="192.0.2.7").get(f"/results/{token}/systems/").status_code == 200
        assert Client().get(f"/results/{second}/systems/").status_code == 200

    def test_its_last_use_is_noted(self, judged, token):
        assert judged.results_links.get().last_used_at is None
        Client().get(f"/results/{token}/systems/")
        assert judged.results_links.get().last_used_at is not None


class TestThePageOfTheManager:
    def test_a_link_is_made_shown_once_and_withdrawn(self, judged):
        manager = client_of(manager_of(judged))
        address = f"/campaigns/{judged.slug}/readers/"
        made = manager.post(
            address, {"action": "link", "name": "steering group", "days": "30"}
        ).content.decode()
        (link,) = re.findall(r"http://testserver(/results/[\w-]+/)", made)
        assert link not in manager.get(address).content.decode()
        row = judged.results_links.get()
        assert abs(row.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
        assert Client().get(link).status_code == 200
        assert manager.post(address, {"action": "revoke", "link": row.pk}).status_code == 302
        assert Client().get(link).status_code == 410
        said = list(
            AuditEvent.objects.filter(campaign=judged)
            .order_by("pk")
            .values_list("action", flat=True)
        )
        assert said[-2:] == ["created a results link", "revoked a results link"]

    def test_a_link_of_another_campaign_is_not_withdrawn(self, judged):
        create_results_link(judged, name="x", days=7, actor=None)
        other = make_campaign()
        answer = client_of(manager_of(other)).post(
            f"/campaigns/{other.slug}/readers/",
            {"action": "revoke", "link": judged.results_links.get().pk},
        )
        assert answer.status_code == 404
        assert judged.results_links.get().revoked_at is None

    def test_there_are_so_many_links_and_no_more(self, judged):
        for number in range(MAX_LINKS):
            create_results_link(judged, name=str(number), days=7, actor=None)
        answer = client_of(manager_of(judged)).post(
            f"/campaigns/{judged.slug}/readers/", {"action": "link", "name": "x", "days": "7"}
        )
        assert answer.status_code == 400
        assert f"the maximum of {MAX_LINKS} results links" in answer.content.decode()

    def test_an_invited_viewer_comes_to_the_results_and_goes_when_removed(self, judged):
        manager = client_of(manager_of(judged))
        manager.post(
            f"/campaigns/{judged.slug}/settings/people/", {"action": "link", "role": "viewer"}
        )
        invitation = Invitation.objects.get(campaign=judged)
        person = make_user("guest")
        guest = client_of(person)
        assert "a viewer" in words(guest.get(f"/join/{invitation.token}").content.decode())
        answer = guest.post(f"/join/{invitation.token}")
        assert (answer.status_code, answer.url) == (302, f"/campaigns/{judged.slug}/results/")
        assert guest.get(answer.url).status_code == 200
        assert f'href="{answer.url}"' in guest.get("/").content.decode()
        membership = judged.memberships.get(user=person)
        assert (membership.role, membership.pseudonym) == ("viewer", "V01")
        assert "guest" in manager.get(f"/campaigns/{judged.slug}/readers/").content.decode()
        assert (
            manager.post(
                f"/campaigns/{judged.slug}/readers/", {"action": "remove", "viewer": membership.pk}
            ).status_code
            == 302
        )
        assert guest.get(answer.url).status_code == 404

    def test_annotators_and_managers_are_not_removed_here(self, judged):
        for member in judged.memberships.all():
            answer = client_of(manager_of(judged)).post(
                f"/campaigns/{judged.slug}/readers/", {"action": "remove", "viewer": member.pk}
            )
            assert answer.status_code == 404
        assert judged.memberships.count() == 3
