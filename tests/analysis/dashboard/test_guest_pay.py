"""The hourly pay of guests, by hand."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client

from analysis.dashboard.guest_pay import GuestPay, compute_guest_pay
from annotation.models import Judgement
from tests.annotation.panel_service import PanelParticipant
from tests.annotation.test_guests import finished_guest, make_panel
from tests.builders import make_annotator


def test_the_payment_is_divided_by_the_median_active_time() -> None:
    # 12, 20 and 60 minutes: 20 minutes at 3.00 are 9.00 per hour
    assert compute_guest_pay([0.2, 1.0, 1 / 3], Decimal(3), Decimal("8.50")) == GuestPay(
        3, pytest.approx(20), pytest.approx(Decimal(9)), is_low=False
    )


def test_two_guests_have_the_mean_of_their_times() -> None:
    assert compute_guest_pay([0.25, 0.75], Decimal(4), Decimal("8.01")) == GuestPay(
        2, pytest.approx(30), Decimal(8), is_low=True
    )


def test_the_minimum_itself_is_not_too_low() -> None:
    assert not compute_guest_pay([0.5], Decimal(4), Decimal(8)).is_low


@pytest.mark.parametrize("hours", [[], [0.0]])
def test_without_a_known_time_the_pay_is_undefined(hours: list[float]) -> None:
    assert compute_guest_pay(hours, Decimal(3), Decimal(9)) == GuestPay(0, None, None, is_low=False)


def test_without_a_payment_only_the_time_is_known() -> None:
    assert compute_guest_pay([0.5], None, Decimal(9)) == GuestPay(
        1, pytest.approx(30), None, is_low=False
    )


@pytest.mark.django_db
class TestPeople:
    def test_the_page_shows_the_pay_of_finished_guests_and_warns(self, client: Client) -> None:
        panel = make_panel(reward=Decimal(1), min_hourly_pay=Decimal(9))
        client.force_login(panel.campaign.created_by)  # type: ignore[arg-type]
        address = f"/campaigns/{panel.campaign.slug}/people/"
        PanelParticipant(panel).agree()  # judges nothing
        finished_guest(panel)
        Judgement.objects.update(active_ms=300_000)  # twice five minutes
        page = " ".join(client.get(address).content.decode().split())
        assert "has finished, with an active time of 10.0 minutes." in page
        assert "They earn 6.00 per active hour, below the minimum of 9.00." in page

    def test_before_the_first_guest_has_finished_the_page_says_so(self, client: Client) -> None:
        panel = make_panel()
        client.force_login(panel.campaign.created_by)  # type: ignore[arg-type]
        PanelParticipant(panel).agree()
        page = client.get(f"/campaigns/{panel.campaign.slug}/people/").content.decode()
        assert "No guest from" in page

    def test_guests_can_be_filtered_and_appear_under_their_pseudonym(self, client: Client) -> None:
        panel = make_panel()
        make_annotator(panel.campaign, "ada")
        PanelParticipant(panel).agree()
        client.force_login(panel.campaign.created_by)  # type: ignore[arg-type]
        address = f"/campaigns/{panel.campaign.slug}/people/"
        everybody = client.get(address).content.decode()
        assert ">A001</a>" in everybody
        assert ">A002</a>" in everybody
        assert "guest-" not in everybody
        guests = client.get(address, {"which": "guests"}).content.decode()
        assert ">A001</a>" not in guests
        assert ">A002</a>" in guests
