"""From a release and a new run to a small campaign, and its labels added to those of the release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.judging import scheduling
from pooling.models import Collection
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.test_releases import built, parts
from tests.analysis.publishing.test_runs_in_releases import PLAN, TOPICS, make_it
from tests.builders import make_annotator, make_user, submit
from tests.databases import undone

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("runs in releases")]
NEW = "".join(
    f"{topic} Q0 {document} {rank} {10 - rank} new\n"
    for topic in TOPICS
    for rank, document in enumerate(("n1", "d1", "n2", "n3"), 1)
)
TEXTS = "".join(
    json.dumps({"_id": f"n{i}", "title": "", "text": f"New document {i}."}) + "\n"
    for i in (1, 2, 3)
)


@pytest.fixture(scope="module")
def release_bytes(django_db_setup, django_db_blocker) -> bytes:
    with django_db_blocker.unblock(), undone():
        return built(make_it(), PLAN)


@pytest.fixture
def folder(release_bytes, tmp_path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    (tmp_path / "release.zip").write_bytes(release_bytes)
    (tmp_path / "new.run").write_text(NEW)
    (tmp_path / "texts.jsonl").write_text(TEXTS)
    make_user("boss", may_create=True)
    return tmp_path


def judge_run(folder: Path, *words: str) -> dict[str, Any]:
    return run(
        "judge_run", str(folder / "release.zip"), str(folder / "new.run"), "--user", "boss", *words
    )


def judge_all(campaign: Campaign, grades: dict[str, int]) -> None:
    """Two annotators give each document the same grade in every topic."""
    lifecycle.update_campaign(campaign, actor=None, min_active_seconds=0)
    lifecycle.open_campaign(campaign, actor=None)
    for person in (make_annotator(campaign), make_annotator(campaign)):
        while (lease := scheduling.claim_pair(person)) is not None:
            submit(person, lease, grades[lease.pair.entry.docno], active_ms=20_000)


@pytest.mark.long
def test_a_new_run_is_judged_under_the_rules_of_the_release_and_its_labels_are_merged(folder):
    made = judge_run(folder, "--depth", "3", "--documents", str(folder / "texts.jsonl"))
    assert made == {
        "release_campaign": "autumn",
        "run": "new",
        "depth": 3,
        "campaign": "top-up-of-new",
        "pairs": 16,
        "without_text": 0,
    }
    campaign = Campaign.objects.get(slug="top-up-of-new")
    source = Campaign.objects.get(slug="autumn")
    pairs = set(campaign.pool.entries.values_list("topic__topic_id", "docno"))
    assert pairs == {(topic, document) for topic in TOPICS for document in ("n1", "n2")}
    for name in ("scale", "min_relevant", "judgements_per_pair", "spans", "collection_id"):
        assert getattr(campaign, name) == getattr(source, name)
    assert [version.text for version in campaign.guidelines.all()] == ["Read."]
    assert campaign.memberships.get(role="manager").user.username == "boss"

    none_yet = run("merge_labels", campaign.slug)
    assert none_yet["labels"] == {"before": 48, "after": 48, "by_source": {"autumn": 48}}
    judge_all(campaign, {"n1": 3, "n2": 0})
    merged, sources = folder / "merged.qrels", folder / "sources.tsv"
    told = run("merge_labels", campaign.slug, "--output", str(merged), "--sources", str(sources))
    by_source = {"autumn": 48, "top-up-of-new": 16}
    assert told["labels"] == {"before": 48, "after": 64, "by_source": by_source}
    rows = [line.split("\t") for line in sources.read_text().splitlines()]
    assert rows[0] == ["topic", "document", "grade", "source"]
    assert {tuple(row) for row in rows[1:] if row[1].startswith("n")} == {
        (topic, document, grade, "top-up-of-new")
        for topic in TOPICS
        for document, grade in (("n1", "3"), ("n2", "0"))
    }
    first = parts((folder / "release.zip").read_bytes())["qrels.txt"].decode().splitlines()
    lines = merged.read_text().splitlines()
    assert set(first) < set(lines)
    assert len(lines) == 64

    relevant = {line.split()[0] for line in first if line.split()[2:] in (["d1", "2"], ["d1", "3"])}
    new = told["systems"]["new"]
    before, after = new["scores"]["P@3"]
    assert before == pytest.approx(len(relevant) / 3 / 8)  # only d1 can be relevant
    assert after == pytest.approx((len(relevant) + 8) / 3 / 8)
    assert new["unjudged"] == [16, 0]
    assert set(told["systems"]) == {"bm25", "dense", "late", "new"}
    places = [told["systems"][tag]["scores"]["P@3"] for tag in told["systems"]]
    assert new["ranks"]["P@3"] == [
        1 + sum(p[i] > new["scores"]["P@3"][i] for p in places) for i in (0, 1)
    ]

    again = run("judge_run", "autumn", "new", "--depth", "3", "--user", "boss")
    assert again["pairs"] == 16  # the release itself is unchanged


def test_pairs_without_text_and_runs_without_unjudged_documents_are_told(folder):
    made = judge_run(folder, "--depth", "1")
    assert (made["pairs"], made["without_text"]) == (8, 8)
    (folder / "known.run").write_text(NEW.replace("n1", "d2").replace("new", "known"))
    told = run("judge_run", "autumn", str(folder / "known.run"), "--depth", "2", "--user", "boss")
    assert (told["campaign"], told["pairs"]) == (None, 0)
    assert Campaign.objects.count() == 2


def test_wrong_input_is_refused_before_anything_is_stored(folder):
    (folder / "wrong.run").write_text("t1 Q0 d1 1\n")
    for words, said in (
        (("release.zip", "wrong.run"), "columns"),
        (("release.zip", "none.run"), "no run of the collection has this tag"),
        (("none.zip", "new.run"), "no such file, and no campaign has this slug"),
        (
            ("release.zip", "new.run", "--user", "nobody"),
            "there is no account with the username 'nobody'",
        ),
    ):
        paths = [str(folder / word) if "." in word else word for word in words]
        status, _, err = refused("judge_run", *paths)
        assert (status, said in err) == (2, True), err
    assert not Collection.objects.exists()
    assert not Pair.objects.exists()
    status, _, err = refused("merge_labels", "nothing")
    assert status == 2
