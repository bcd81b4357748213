"""Columns from the file are those of the database, whatever has happened since they were
written."""

from __future__ import annotations

import random
import uuid
from dataclasses import fields

import numpy as np
import pytest

from analysis.dashboard import annotators
from analysis.dashboard.progress import compute_progress
from analysis.judgements import column_file, live
from analysis.judgements.rows import read_rows
from annotation.models import Judgement, Pair
from annotation.services.campaigns import lifecycle
from annotation.services.errors import CampaignError
from annotation.services.judging import scheduling, submission
from annotation.services.judging.submission import Answer
from annotation.services.people import exclusion
from tests.analysis.judgements.test_live import assert_same
from tests.builders import judge, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _files_of_small_campaigns(monkeypatch, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(live, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(column_file, "MIN_ROWS", 0)
    live._snapshots.clear()
    yield
    live._snapshots.clear()


def new_process() -> None:
    live._snapshots.clear()


def reads(monkeypatch) -> list[int]:
    """Grows by one whenever everything is read."""
    counted: list[int] = []
    real = live._read_all_rows

    def read(*arguments):
        counted.append(1)
        return real(*arguments)

    monkeypatch.setattr(live, "_read_all_rows", read)
    return counted


def judged_campaign():
    campaign = make_campaign(n_topics=3, n_documents=4)
    people = [make_annotator(campaign) for _ in range(3)]
    for turn in range(15):
        judge(people[turn % 3], turn % 4)
    return campaign, people


def test_a_new_process_begins_with_the_file(monkeypatch):
    campaign, people = judged_campaign()
    assert_same(campaign)
    counted = reads(monkeypatch)
    new_process()
    assert_same(campaign)
    first = Judgement.objects.filter(membership=people[0]).order_by("pk").first()
    submission.revise_judgement(
        people[0], judgement_id=first.pk, key=uuid.uuid4(), answer=Answer(grade=3)
    )
    judge(people[1], 2)
    judge(make_annotator(campaign), 1)
    new_process()
    assert_same(campaign)
    assert counted == []


def test_every_column_comes_back_with_its_type():
    campaign, _ = judged_campaign()
    made = live.get_snapshot(campaign)
    found = column_file.load_cached_columns(campaign, audit=made.audit)
    assert found is not None
    for ours, theirs in ((found.rows, made.rows), (found.pairs, made.pairs)):
        for field in fields(theirs):
            value = getattr(theirs, field.name)
            np.testing.assert_array_equal(getattr(ours, field.name), value, err_msg=field.name)
            if isinstance(value, np.ndarray):
                assert getattr(ours, field.name).dtype == value.dtype


def test_an_audited_change_makes_the_file_useless_and_writes_it_anew(monkeypatch):
    campaign, people = judged_campaign()
    live.get_snapshot(campaign)
    exclusion.exclude_annotator(people[0], reason="clicks at random", actor=None)
    counted = reads(monkeypatch)
    new_process()
    assert_same(campaign)
    assert counted == [1]
    new_process()
    assert_same(campaign)
    assert counted == [1]


def test_a_file_of_another_database_is_not_used(monkeypatch):
    campaign, _ = judged_campaign()
    live.get_snapshot(campaign)
    Judgement.objects.filter(pk=Judgement.objects.order_by("pk").last().pk).update(key=uuid.uuid4())
    counted = reads(monkeypatch)
    new_process()
    assert_same(campaign)
    assert counted == [1]


@pytest.mark.parametrize("damage", ["cut", "empty", "format", "missing"])
def test_a_damaged_file_is_not_used(monkeypatch, damage):
    campaign, _ = judged_campaign()
    live.get_snapshot(campaign)
    path = column_file.column_file_path(campaign)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:2000])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "missing":
        path.unlink()
    else:
        monkeypatch.setattr(column_file, "FORMAT", 99)
    counted = reads(monkeypatch)
    new_process()
    assert_same(campaign)
    assert counted == [1]


def test_small_campaigns_leave_no_file(monkeypatch):
    monkeypatch.setattr(column_file, "MIN_ROWS", 5000)
    campaign, _ = judged_campaign()
    live.get_snapshot(campaign)
    assert not column_file.column_file_path(campaign).exists()


def test_the_file_is_written_again_when_much_has_come(monkeypatch):
    monkeypatch.setattr(live, "BACKGROUND_ROWS", 3)
    campaign, people = judged_campaign()
    live.get_snapshot(campaign)
    before = column_file.column_file_path(campaign).stat().st_mtime_ns
    for turn in range(3):
        judge(people[turn], 1)
    live.get_snapshot(campaign)
    assert column_file.column_file_path(campaign).stat().st_mtime_ns == before
    judge(people[0], 1)
    live.get_snapshot(campaign)
    assert column_file.column_file_path(campaign).stat().st_mtime_ns > before


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_topped_up_figures_are_those_computed_from_scratch(seed, monkeypatch):
    """Seventy random events; after each the kept columns, or those of a process that begins with
    the file, beside a new reading."""
    monkeypatch.setattr(live, "BACKGROUND_ROWS", 8)
    rng = random.Random(seed)
    campaign = make_campaign(n_topics=5, n_documents=6, judgements_per_pair=2)
    people = [make_annotator(campaign) for _ in range(4)]
    events = (
        ["judge"] * 28
        + ["revise"] * 10
        + ["exclude"] * 5
        + ["include"] * 10
        + ["gold"] * 4
        + ["fast"] * 6
        + ["cannot"] * 7
    )
    rng.shuffle(events)
    done = dict.fromkeys(events, 0)
    for event in events:
        person = rng.choice(people)
        try:
            happened = _do(event, campaign, person, rng)
        except CampaignError:
            happened = False
        done[event] += happened
        if rng.random() < 0.3:
            new_process()
        if rng.random() < 0.7:
            assert_same(campaign)
            assert figures(campaign) == from_scratch(campaign)
    assert_same(campaign)
    assert all(done.values()), done
    assert read_rows(campaign).counts.sum() > 10


def _do(event: str, campaign, person, rng: random.Random) -> bool:
    if event in ("judge", "fast", "cannot"):
        seconds = {"active_ms": 200, "wall_ms": 250} if event == "fast" else {}
        person.refresh_from_db()
        lease = scheduling.claim_pair(person) if person.standing != "excluded" else None
        if lease is not None:
            submit(person, lease, None if event == "cannot" else rng.randrange(4), **seconds)
        return lease is not None
    if event == "revise":
        own = list(Judgement.objects.filter(membership=person, current=True).order_by("pk"))
        if own:
            submission.revise_judgement(
                person,
                judgement_id=rng.choice(own).pk,
                key=uuid.uuid4(),
                answer=Answer(grade=rng.randrange(4)),
            )
        return bool(own)
    person.refresh_from_db()
    if event == "exclude" and person.standing != "excluded":
        return bool(exclusion.exclude_annotator(person, reason="at random", actor=None)) or True
    if event == "include":
        excluded = list(campaign.memberships.filter(standing="excluded").order_by("pk"))
        for member in excluded[:1]:
            exclusion.include_annotator(member, actor=None)
        return bool(excluded)
    if event == "gold":
        pair = rng.choice(
            list(
                Pair.objects.select_related("campaign", "entry")
                .filter(campaign=campaign, kind=Pair.Kind.NORMAL)
                .order_by("pk")
            )
        )
        lifecycle.set_pair_kind(pair, Pair.Kind.GOLD, gold_grade=rng.randrange(4))
        return True
    return False


def figures(campaign, kept_rows=None) -> list[object]:
    """What the pages show, but for the moment."""
    now = compute_progress(campaign, live=kept_rows)
    shown = [
        (p.membership.pseudonym, p.n, p.n_fast, p.n_cannot, p.n_extra, p.median, p.kappa, p.shares)
        for p in annotators.list_annotators(campaign, live=kept_rows)
    ]
    names = (
        "needed",
        "counted",
        "pairs",
        "complete",
        "depths",
        "one_judgement",
        "unjudgeable",
        "per_12h",
        "stalled",
    )
    return [*(getattr(now, name) for name in names), *shown]


def from_scratch(campaign) -> list[object]:
    return figures(campaign, live._read_all_rows(campaign))
