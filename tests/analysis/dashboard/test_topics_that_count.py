"""Each page that counts topics says how many count, and of how many: a collection of five, two of
them removed, one judged."""

from __future__ import annotations

import io
import re
import zipfile
from html import unescape

import pytest
from django.test import Client

from analysis.judgements.live import expire_caches
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign, Judgement
from pooling.models import Run
from pooling.services import topics
from tests.analysis.judgements.test_one_answer import client_of_manager
from tests.builders import judge, make_annotator, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(settings, tmp_path) -> Campaign:
    settings.MEDIA_ROOT = tmp_path
    made = make_campaign(n_topics=5, n_documents=2, judgements_per_pair=1)
    Run.objects.create(collection=made.collection, tag="A", digest="0" * 64, n_rows=4, n_topics=4)
    judge(make_annotator(made), 1)
    judged_topic = Judgement.objects.get().pair.entry.topic_id
    two = made.collection.topics.exclude(pk=judged_topic)[:2]
    topics.decide_topics(
        made.collection,
        {topic.pk: "remove" for topic in two},
        user=None,
        reasons={topic.pk: "a name" for topic in two},
    )
    expire_caches()
    return Campaign.objects.get(pk=made.pk)


def words(client: Client, address: str) -> str:
    """The text of a page, blanks joined."""
    answer = client.get(address)
    assert answer.status_code == 200, address
    page = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", answer.content.decode())
    return " ".join(unescape(page).split())


def test_every_page_says_how_many_topics_count_and_of_how_many(campaign: Campaign) -> None:
    client, collection = client_of_manager(campaign), campaign.collection.slug
    said = {
        "/collections/": "Topics kept",
        f"/collections/{collection}/": "3 kept of 5 topics",
        f"/collections/{collection}/topics/": "3 kept of 5 topics, 2 removed.",
        f"/collections/{collection}/pools/new": "The pool uses only topics that have not been removed (3 of 5).",
        f"/collections/{collection}/runs/": "Topics in the file",
        f"/campaigns/{campaign.slug}/settings/files/": "Topics 3 2 removed",
        f"/campaigns/{campaign.slug}/judgements/": "Topics with judgements (of those with pairs) 1 of 3",
    }
    pages = {address: words(client, address) for address in said}
    missing = {
        address: pages[address] for address, text in said.items() if text not in pages[address]
    }
    assert missing == {}
    assert re.search(rf"{re.escape(campaign.collection.name)} 3 of 5 ", pages["/collections/"])
    out = io.BytesIO()
    write_release(campaign, ReleasePlan(), out)
    sheet = zipfile.ZipFile(out).read("datasheet.md").decode()
    assert "| Topics with judgements (of those with pairs) | 1 of 3 |" in sheet
    assert "2 topics were removed" in sheet
