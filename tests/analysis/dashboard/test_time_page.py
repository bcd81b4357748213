"""The section of judging times on the page Quality: topics with their mean time, by hand."""

from __future__ import annotations

import re

import pytest

from annotation.models import Judgement
from tests.analysis.judgements.test_one_answer import client_of_manager
from tests.analysis.publishing.exported import examples_campaign


@pytest.mark.django_db
def test_the_slowest_topics_come_first_with_their_mean_time() -> None:
    campaign = examples_campaign()
    # 9 judgements of 20 s for each topic; of t2 one took 65 s: (8 * 20 + 65) / 9 = 25
    one = Judgement.objects.filter(pair__entry__topic__topic_id="t2").order_by("pk").first()
    assert one is not None
    Judgement.objects.filter(pk=one.pk).update(active_ms=65_000)
    client = client_of_manager(campaign)
    address = f"/campaigns/{campaign.slug}/agreement/"
    assert client.get(f"/campaigns/{campaign.slug}/time/").url == address
    page = client.get(address).content.decode()
    [table] = re.findall(r"<caption>\s*Mean active seconds by topic.*?</table>", page, re.DOTALL)
    assert "slowest first" in " ".join(table.split())
    assert "Appears after two days of judging." in page
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", table.split("<tbody>")[1])
    assert cells == ["t2", "25.0", "9", "t1", "20.0", "9"]
