"""Over an ordered pool agreement on pairs drawn by chance and on chosen pairs is told apart,
wherever agreement is shown."""

from __future__ import annotations

import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
from django.urls import reverse

from analysis.dashboard import agreement_metrics
from analysis.judgements.live import get_snapshot
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign
from assay.pools.pool_kinds import SelectionMethod
from pooling.models import Pool
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.test_ordered_campaigns import LabelChoices, make_ordered
from tests.analysis.publishing.test_sampled_campaigns import make_collection_with_runs
from tests.builders import lease_of, submit
from tests.commands import call_command
from tests.pooling.conftest import run as do

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(settings, tmp_path) -> Campaign:
    """Ada and Bob agree on every audit pair, on grades 0 and 3 by turns, and on no chosen pair: Ada
    says 0, Bob 3."""
    settings.MEDIA_ROOT = tmp_path / "files"
    made = make_ordered(make_collection_with_runs(), batch=60)
    members = list(made.memberships.filter(role="annotator").select_related("campaign", "user"))
    for number, pair in enumerate(made.pairs.select_related("entry").order_by("position")):
        for place, member in enumerate(members):
            grade = 3 * (number % 2) if pair.entry.entered == SelectionMethod.CHANCE else 3 * place
            now = made.pool.created_at + timedelta(minutes=number + 1)
            submit(member, lease_of(member, pair, now=now), grade, now=now + timedelta(seconds=20))
    return made


def numbers(campaign: Campaign) -> tuple[int, int]:
    entries = campaign.pool.entries
    return entries.filter(entered="chance").count(), entries.filter(entered="choice").count()


def test_alpha_of_either_is_that_of_the_hand(campaign):
    """Chosen: n pairs of a 0 and a 3. All disagree, and of two values drawn from n zeros and n
    threes n / (2n - 1) do: alpha is 1 - (2n - 1) / n = 1/n - 1."""
    n_chance, n_choice = numbers(campaign)
    assert (n_chance, n_choice) == (12, 48)
    chance, choice = run("agreement", "--campaign", campaign.slug)["by_entry"]
    assert (chance["entered"], chance["pairs"], chance["alpha"]) == ("chance", 12, 1.0)
    assert (choice["entered"], choice["pairs"]) == ("choice", 48)
    assert choice["alpha"] == pytest.approx(1 / 48 - 1)
    out = io.StringIO()
    call_command("agreement", "--campaign", campaign.slug, stdout=out, stderr=io.StringIO())
    assert re.search(r"drawn by chance \(audit pairs\) +1\.0000 +12\b", out.getvalue())


def test_pages_api_and_releases_tell_both_apart(campaign, client):
    _, job = agreement_metrics.agreement_with_refresh(campaign, get_snapshot(campaign))
    assert do(job).state == "done", job.message
    client.force_login(campaign.created_by)
    page = client.get(reverse("campaign-agreement", args=[campaign.slug])).content.decode()
    assert "Alpha by selection" in page
    assert "chosen by priority (n = 48)" in page
    assert (
        "drawn by chance (audit pairs): 1.00 (12 pairs"
        in client.get(reverse("campaign", args=[campaign.slug])).content.decode()
    )
    figures = client.get(f"/api/v1/campaigns/{campaign.slug}/agreement").json()["figures"]
    assert [row["pairs"] for row in figures["by_entry"]] == [12, 48]
    out = io.BytesIO()
    write_release(
        Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk),
        ReleasePlan("first", LabelChoices()),
        out,
    )
    archive = zipfile.ZipFile(out)
    assert [row["pairs"] for row in json.loads(archive.read("agreement.json"))["by_entry"]] == [
        12,
        48,
    ]
    assert (
        "Only randomly drawn pairs are a sample of the pool."
        in archive.read("datasheet.md").decode()
    )


def test_few_pairs_have_the_reason_and_other_pools_nothing(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "files"
    ordered = make_ordered(make_collection_with_runs())
    chance, _ = agreement_metrics.compute_agreement_by_entry(
        ordered, get_snapshot(ordered).table(4)
    )
    assert (chance["alpha"], chance["reason"]) == (
        None,
        "0 pairs judged twice; at least 10 required",
    )
    Pool.objects.update(kind="depth")
    other = Campaign.objects.select_related("pool").get()
    assert agreement_metrics.compute_agreement_by_entry(other, get_snapshot(other).table(4)) == []
