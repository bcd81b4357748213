"""Runs and pools under other names: pools that were built say the new one, and nothing else of them
changes."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from django.contrib.auth.models import User

from assay.formats.pool import read_pool
from assay.formats.runs import read_run, write_run
from pooling.models import Pool, PoolEntry
from pooling.platform.jobs import Refused
from pooling.selectors import pools as selectors
from pooling.services import pool_extension, pools, renaming, runs
from tests.pooling.conftest import run as done

ORDERED = {"goal": "relevant", "batch": 2, "audit": 0.0}
SAMPLED = {"strata": "rank", "stages": [0.5, 1.0]}


def pool_of(full) -> Pool:
    return full.pools.get(name="pool")


def table(pool: Pool) -> str:
    return "".join(selectors.iterate_table(pool))


def rows_of(pool: Pool) -> list[tuple]:
    fields = (
        "topic__topic_id",
        "docno",
        "best_rank",
        "priority",
        "position",
        "stratum",
        "place",
        "stage",
        "entered",
    )
    return list(pool.entries.order_by("position").values_list(*fields))


def called(full, tag: str):
    return full.runs.get(tag=tag)


def test_a_run_of_a_pool_has_its_new_tag_everywhere_and_no_rank_changes(full, manager):
    pool = pool_of(full)
    before, text, rankings = rows_of(pool), table(pool), runs.load_rankings(called(full, "A"))
    renaming.rename_run(called(full, "A"), "  BM25 \n k1 ", user=manager)
    pool.refresh_from_db()
    assert table(pool) == text.replace("A:2,B:1", "B:1,BM25 k1:2").replace("A:", "BM25 k1:")
    assert rows_of(pool) == before
    assert {tag for one in pool.entries.values_list("contributions", flat=True) for tag in one} == {
        "BM25 k1",
        "B",
    }
    assert (
        sorted(pool.coverage["unique"])
        == sorted(pool.coverage["contributed"])
        == sorted(pool.coverage["overlap"])
        == ["B", "BM25 k1"]
    )
    assert (
        sorted(pool.coverage["overlap"]["BM25 k1"])
        == sorted(pool.coverage["overlap"]["B"])
        == ["B", "BM25 k1"]
    )
    assert pool.coverage["contributed"] == {"BM25 k1": 3, "B": 2}
    assert pool.coverage["unique"] == {"BM25 k1": 2, "B": 1}
    assert pool.digest == hashlib.sha256(table(pool).encode()).hexdigest()
    renamed = called(full, "BM25 k1")
    np.testing.assert_array_equal(runs.load_rankings(renamed).documents, rankings.documents)
    assert runs.load_rankings(renamed).tag == "BM25 k1"


def test_a_renamed_run_is_extended_and_taken_back_as_before(full, manager):
    """The order of the tags is another one then, C before Z."""
    pool = done(
        pools.request_pool(full, runs=[called(full, "A")], depth=1, name="small", user=manager)
    )
    small = full.pools.get(name="small")
    assert pool.state == "done"
    before = rows_of(small)
    renaming.rename_run(called(full, "A"), "Z", user=manager)
    renaming.rename_run(called(full, "B"), "C", user=manager)
    assert (
        done(pools.request_extension(small, runs=[called(full, "C")], depth=2, user=manager)).state
        == "done"
    )
    small.refresh_from_db()
    whole = pool_of(full)
    assert [row[:5] for row in rows_of(small)] == [row[:5] for row in rows_of(whole)]
    assert table(small) == table(whole)
    assert done(pool_extension.request_undo_extension(small, user=manager)).state == "done"
    assert rows_of(small) == before
    assert {
        tag for one in small.entries.values_list("contributions", flat=True) for tag in one
    } == {"Z"}


@pytest.mark.parametrize(
    "making", [pytest.param(ORDERED, id="ordered"), pytest.param(SAMPLED, id="sampled")]
)
def test_batches_and_samples_are_those_of_the_old_name(full, manager, making):
    """Two pools of one seed, the second after the tags have got another order, Z after B."""
    made = []
    for name in ("old", "new"):
        asked = pools.request_pool(
            full,
            runs=list(full.runs.order_by("tag")),
            depth=2,
            seed=5,
            name=name,
            making=making,
            user=manager,
        )
        assert done(asked).state == "done"
        made.append(full.pools.get(name=name))
        if name == "old":
            renaming.rename_run(called(full, "A"), "Z", user=manager)
    old, new = made
    assert rows_of(old) == rows_of(new)
    assert table(old) == table(new)
    assert "Z:" in table(old)
    assert list(old.strata.values_list("name", "size", "drawn")) == list(
        new.strata.values_list("name", "size", "drawn")
    )


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        pytest.param("B", "A run with the tag B already exists.", id="taken"),
        pytest.param(" \n ", "A tag must have 1 to 200 characters", id="empty"),
        pytest.param("x" * 201, "A tag must have 1 to 200 characters", id="long"),
        pytest.param("a\0b", "A name must not contain control characters.", id="null"),
        pytest.param("a\x1bb", "A name must not contain control characters.", id="escape"),
        pytest.param(
            "a\ud800b", "A name must not contain control characters.", id="half a character"
        ),
        pytest.param("a:3,b", "would be ambiguous in pool files", id="rank inside"),
    ],
)
def test_what_is_no_tag_or_another_runs_is_refused_and_nothing_changes(full, manager, tag, reason):
    text = table(pool_of(full))
    with pytest.raises(Refused, match=reason):
        renaming.rename_run(called(full, "A"), tag, user=manager)
    assert table(pool_of(full)) == text
    assert set(full.runs.values_list("tag", flat=True)) == {"A", "B"}


@pytest.mark.parametrize(
    "tag",
    [
        pytest.param("<script>alert(1)</script>", id="markup"),
        pytest.param('say "yes" \\ $.a[0] {{ x }} %s', id="quotes and paths"),
        pytest.param("BM25, k1=0.9, b:0.4", id="commas and colons"),
        pytest.param("نموذج 模型 é", id="scripts"),
        pytest.param("A", id="the same"),
        pytest.param("=cmd()", id="formula"),
        pytest.param("x" * 200, id="longest"),
    ],
)
def test_a_hostile_tag_is_a_tag_and_a_pools_file_is_read_back(full, manager, tag, tmp_path, client):
    pool = pool_of(full)
    rows = rows_of(pool)
    renaming.rename_run(called(full, "A"), tag, user=manager)
    pool.refresh_from_db()
    path = tmp_path / "pool.tsv"
    path.write_text(table(pool), encoding="utf-8")
    read = read_pool(str(path))
    assert set(read.tags) == {tag, "B"}
    assert sorted(len(pair.runs) for pair in read) == [1, 1, 1, 2]
    assert rows_of(pool) == rows
    client.force_login(manager)
    for address in (
        f"/collections/{full.slug}/runs/{called(full, tag).pk}/",
        f"/collections/{full.slug}/pools/{pool.pk}/",
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert "<script>alert(1)" not in page.content.decode()


def test_the_file_of_a_run_whose_tag_has_blanks_is_read_back(full, manager, tmp_path):
    rankings = runs.load_rankings(renaming.rename_run(called(full, "A"), "Our BM25", user=manager))
    path = tmp_path / "a.run"
    with path.open("w") as out:
        write_run(rankings, out)
    read = read_run(str(path))
    assert (read.tag, read.documents.tolist()) == ("Our_BM25", rankings.documents.tolist())


def test_two_runs_change_their_tags_with_each_other_by_way_of_a_third(full, manager):
    text = table(pool_of(full))
    for before, after in (("A", "C"), ("B", "A"), ("C", "B")):
        renaming.rename_run(called(full, before), after, user=manager)
    swapped = text.replace("A:", "C:").replace("B:", "A:").replace("C:", "B:")
    lines = [
        sorted(line.split("\t")[4].split(",")) for line in table(pool_of(full)).splitlines()[1:]
    ]
    assert lines == [sorted(line.split("\t")[4].split(",")) for line in swapped.splitlines()[1:]]


def test_a_pool_that_is_worked_on_keeps_the_tag_until_then(full, manager):
    job = pools.request_extension(pool_of(full), depth=3, user=manager)
    with pytest.raises(Refused, match="pool is in use by a background job"):
        renaming.rename_run(called(full, "A"), "BM25", user=manager)
    assert called(full, "A").tag == "A"
    done(job)
    renaming.rename_run(called(full, "A"), "BM25", user=manager)
    assert "BM25:" in table(pool_of(full))


def test_a_tag_that_pairs_of_a_pool_have_from_elsewhere_is_not_given_to_another_run(full, manager):
    """Such as a release that was imported: else two systems would be one in the pool."""
    pool_of(full).entries.filter(docno="d").update(contributions={"B": 2, "X": 7})
    with pytest.raises(Refused, match="already refer to a run X"):
        renaming.rename_run(called(full, "A"), "X", user=manager)
    assert called(full, "A").tag == "A"
    assert "A:1" in table(pool_of(full))


def test_a_pools_name_is_one_line_and_its_own(full, manager):
    pool = pool_of(full)
    digest, text = pool.digest, table(pool)
    assert renaming.rename_pool(pool, "  The \n main pool ", user=manager).name == "The main pool"
    assert (
        done(
            pools.request_pool(
                full, runs=list(full.runs.all()), depth=1, name="other", user=manager
            )
        ).state
        == "done"
    )
    for name, reason in (
        ("other", "A pool named other already exists."),
        ("", "1 to 200"),
        ("x" * 201, "1 to 200"),
        ("a\0", "control"),
    ):
        with pytest.raises(Refused, match=reason):
            renaming.rename_pool(pool, name, user=manager)
    pool.refresh_from_db()
    assert (pool.name, pool.digest, table(pool)) == ("The main pool", digest, text)


def test_the_page_renames_a_run_of_a_pool_and_says_what_keeps_the_old_tag(full, client, manager):
    client.force_login(manager)
    run = called(full, "A")
    address = f"/collections/{full.slug}/runs/{run.pk}/"
    assert "Finished reports and releases keep the" in " ".join(
        client.get(address).content.decode().split()
    )
    assert (
        "Renamed the run to BM25"
        in client.post(address, {"action": "rename", "tag": " BM25 "}, follow=True).content.decode()
    )
    assert (
        "tag B already exists"
        in client.post(address, {"action": "rename", "tag": "B"}, follow=True).content.decode()
    )
    assert "BM25:" in table(pool_of(full))


def test_the_api_renames_runs_and_pools_of_ones_own_collections_alone(full, client, manager):
    run, pool = called(full, "A"), pool_of(full)
    of_run, of_pool = (
        f"/api/v1/collections/{full.slug}/runs/{run.pk}/",
        f"/api/v1/collections/{full.slug}/pools/{pool.pk}/",
    )

    def patch(address: str, body: dict) -> tuple[int, dict]:
        answer = client.patch(address, body, content_type="application/json")
        return answer.status_code, answer.json()

    assert patch(of_run, {"tag": "BM25"})[0] == 401
    client.force_login(User.objects.create_user("stranger"))
    assert patch(of_run, {"tag": "BM25"})[0] == 404
    assert patch(of_pool, {"name": "main"})[0] == 404
    client.force_login(manager)
    status, body = patch(of_run, {"tag": " BM25 ", "group": "us"})
    assert (status, body["tag"], body["group"]) == (200, "BM25", "us")
    status, body = patch(of_run, {"tag": "B", "group": "them"})
    assert (status, body["detail"]) == (409, "A run with the tag B already exists.")
    run.refresh_from_db()
    assert (run.tag, run.group) == ("BM25", "us")
    assert (
        patch(of_run, {"tag": "a\0b"})[0]
        == patch(of_run, {"tag": ""})[0]
        == patch(of_run, {"tag": "x" * 201})[0]
        == 400
    )
    assert patch(of_run, {"group": "we"})[1]["tag"] == "BM25"
    status, body = patch(of_pool, {"name": "main"})
    assert (status, body["name"], sorted(body["runs"])) == (200, "main", ["B", "BM25"])
    assert patch(of_pool, {}) == (200, body), "nothing is changed"
    assert PoolEntry.objects.filter(pool=pool, contributions__has_key="BM25").count() == 3
