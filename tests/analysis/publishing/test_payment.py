"""Hours and payment of annotators as a file, from the page, the API and the command."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from io import StringIO

import pytest
from django.contrib.auth.models import User

from analysis.publishing.payment import COLUMNS, PayRate, summarise_work
from annotation.models import Judgement
from annotation.services.errors import CampaignError
from tests.analysis.dashboard.test_pages import client_of, manager_of
from tests.builders import judge, make_annotator, make_campaign
from tests.commands import call_command

pytestmark = pytest.mark.django_db


@pytest.fixture
def worked():
    """Ada: 1 h 30 in three answers, one of them too fast; Bob: one answer of unknown time. Eve has
    a name that is a formula, and no answer."""
    campaign = make_campaign(n_topics=1, n_documents=5, judgements_per_pair=3)
    ada, bob, eve = (make_annotator(campaign) for _ in range(3))
    for grade in (0, 1, 2):
        judge(ada, grade)
    ids = list(Judgement.objects.filter(membership=ada).order_by("pk").values_list("pk", flat=True))
    for pk, ms, status in zip(
        ids, (3_000_000, 2_399_000, 1_000), ("counted", "extra", "too fast"), strict=True
    ):
        Judgement.objects.filter(pk=pk).update(active_ms=ms, status=status)
    judge(bob, 1)
    Judgement.objects.filter(membership=bob).update(active_ms=None)
    User.objects.filter(pk=eve.user.pk).update(first_name="=HYPERLINK(1)")
    return campaign, ada, bob, eve


def rows(text: str) -> dict[str, dict[str, str]]:
    return {row["annotator"]: row for row in csv.DictReader(io.StringIO(text))}


def test_hours_are_active_time_and_pay_is_by_the_hour_or_by_the_judgement(worked):
    campaign, ada, bob, eve = worked
    by_hour = rows(
        manager_of(campaign)
        .get(f"/campaigns/{campaign.slug}/export/payment.csv?rate=14.50&per=hour")
        .content.decode()
    )
    own = by_hour[ada.pseudonym]
    assert (own["judgements"], own["too_fast"], own["without_time"], own["active_hours"]) == (
        "2",
        "1",
        "0",
        "1.5000",
    )
    assert (own["rate"], own["per"], own["amount"]) == ("14.50", "hour", "21.75")
    assert (by_hour[bob.pseudonym]["without_time"], by_hour[bob.pseudonym]["amount"]) == (
        "1",
        "0.00",
    )
    assert by_hour[eve.pseudonym]["name"] == "'=HYPERLINK(1)"
    by_judgement = rows(
        manager_of(campaign)
        .get(f"/campaigns/{campaign.slug}/export/payment.csv?rate=0.125&per=judgement")
        .content.decode()
    )
    assert [by_judgement[m.pseudonym]["amount"] for m in (ada, bob, eve)] == [
        "0.25",
        "0.13",
        "0.00",
    ]
    without = rows(
        manager_of(campaign).get(f"/campaigns/{campaign.slug}/export/payment.csv").content.decode()
    )
    assert without[ada.pseudonym]["amount"] == without[ada.pseudonym]["rate"] == ""
    assert (
        campaign.audit.filter(action="exported", subject=f"{campaign.slug}-payment.csv").count()
        == 3
    )


def test_page_api_and_command_give_the_same_file_to_managers_alone(worked):
    campaign, ada, _, _ = worked
    client = manager_of(campaign)
    page = client.get(f"/campaigns/{campaign.slug}/export/payment.csv?rate=10").content.decode()
    api = b"".join(
        client.get(f"/api/v1/campaigns/{campaign.slug}/payment?rate=10").streaming_content
    ).decode()
    out = StringIO()
    call_command("export_payment", campaign=campaign.slug, rate="10", stdout=out)
    assert page == api == out.getvalue()
    assert page.splitlines()[0] == ",".join(COLUMNS)
    said = StringIO()
    call_command("export_payment", campaign=campaign.slug, json=True, stdout=said)
    assert json.loads(said.getvalue()) == {
        **{
            "campaign": campaign.slug,
            "file": f"{campaign.slug}-payment.csv",
            "annotators": 3,
            "rate": None,
        },
        **{"per": "hour", "simulated": False},
    }
    annotator = client_of(ada.user)
    assert annotator.get(f"/campaigns/{campaign.slug}/export/payment.csv").status_code == 403
    assert annotator.get(f"/api/v1/campaigns/{campaign.slug}/payment").status_code == 403


@pytest.mark.parametrize(
    ("rate", "per", "said"),
    [
        ("ten", "hour", "instead of 'ten'"),
        ("-1", "hour", "between 0"),
        ("NaN", "hour", "between 0"),
        ("1", "day", "per day"),
    ],
)
def test_what_is_no_rate_is_refused_in_words(worked, rate, per, said):
    campaign = worked[0]
    with pytest.raises(CampaignError, match=said):
        PayRate.parse(rate, per)
    client = manager_of(campaign)
    page = client.get(
        f"/campaigns/{campaign.slug}/export/payment.csv?rate={rate}&per={per}", follow=True
    )
    assert said in str(next(iter(page.context["messages"])))
    assert (
        client.get(f"/api/v1/campaigns/{campaign.slug}/payment?rate={rate}&per={per}").status_code
        == 400
    )


def test_half_a_cent_is_paid_as_a_cent(worked):
    work = summarise_work(worked[0])[0]
    assert work.amount(PayRate(Decimal("0.0025"), "judgement")) == Decimal("0.01")
