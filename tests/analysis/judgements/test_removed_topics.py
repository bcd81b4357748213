"""A topic that is found bad during a campaign leaves it everywhere, and comes back with
everything."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from analysis.judgements.live import expire_caches
from analysis.publishing.release.importing import import_release
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import Campaign, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.campaigns import pairs
from annotation.services.judging import scheduling
from pooling.models import Topic
from pooling.platform.jobs import Refused
from pooling.services import topics
from tests.analysis.commands.judged_file import run
from tests.analysis.judgements.test_one_answer import (
    PAGES,
    client_of_manager,
    exported,
    of_a_command,
    of_a_report,
)
from tests.analysis.publishing.exported import BINARY, GRADED, examples_campaign, with_everything
from tests.builders import judge, make_annotator, make_campaign, make_user, submit

pytestmark = pytest.mark.django_db


def decide(campaign: Campaign, topic_id: str, decision: str, reason: str = "") -> None:
    topic = campaign.collection.topics.get(topic_id=topic_id)
    topics.decide_topics(
        campaign.collection, {topic.pk: decision}, user=None, reasons={topic.pk: reason}
    )
    expire_caches()


def everywhere(campaign: Campaign) -> dict[str, Any]:
    """What each door says of the campaign's labels and judgements."""
    slug = campaign.slug
    overview = client_of_manager(campaign).get(f"/campaigns/{slug}/").content.decode()
    return {
        "export": [exported(campaign, name) for name in ("qrels", "qrels-binary")],
        "raw": exported(campaign, "judgements"),
        "command": of_a_command(campaign, "graded"),
        "report": of_a_report(campaign, "graded"),
        "statistics": run("campaign_stats", "--campaign", slug),
        "agreement": run("agreement", "--campaign", slug, "--min-common", "2")["graded"]["percent"],
        "labels": run("aggregate", "--campaign", slug)["labels"],
        "page": re.findall(r"(\d+) of (\d+) complete", overview),
    }


def test_a_removed_topic_leaves_the_export_the_commands_the_report_and_the_page_and_comes_back_whole() -> (
    None
):
    campaign = examples_campaign()
    before = everywhere(campaign)
    assert before["export"] == [GRADED, BINARY]
    decide(campaign, "t1", "remove", "two readings")
    after = everywhere(campaign)
    # by hand: t2 has 3 of the 6 pairs, with 2 + 2 + 5 of the 18 judgements
    assert after["export"] == [text[text.index("t2") :] for text in (GRADED, BINARY)]
    assert after["report"] == after["command"] == after["export"][0]
    assert "t1" not in after["raw"]
    assert after["statistics"]["judgements"] == 9
    assert after["statistics"]["pairs"] == 3
    assert after["statistics"]["topics"] == 1
    assert after["labels"] == {"0": 1, "1": 2, "2": 0, "3": 0}
    assert (before["page"], after["page"]) == ([("1", "6")], [("1", "3")])
    for page in PAGES:
        assert (
            client_of_manager(campaign).get(f"/campaigns/{campaign.slug}/{page}").status_code == 200
        ), page
    decide(campaign, "t1", "keep")
    assert everywhere(campaign) == before


def test_the_scheduler_serves_no_pair_of_a_removed_topic_and_all_again_once_it_is_back() -> None:
    campaign = make_campaign(n_topics=2, n_documents=3, judgements_per_pair=1)
    for kind, topic, document in ((Pair.Kind.GOLD, "t1", "d1"), (Pair.Kind.EVERYONE, "t1", "d2")):
        pairs.set_pair_kind(
            campaign.pairs.get(entry__topic__topic_id=topic, entry__docno=document),
            kind,
            gold_grade=1,
        )
    ada = make_annotator(campaign)
    decide(campaign, "t1", "remove")
    ada.campaign.refresh_from_db()
    assert (
        ada.campaign.n_pairs,
        ada.campaign.n_topics,
        ada.campaign.n_gold,
        ada.campaign.n_everyone,
    ) == (3, 1, 0, 0)
    served = {judge(ada, 1).pair.entry.topic.topic_id for _ in range(3)}
    assert served == {"t2"}
    assert scheduling.claim_pair(ada) is None
    assert check_invariants(campaign) == []
    decide(campaign, "t1", "keep")
    ada.campaign.refresh_from_db()
    assert {judge(ada, 1).pair.entry.docno for _ in range(3)} == {"d1", "d2", "d3"}
    assert check_invariants(campaign) == []


def test_what_was_on_a_screen_may_be_answered_and_counts_once_the_topic_is_back() -> None:
    campaign = make_campaign(n_topics=1, n_documents=1, judgements_per_pair=2)
    ada = make_annotator(campaign)
    lease = scheduling.claim_pair(ada)
    decide(campaign, "t1", "remove")
    assert lease is not None
    submit(ada, lease, 2)
    assert run("campaign_stats", "--campaign", campaign.slug)["judgements"] == 0
    assert check_invariants(campaign) == []
    decide(campaign, "t1", "keep")
    assert run("campaign_stats", "--campaign", campaign.slug)["judgements"] == 1
    assert campaign.pairs.get().open_slots == 1


def test_a_typed_reason_stands_in_the_table_the_datasheet_and_the_audit_trail_and_undo_brings_it_back() -> (
    None
):
    campaign = examples_campaign()
    client, row = (
        client_of_manager(campaign),
        Topic.objects.get(collection=campaign.collection, topic_id="t1"),
    )
    address = reverse("collection-topics-change", args=[campaign.collection.slug])
    client.post(address, {"action": "remove", "topic": row.pk, "reason": "two\treadings"})
    expire_caches()
    assert exported(campaign, "topics-removed").splitlines()[1:] == [
        "t1\tquery number 1\ttwo readings\t"
    ]
    out = io.BytesIO()
    write_release(campaign, ReleasePlan(), out)
    sheet = zipfile.ZipFile(out).read("datasheet.md").decode()
    assert "1 topic was removed with all its judgements." in sheet
    assert "| t1 | two readings |  |" in sheet
    event = campaign.audit.first()
    assert (event.action, event.subject, event.details) == (
        "removed topics",
        "t1",
        {"topics": {"t1": "two readings"}, "pairs": 3},
    )
    client.post(
        reverse("collection-check", args=[campaign.collection.slug]), {f"topic-{row.pk}": "remove"}
    )  # as that page has it marked
    row.refresh_from_db()
    assert row.removed_reason == "two readings"
    client.post(address, {"action": "keep", "topic": row.pk})
    client.post(address, {"action": "undo"})
    row.refresh_from_db()
    assert row.removed_reason == "two readings"
    assert Pair.objects.filter(campaign=campaign, removed=True).count() == 3


def test_a_reason_that_is_too_long_changes_nothing() -> None:
    campaign = make_campaign(n_topics=1, n_documents=1)
    with pytest.raises(Refused, match="at most 200 characters"):
        decide(campaign, "t1", "remove", "x" * 201)
    assert not campaign.collection.topics.exclude(removed_reason="").exists()


def test_a_release_without_a_topic_is_imported_without_it_and_can_take_it_back(
    tmp_path: Path,
) -> None:
    campaign = with_everything(examples_campaign())
    decide(campaign, "t1", "remove", "two readings")
    path = tmp_path / "release.zip"
    with path.open("wb") as out:
        write_release(campaign, ReleasePlan(documents=True, notes=True), out)
    made = import_release(path, name="release.zip", user=make_user("importer"))
    assert exported(made, "qrels") == exported(campaign, "qrels") == GRADED[GRADED.index("t2") :]
    assert made.collection.topics.get(topic_id="t1").removed_reason == "two readings"
    assert {pair.entry.topic.topic_id for pair in made.pairs.all()} == {"t2"}
    decide(made, "t1", "keep")
    assert sorted(pair.entry.topic.topic_id for pair in made.pairs.all()) == ["t1"] * 3 + ["t2"] * 3
