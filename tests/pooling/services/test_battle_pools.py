"""Pools of battles: drawn from runs, or read from a file."""

from __future__ import annotations

import io
from typing import Any

import pytest

from assay.formats.battles import read_document_battles
from pooling.models import Pool
from pooling.platform.jobs import Refused
from pooling.selectors.pools import iterate_table
from pooling.services.battle_pools import create_battle_pool, list_battles
from pooling.services.pools import request_extension
from tests.commands import call_command

RUNS = (
    "1 Q0 d1 1 9 x\n1 Q0 d3 2 8 x\n2 Q0 d1 1 9 x\n",
    "1 Q0 d2 1 9 y\n2 Q0 d1 1 9 y\n",
    "1 Q0 d3 1 9 z\n2 Q0 d2 1 9 z\n",
)
DOCUMENTS = "".join(f'{{"_id": "d{n}", "text": "text {n}"}}\n' for n in (1, 2))


@pytest.fixture
def filled(collection: Any, bring: Any) -> Any:
    bring("topics", "1\tone\n2\ttwo\n")
    for text in RUNS:
        bring("run", text)
    bring("documents", DOCUMENTS, name="documents.jsonl")
    return collection


def make(collection: Any, **options: Any) -> Pool:
    runs = list(collection.runs.all())
    return create_battle_pool(collection, name="battles", runs=runs, repeated=0, **options)


def test_first_documents_of_runs_meet_once_per_pair_of_documents(filled: Any) -> None:
    """By hand: on topic 1 the cycle of three systems has three pairs of documents. On topic 2, x
    and y answer with d1, so their battle is none, and those against z share d1 and d2. d3 has no
    text, and is in two pairs."""
    pool = make(filled)
    battles = list_battles(pool)
    of_topic = [{frozenset(b[1:3]) for b in battles if b.topic == topic} for topic in "12"]
    assert of_topic == [
        {frozenset(pair) for pair in (("d1", "d2"), ("d2", "d3"), ("d1", "d3"))},
        {frozenset(("d1", "d2"))},
    ]
    [shared] = [b for b in battles if b.topic == "2"]
    sides = [dict(zip((shared.left, shared.right), pair, strict=True)) for pair in shared.systems]
    assert sorted((side["d1"], side["d2"]) for side in sides) == [("x", "z"), ("y", "z")]
    assert (pool.n_pairs, pool.missing_documents, pool.kind) == (4, 2, "battles")
    linked = pool.entries.get(topic__topic_id="2")
    assert linked.document is not None
    assert linked.other_document is not None
    assert {linked.document.docno, linked.other_document.docno} == {"d1", "d2"}


def test_the_same_seed_draws_the_same_battles(filled: Any) -> None:
    first = list_battles(make(filled, seed=3, rounds=2))
    filled.pools.all().delete()
    assert list_battles(make(filled, seed=3, rounds=2)) == first


def test_all_topics_of_a_round_come_before_the_next(filled: Any) -> None:
    pool = make(filled, rounds=2)
    rounds = [battle.round for battle in list_battles(pool)]
    assert rounds == sorted(rounds)
    priorities = list(pool.entries.order_by("position").values_list("priority", flat=True))
    assert priorities == sorted(priorities, reverse=True)


def test_a_repeated_battle_is_a_pair_with_exchanged_documents(filled: Any) -> None:
    runs = list(filled.runs.all())
    pool = create_battle_pool(filled, name="battles", runs=runs, repeated=1)
    battles = {battle[:3] for battle in list_battles(pool)}
    assert len(battles) == 8
    assert {(topic, b, a) for topic, a, b in battles} == battles


def test_the_table_of_a_pool_is_a_file_that_gives_the_same_pool(filled: Any) -> None:
    pool = make(filled)
    text = "".join(iterate_table(pool))
    read = read_document_battles(io.BytesIO(text.encode()))
    again = create_battle_pool(filled, name="again", battles=read, source="battles.tsv")
    assert list_battles(again) == list_battles(pool)
    assert again.words == "battles from battles.tsv"


def test_battles_of_unknown_topics_and_extensions_are_refused(filled: Any) -> None:
    read = read_document_battles(io.BytesIO(b"9 d1 d2\n"))
    with pytest.raises(Refused, match="no topic 9"):
        create_battle_pool(filled, name="battles", battles=read, source="battles.tsv")
    pool = make(filled)
    with pytest.raises(Refused, match="already exists"):
        make(filled)
    with pytest.raises(Refused, match="can't be extended"):
        request_extension(pool, depth=5, user=None)


def test_the_command_draws_battles(filled: Any) -> None:
    out = io.StringIO()
    call_command(
        "make_pool",
        "--collection",
        filled.slug,
        "--battle-rounds",
        "1",
        "--repeated",
        "0",
        stdout=out,
    )
    assert out.getvalue() == "Battles: 4 battles, 2 without text\n"
