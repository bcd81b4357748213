"""The step-by-step campaign pages: who may, what each step saves, what it refuses."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import AuditEvent, Campaign, Invitation
from annotation.services.campaigns import lifecycle
from tests.builders import make_annotator, make_campaign, make_collection, make_pool, make_user

pytestmark = pytest.mark.django_db
STEPS = ["files", "pool", "rules", "scale", "guidelines", "people", "open"]


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def manager_of(campaign) -> Client:
    return client_of(campaign.memberships.get(role="manager").user)


def scale_data(*names: str) -> dict[str, str]:
    data = {
        "form-TOTAL_FORMS": "9",
        "form-INITIAL_FORMS": "0",
        "form-MIN_NUM_FORMS": "9",
        "form-MAX_NUM_FORMS": "9",
    }
    for i in range(9):
        data |= {
            f"form-{i}-name": names[i] if i < len(names) else "",
            f"form-{i}-shape": "disc",
            f"form-{i}-explanation": "",
            f"form-{i}-example": "",
        }
    return data


def rules_data(campaign, **changes) -> dict[str, str]:
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/settings/rules/")
    form = page.context["form"]
    data = {name: form[name].value() for name in form.fields}
    data = {
        k: "on" if v is True else v for k, v in data.items() if v is not None and v is not False
    }
    return data | changes


def test_every_sign_that_the_page_offers_can_be_kept_and_nine_grades_have_one_each():
    campaign = make_campaign(state="draft")
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/settings/scale/"
    offered = [
        value for value, _ in client.get(address).context["forms"].forms[0].fields["shape"].choices
    ]
    names = scale_data(*"abcdefghi")
    for chosen in (offered, [""] * 9):
        assert (
            client.post(
                address, names | {f"form-{i}-shape": shape for i, shape in enumerate(chosen)}
            ).status_code
            == 302
        )
        campaign.refresh_from_db()
        assert len({grade["shape"] for grade in campaign.scale}) == len(campaign.scale) == 9


@pytest.mark.parametrize("step", STEPS)
class TestWhoMay:
    def test_the_anonymous_are_sent_to_sign_in(self, client, step):
        address = f"/campaigns/{make_campaign(state='draft').slug}/settings/{step}/"
        assert client.get(address).url == f"/sign-in?next={address}"

    def test_strangers_find_nothing(self, step):
        assert (
            client_of(make_user())
            .get(f"/campaigns/{make_campaign(state='draft').slug}/settings/{step}/")
            .status_code
            == 404
        )

    def test_annotators_are_refused(self, step):
        campaign = make_campaign()
        assert (
            client_of(make_annotator(campaign).user)
            .get(f"/campaigns/{campaign.slug}/settings/{step}/")
            .status_code
            == 403
        )

    def test_the_manager_of_another_campaign_finds_nothing(self, step):
        assert (
            manager_of(make_campaign())
            .get(f"/campaigns/{make_campaign().slug}/settings/{step}/")
            .status_code
            == 404
        )

    @pytest.mark.parametrize("state", ["draft", "open", "paused", "closed"])
    def test_its_manager_and_a_superuser_see_it_in_every_state(self, step, state):
        campaign = make_campaign(state=state, guideline="# Hello")
        for client in (manager_of(campaign), client_of(make_user(superuser=True))):
            answer = client.get(f"/campaigns/{campaign.slug}/settings/{step}/", follow=True)
            assert answer.status_code == 200


class TestMaking:
    def test_only_who_may_create_makes_a_campaign(self):
        assert client_of(make_user()).get("/campaigns/new").status_code == 403

    def test_only_in_a_collection_of_ones_own(self):
        user, other = make_user(may_create=True), make_collection(manager=make_user())
        response = client_of(user).post("/campaigns/new", {"name": "Mine", "collection": other.pk})
        assert response.status_code == 400
        assert not Campaign.objects.exists()

    def test_from_nothing_to_open_in_seven_steps(self):
        user = make_user(may_create=True)
        collection = make_collection(manager=user)
        pool = make_pool(collection)
        client = client_of(user)
        first = client.post("/campaigns/new", {"name": "Health 2026", "collection": collection.pk})
        assert first.url == "/campaigns/health-2026/settings/files/"
        base = "/campaigns/health-2026"
        campaign = Campaign.objects.get()
        assert (
            client.post(f"{base}/settings/pool/", {"pool": pool.pk, "onward": "1"}).url
            == f"{base}/settings/rules/"
        )
        assert (
            client.post(
                f"{base}/settings/rules/", rules_data(campaign, judgements_per_pair="2", onward="1")
            ).url
            == f"{base}/settings/scale/"
        )
        assert (
            client.post(
                f"{base}/settings/scale/", scale_data("No", "Some", "Yes") | {"onward": "1"}
            ).url
            == f"{base}/settings/guidelines/"
        )
        answer = client.post(
            f"{base}/settings/guidelines/",
            {"text": "# Read", "note": "", "consent_text": "I agree", "onward": "1"},
        )
        assert answer.url == f"{base}/settings/people/"
        assert (
            client.post(
                f"{base}/settings/people/", {"action": "link", "role": "annotator"}
            ).status_code
            == 302
        )
        assert client.post(f"{base}/state", {"action": "open"}).status_code == 302
        campaign.refresh_from_db()
        assert campaign.state == "open"
        assert [grade["name"] for grade in campaign.scale] == ["No", "Some", "Yes"]
        assert campaign.pairs.count() == 10
        assert set(campaign.pairs.values_list("needed", flat=True)) == {2}
        assert campaign.guidelines.get().text == "# Read"
        assert Invitation.objects.get().code

    def test_without_a_pool_it_does_not_open_and_says_so(self):
        user = make_user(may_create=True)
        collection = make_collection(manager=user)
        client = client_of(user)
        client.post("/campaigns/new", {"name": "Empty", "collection": collection.pk})
        response = client.post("/campaigns/empty/state", {"action": "open"}, follow=True)
        assert "Choose a pool first" in response.content.decode()
        assert Campaign.objects.get().state == "draft"


class TestChanging:
    @pytest.mark.parametrize(
        ("names", "word"),
        [(("Only",), "2 to 9"), (("Same", "same"), "same name"), (("A", "", "C"), "without gaps")],
    )
    def test_a_scale_that_is_none_is_refused(self, names, word):
        campaign = make_campaign(state="draft")
        response = manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/settings/scale/", scale_data(*names)
        )
        assert response.status_code == 400
        assert word in response.content.decode()

    def test_a_deadline_is_read_in_ones_own_time_zone(self):
        campaign = make_campaign(state="draft")
        client = manager_of(campaign)
        session = client.session
        session["time_zone"] = "Asia/Tokyo"
        session.save()
        data = rules_data(campaign, deadline="2031-05-01T18:00")
        assert client.post(f"/campaigns/{campaign.slug}/settings/rules/", data).status_code == 302
        campaign.refresh_from_db()
        assert campaign.deadline == timezone.datetime(
            2031, 5, 1, 9, tzinfo=timezone.get_fixed_timezone(0)
        )

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            *[
                ("judgements_per_pair", "0"),
                ("lease_window", "99"),
                ("qualification_pass", "7"),
                ("min_common", "5"),
            ],
            *[
                ("lease_minutes", "40000"),
                ("target_per_annotator", "9" * 18),
                ("expected_seconds", "1e300"),
                ("idle_seconds", "9" * 30),
            ],
            *[
                ("deadline", "2020-01-01T12:00"),
                ("deadline", "0026-01-01T12:00"),
                ("deadline", "9999-12-31T23:59"),
            ],
        ],
    )
    def test_rules_without_sense_are_refused(self, field, value):
        campaign = make_campaign(state="draft")
        response = manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/settings/rules/", rules_data(campaign, **{field: value})
        )
        assert response.status_code == 400

    def test_eight_settings_come_first_and_the_others_are_folded(self):
        campaign = make_campaign(state="draft", block_length=25)
        address = f"/campaigns/{campaign.slug}/settings/rules/"
        form = manager_of(campaign).get(address).context["form"]
        assert [field.name for field in form.usual_fields()] == [
            *("name", "deadline", "judgements_per_pair", "target_per_annotator"),
            *("min_relevant", "spans", "gold_every", "qualification_pass"),
        ]
        groups = {group.title: group for group in form.advanced_groups()}
        shown = [field.name for group in groups.values() for field in group.fields]
        assert sorted([*form.usual, *shown]) == sorted(form.fields), "each setting once"
        assert groups["Assignment"].changed == ["Topic block (pairs)"]
        assert groups["Reading"].changed == []
        assert not any(group.has_errors for group in groups.values())
        sent = rules_data(campaign, lease_minutes="0")
        refused = manager_of(campaign).post(address, sent).context["form"]
        assert [group.title for group in refused.advanced_groups() if group.has_errors] == [
            "Assignment"
        ]

    def test_the_minimum_relevant_grade_is_chosen_by_its_name(self):
        campaign = make_campaign(state="draft")
        page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/settings/rules/")
        field = page.context["form"]["min_relevant"]
        assert [name for _, name in field.field.widget.choices] == [
            "Related",
            "Partly answers",
            "Fully answers",
        ]
        assert '<option value="2" selected>Partly answers</option>' in str(field)

    def test_settings_of_a_running_campaign_open_with_the_general_ones(self):
        campaign = make_campaign(state="open")
        answer = manager_of(campaign).get(f"/campaigns/{campaign.slug}/settings/")
        assert answer.url == f"/campaigns/{campaign.slug}/settings/rules/"

    def test_every_page_leads_to_closing_duplicating_and_deleting(self):
        campaign = make_campaign(state="open")
        client, rare = manager_of(campaign), f"/campaigns/{campaign.slug}/settings/open/"
        page = client.get(f"/campaigns/{campaign.slug}/").content.decode()
        assert all(f'href="{rare}#{part}"' in page for part in ("state", "others"))
        shown = client.get(rare).content.decode()
        assert "To delete the campaign, close it first." in shown
        assert 'id="state"' in shown
        assert 'id="others"' in shown

    def test_a_past_deadline_does_not_block_saving_other_rules(self):
        over = timezone.now() - timedelta(days=3, seconds=17)
        campaign = lifecycle.update_campaign(
            make_campaign(state="closed"), actor=None, deadline=over
        )
        sent = rules_data(
            campaign, description="Done.", deadline=f"{over:%Y-%m-%dT%H:%M}"
        )  # as browsers send it
        response = manager_of(campaign).post(f"/campaigns/{campaign.slug}/settings/rules/", sent)
        assert response.status_code == 302
        campaign.refresh_from_db()
        assert (campaign.description, campaign.deadline) == ("Done.", over)

    def test_what_a_browser_sends_back_unchanged_is_no_change(self):
        campaign = make_campaign(
            guideline="# Read\n\nAll of it.\n",
            description="Two\nlines",
            consent_text="I agree\nto all.\n",
        )
        client, base = manager_of(campaign), f"/campaigns/{campaign.slug}/settings"
        events = AuditEvent.objects.filter(campaign=campaign).count()
        sent = {
            "text": "# Read\r\n\r\nAll of it.\r\n",
            "note": "",
            "consent_text": "I agree\r\nto all.\r\n",
        }
        assert client.post(f"{base}/guidelines/", sent).status_code == 302
        assert (
            client.post(
                f"{base}/rules/", rules_data(campaign, description="Two\r\nlines")
            ).status_code
            == 302
        )
        assert campaign.guidelines.count() == 1
        assert AuditEvent.objects.filter(campaign=campaign).count() == events
        client.post(f"{base}/guidelines/", {**sent, "text": "# Read\r\n\r\nNearly all of it.\r\n"})
        assert campaign.guidelines.last().text == "# Read\n\nNearly all of it.\n"
        assert client.post(f"{base}/guidelines/", {**sent, "text": " \r\n"}).status_code == 400

    def test_an_invitation_that_nobody_could_use_is_not_made(self):
        campaign = make_campaign(state="draft")
        sent = {"action": "link", "role": "annotator", "expires_at": "2020-01-01T12:00"}
        response = manager_of(campaign).post(f"/campaigns/{campaign.slug}/settings/people/", sent)
        assert response.status_code == 400
        assert "Choose a date in the future" in response.content.decode()
        assert not Invitation.objects.exists()

    def test_settings_leave_a_trail(self):
        campaign = make_campaign(state="draft")
        manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/settings/rules/",
            rules_data(campaign, min_active_seconds="2"),
        )
        event = AuditEvent.objects.filter(campaign=campaign, action="changed settings").get()
        assert event.details["changes"] == {"min_active_seconds": [1.0, 2.0]}

    def test_script_in_guidelines_is_shown_not_run(self):
        campaign = make_campaign(state="draft")
        client = manager_of(campaign)
        text = "<script>alert(1)</script> [x](javascript:alert(1)) ![p](https://example.org/p.png)"
        response = client.post(
            f"/campaigns/{campaign.slug}/settings/guidelines/", {"text": text, "preview": "1"}
        )
        prose = response.content.decode().split('class="prose">')[1].split("</div>")[0]
        assert "<script" not in prose
        assert "javascript:" not in prose.replace("[x](javascript:alert(1))", "")
        assert "<img" not in prose

    def test_names_with_mistakes_invite_nobody(self):
        campaign = make_campaign(state="draft")
        response = manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/settings/people/",
            {"action": "names", "names": "name,email\nAda,ada@example.org\nBob,nonsense\n"},
        )
        assert response.status_code == 400
        assert "names:3:" in response.content.decode()
        assert not Invitation.objects.exists()

    def test_links_are_exported_without_formulas(self):
        campaign = make_campaign(state="draft")
        client = manager_of(campaign)
        client.post(
            f"/campaigns/{campaign.slug}/settings/people/",
            {"action": "names", "names": "=cmd()\nAda"},
        )
        lines = (
            client.get(f"/campaigns/{campaign.slug}/invitations.csv").content.decode().splitlines()
        )
        assert lines[0] == "name,email,link,code,used"
        assert lines[1].startswith("'=cmd()")

    @pytest.mark.parametrize(
        ("start", "action", "after"),
        [
            ("open", "pause", "paused"),
            ("paused", "resume", "open"),
            ("open", "close", "closed"),
            ("closed", "open", "open"),
        ],
    )
    def test_states_change_by_their_buttons(self, start, action, after):
        campaign = make_campaign(state=start)
        manager_of(campaign).post(
            f"/campaigns/{campaign.slug}/state", {"action": action, "reason": "lunch"}
        )
        campaign.refresh_from_db()
        assert campaign.state == after

    def test_a_closed_campaign_is_not_paused(self):
        campaign = make_campaign(state="closed")
        manager_of(campaign).post(f"/campaigns/{campaign.slug}/state", {"action": "pause"})
        campaign.refresh_from_db()
        assert campaign.state == "closed"


def test_the_page_of_the_rules_shows_every_field_that_it_asks_for():
    campaign = make_campaign()
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/settings/rules/")
    shown = set(re.findall(r'name="(\w+)"', page.content.decode()))
    assert set(page.context["form"].fields) - shown == set()


def test_the_manager_reads_how_many_pairs_are_held_back_and_what_to_do():
    campaign = make_campaign(n_topics=2, n_documents=2, state="draft")
    client, slug = manager_of(campaign), campaign.slug
    told = "2 pairs are not assigned"
    assert told not in client.get(f"/campaigns/{slug}/").content.decode()
    campaign.pairs.filter(entry__docno="d1").update(without_text=True)
    seen = client.get(f"/campaigns/{slug}/").content.decode()
    assert told in seen
    assert f"/collections/{campaign.collection.slug}/documents/" in seen
    lifecycle.open_campaign(campaign)
    seen = client.get(f"/campaigns/{slug}/").content.decode()
    assert "2 pairs can&#x27;t be judged because their texts are missing" in seen
    assert told in client.get(f"/campaigns/{slug}/settings/open/").content.decode()
    lifecycle.close_campaign(campaign)
    assert told not in client.get(f"/campaigns/{slug}/settings/open/").content.decode()
