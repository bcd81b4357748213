"""Claims of the next pair: throughput and latency compared with two other rules, and over-judging
compared with a rule without reservation.

    python -m benchmarks.bench_claims [--quick] [--databases postgresql sqlite] [--seconds 4]

A campaign has 30,000 generated pairs with three judgements per pair, half of them complete (45,000
judgements by 135 annotators). 16 clients in two processes of eight threads, like the web server,
claim as fast as they can. Every annotator holds three leases, as in a running campaign. Peers, on
the same rows in the same run: (a) sorting all pairs under a table lock, as in FiRA, and (b)
the least judged pair by a group-by over judgements, as in Quepid, which reserves nothing. Both are
SQL written here for the published rules, with LIMIT 1 in their favour. Assay's claim is also
measured on 300,000 pairs, and over-judging with simulated annotators.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = os.environ.get("ASSAY_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
PROCESSES, THREADS = 2, 8  # as in the web server of `assay up`
ANNOTATORS = 135
P95_LIMIT_MS = 20
NUMBERS_SQL = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) "
LEAST_JUDGED_SQL = """SELECT p.id FROM annotation_pair p LEFT JOIN annotation_judgement j ON j.pair_id = p.id AND j.current
  WHERE p.campaign_id = %(campaign)s GROUP BY p.id, p.priority, p.position
  HAVING COUNT(j.id) < 3 AND COUNT(CASE WHEN j.membership_id = %(me)s THEN 1 END) = 0 """
RULES = {
    "fira": LEAST_JUDGED_SQL + "ORDER BY p.priority DESC, COUNT(j.id) DESC, p.position LIMIT 1",
    "quepid": LEAST_JUDGED_SQL + "ORDER BY COUNT(j.id), p.position LIMIT 1",
}


# In a worker process


def set_up_django() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.path.insert(0, str(ROOT))
    django.setup()


def fill_database(n_pairs: int, *, judged: bool = True) -> None:
    """Fill a fresh database with the benchmark's campaign by INSERT ... SELECT, half judged or not
    judged at all."""
    from django.contrib.auth.models import User
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.models import Campaign, Membership
    from pooling.models import Collection, Pool

    collection = Collection.objects.create(slug="generated", name="Generated")
    pool = Pool.objects.create(collection=collection, name="generated", depth=10)
    campaign = Campaign.objects.create(
        slug="generated",
        name="Generated",
        collection=collection,
        pool=pool,
        state="open",
        target_per_annotator=0,
    )
    users = User.objects.bulk_create(User(username=f"u{i}") for i in range(ANNOTATORS))
    members = Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role="annotator", pseudonym=f"A{i:03d}", seed=i)
        for i, user in enumerate(users)
    )
    first, now = members[0].pk, timezone.now()
    topics = n_pairs // 50
    block = n_pairs // 10
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pooling_topic (id, collection_id, topic_id, text, description, "
            "narrative, fields, position, proposal, same_as,"
            " removed_reason) "
            + NUMBERS_SQL.format(last=topics - 1)
            + "SELECT i + 1, %s, 't' || i, 'query', '', '', '{}', i, '', '', '' FROM n",
            [collection.pk],
        )
        cursor.execute(
            (
                "INSERT INTO pooling_poolentry (id, pool_id, topic_id, docno, best_rank, priority, "
                "position, contributions) "
            )
            + NUMBERS_SQL.format(last=n_pairs - 1)
            + (
                f"SELECT i + 1, %s, 1 + (i / 5) %% {topics}, 'd' || i, 1 + i / {block}, 9 - i / "
                f"{block}, i, '{{}}' FROM n"
            ),
            [pool.pk],
        )
        done = n_pairs // 2 if judged else 0
        cursor.execute(
            "INSERT INTO annotation_pair (campaign_id, entry_id, topic_row, kind, priority, "
            "position, needed, counted, held, open_slots,"
            " started, unjudgeable, gold_explanation, adjudicated_reason) SELECT %s, e.id, "
            "e.topic_id, 'normal', e.priority, e.position, 3,"
            f" CASE WHEN e.position < {done} THEN 3 ELSE 0 END, 0,"
            f" CASE WHEN e.position < {done} THEN 0 ELSE 3 END, e.position < {done}, %s,"
            " '', '' FROM pooling_poolentry e ORDER BY e.id",
            [campaign.pk, False],
        )
        for k in range(3):
            key = (
                f"CAST(md5(p.id || '-{k}') AS uuid)"
                if connection.vendor == "postgresql"
                else f"printf('%%032x', p.id * 3 + {k})"
            )
            cursor.execute(
                "INSERT INTO annotation_judgement"
                " (key, pair_id, membership_id, revision, current, grade, cannot_reason, note, spans, status,"
                " late, after_deadline, guideline_version, device, judged_at, received_at) "
                f"SELECT {key}, p.id,"
                f" {first} + (p.position * 7 + {k} * 13) %% {ANNOTATORS}, 1, %s, 1, '', '', '[]', "
                f"'counted', %s, %s, 0, '', %s, %s"
                f" FROM annotation_pair p WHERE p.position < {done}",
                [True, False, False, now, now],
            )
        cursor.execute(
            "INSERT INTO annotation_lease (token, pair_id, membership_id, state, takes_slot, "
            "served_at, expires_at, why)"
            " SELECT j.key, j.pair_id, j.membership_id, 'submitted', %s, %s, %s, '{}' FROM annotation_judgement j",
            [True, now, now],
        )
        if not judged:
            Membership.objects.all().delete()
            return
        cursor.execute(
            (
                "INSERT INTO annotation_lease (token, pair_id, membership_id, state, takes_slot, "
                "served_at, expires_at, why) SELECT "
            )
            + (
                "CAST(md5(p.id || '-live') AS uuid)"
                if connection.vendor == "postgresql"
                else "printf('f%%031x', p.id)"
            )
            + f", p.id, {first} + p.position %% {ANNOTATORS}, 'live', %s, %s, %s, '{{}}' FROM annotation_pair p"
            f" WHERE p.position BETWEEN {done} AND {done + 3 * ANNOTATORS - 1}",
            [True, now, now + timedelta(hours=6)],
        )
        cursor.execute(
            "UPDATE annotation_pair SET held = 1, open_slots = 2, started = %s"
            f" WHERE position BETWEEN {done} AND {done + 3 * ANNOTATORS - 1}",
            [True],
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")


def run_client(
    rule: str, number: int, seconds: float, go: threading.Barrier, out: list[float]
) -> None:
    """Claim pairs for annotators in turn until the time is over, and put the latencies in
    milliseconds into `out`."""
    from django.db import connection, transaction

    from annotation.models import Lease, Membership
    from annotation.services.judging import scheduling

    members = itertools.cycle(
        Membership.objects.select_related("campaign").order_by("pk")[number :: PROCESSES * THREADS]
    )
    member = next(members)
    values = {"campaign": member.campaign_id, "me": member.pk}

    def ours() -> None:
        if scheduling.claim_pair(next(members)) is None:
            raise SystemExit("no pair left: the pool is too small for this machine")

    def ordered_under_lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("LOCK TABLE annotation_pair IN EXCLUSIVE MODE")
            cursor.execute(RULES["fira"], values)
            cursor.fetchall()
            cursor.execute(
                "UPDATE annotation_membership SET n_served = n_served + 1 WHERE id = %s",
                [member.pk],
            )

    def least_judged() -> None:
        with connection.cursor() as cursor:
            cursor.execute(RULES["quepid"], values)
            cursor.fetchall()

    step = {"ours": ours, "fira": ordered_under_lock, "quepid": least_judged}[rule]
    Lease.objects.exists()  # open the connection
    go.wait()  # all clients of this process are ready
    go.wait()  # start time set by the parent
    until = time.time() + seconds
    while time.time() < until:
        began = time.perf_counter()
        step()
        out.append((time.perf_counter() - began) * 1000)
    connection.close()


def run_clients(rule: str, process: int, seconds: float) -> None:
    set_up_django()
    go = threading.Barrier(THREADS + 1)
    outs: list[list[float]] = [[] for _ in range(THREADS)]
    threads = [
        threading.Thread(
            target=run_client, args=(rule, process * THREADS + i, seconds, go, out), daemon=True
        )
        for i, out in enumerate(outs)
    ]
    for thread in threads:
        thread.start()
    go.wait()
    print("ready", flush=True)
    sys.stdin.readline()
    go.wait()
    for thread in threads:
        thread.join()
    print(json.dumps([ms for out in outs for ms in out]))


# In the parent process


def start_server(url: str, *arguments: str) -> subprocess.Popen[str]:
    env = {**os.environ, "ASSAY_DATABASE_URL": url, "ASSAY_SECRET_KEY": "benchmark"}
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.bench_claims", *arguments],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def release_round() -> None:
    """Release the leases of a round of claims, except the three that each annotator held before."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE annotation_lease SET state = 'released' WHERE state = 'live' AND why <> '{}'"
        )
        live = "(SELECT COUNT(*) FROM annotation_lease l WHERE l.pair_id = annotation_pair.id AND l.state = 'live')"
        cursor.execute(
            f"UPDATE annotation_pair SET held = {live}, open_slots = needed - counted - {live}, "
            f"started = (counted > 0 OR {live} > 0)"
            " WHERE held > 0"
        )


def measure_rule(url: str, rule: str, seconds: float) -> list[float]:
    if start_server(url, "--give-back").wait():
        raise SystemExit("the leases of the last round could not be given back")
    workers = [start_server(url, "--work", rule, str(i), str(seconds)) for i in range(PROCESSES)]
    for worker in workers:
        if worker.stdout is None or worker.stdout.readline() != "ready\n":
            raise SystemExit(f"a client of rule {rule} did not start")
    latencies: list[float] = []
    for worker in workers:
        if worker.stdin is not None:
            worker.stdin.write("go\n")
            worker.stdin.flush()
    for worker in workers:
        out, _ = worker.communicate()
        if worker.returncode:
            raise SystemExit(f"a client of rule {rule} failed")
        latencies += json.loads(out)
    return latencies


class BenchmarkDatabase:
    """A fresh, migrated and filled database that is dropped at the end of the benchmark."""

    def __init__(self, vendor: str, n_pairs: int) -> None:
        self.vendor, self.name = vendor, f"bench_{uuid.uuid4().hex[:12]}"
        self.folder = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{self.folder.name}/bench.sqlite3"
        if vendor == "postgresql":
            self._server(f"CREATE DATABASE {self.name}")
            self.url = SERVER.rpartition("/")[0] + "/" + self.name
        for arguments in (["--migrate"], ["--fill", str(n_pairs)]):
            if start_server(self.url, *arguments).wait():
                raise SystemExit("the database could not be made")

    def _server(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(sql)

    def __enter__(self) -> BenchmarkDatabase:
        return self

    def __exit__(self, *error: object) -> None:
        if self.vendor == "postgresql":
            self._server(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
        self.folder.cleanup()


def summarise_latencies(latencies: list[float], seconds: float) -> dict[str, float]:
    cuts = statistics.quantiles(latencies, n=100) if len(latencies) > 1 else [latencies[0]] * 99
    return {
        "per_second": len(latencies) / seconds,
        "median_ms": cuts[49],
        "p95_ms": cuts[94],
        "p99_ms": cuts[98],
        "n": len(latencies),
    }


def compare_rules(vendor: str, seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    """Measure Assay's claim and two other rules on 30,000 pairs, and Assay's on 300,000,
    alternately. Returns the median round of each."""
    rounds_of: dict[str, list[dict[str, float]]] = {
        "ours": [],
        "fira": [],
        "quepid": [],
        "ours at 300,000": [],
    }
    with (
        BenchmarkDatabase(vendor, 30_000) as database,
        BenchmarkDatabase(vendor, 300_000) as larger,
    ):
        for _ in range(rounds):
            for name, rows in rounds_of.items():
                url = larger.url if name.endswith("300,000") else database.url
                rows.append(
                    summarise_latencies(measure_rule(url, name.split()[0], seconds), seconds)
                )
    return {
        name: sorted(rows, key=lambda row: row["per_second"])[len(rows) // 2]
        for name, rows in rounds_of.items()
    }


def simulate_unreserved(judges: int, n_pairs: int, n: int, seed: int) -> float:
    """Simulate over-judging without reservations: each judge takes a random pair that has fewer
    than n judgements. Returns the judgements beyond n per pair as a share of those needed.

    This simulates Quepid's rule in memory, with the times of Assay's simulated annotators.
    """
    import heapq

    import numpy as np

    rng = np.random.default_rng(seed)
    counts, judged_by = [0] * n_pairs, [set() for _ in range(judges)]
    queue: list[tuple[float, int, int]] = [
        (float(rng.uniform(0, 60)), judge, -1) for judge in range(judges)
    ]
    heapq.heapify(queue)
    while queue:
        moment, judge, pair = heapq.heappop(queue)
        if pair >= 0:
            counts[pair] += 1
            judged_by[judge].add(pair)
        free = [i for i in range(n_pairs) if counts[i] < n and i not in judged_by[judge]]
        if free:
            took = float(np.exp(np.log(48) + 0.6 * rng.standard_normal()))
            heapq.heappush(queue, (moment + took, judge, free[int(rng.integers(len(free)))]))
    return sum(max(0, count - n) for count in counts) / (n * n_pairs)


def simulate_reserved(judges: int, n_pairs: int) -> None:
    """Simulate over-judging with Assay's scheduler and simulated annotators. Prints the judgements
    beyond n per pair as a share of those needed."""
    from datetime import timedelta

    from django.core.management import call_command
    from django.db.models import Sum
    from django.utils import timezone

    call_command("migrate", verbosity=0)
    fill_database(n_pairs, judged=False)
    from annotation.models import Campaign, Judgement
    from annotation.services.simulation import annotators as simulation
    from annotation.services.simulation import simulated_time

    campaign = Campaign.objects.get()
    annotators = simulation.recruit_annotators(campaign, judges, weights={"reliable": 1.0}, seed=1)
    simulated_time.run_directly(
        campaign,
        annotators,
        simulation.KnownGrades(None, campaign),
        reliability=0.8,
        seconds=48,
        start=timezone.now() - timedelta(days=30),
    )
    needed = campaign.pairs.aggregate(n=Sum("needed"))["n"]
    print(json.dumps((Judgement.objects.filter(current=True).count() - needed) / needed))


def main(
    quick: bool = False, vendors: tuple[str, ...] = ("postgresql", "sqlite"), seconds: float = 4.0
) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for vendor in vendors:
        figures = compare_rules(vendor, seconds, rounds=1 if quick else 3)
        ours = figures["ours"]
        for peer, name in (
            ("fira", "sorting all pairs under a table lock"),
            ("quepid", "the least judged pair by a group-by query"),
        ):
            rows.append(
                {
                    "work": f"claim of 30,000 pairs, half judged, 16 clients, {vendor}",
                    "peer": name,
                    "ratio": ours["per_second"] / figures[peer]["per_second"],
                    "at_least": 20,
                    "note": (
                        f"p95 {ours['p95_ms']:.1f} ms, {ours['per_second']:.0f} claims per second compared with "
                        f"{figures[peer]['per_second']:.0f}"
                    ),
                    "figures": figures,
                }
            )
        if vendor == "postgresql":
            rows.append(
                {
                    "work": "p95 of these claims, postgresql",
                    "peer": f"limit of {P95_LIMIT_MS} ms",
                    "ratio": P95_LIMIT_MS / ours["p95_ms"],
                    "at_least": 1.0,
                    "note": f"{ours['p95_ms']:.1f} ms, median {ours['median_ms']:.1f} ms",
                    "figures": {},
                }
            )
        larger = figures["ours at 300,000"]
        rows.append(
            {
                "work": f"claim of 300,000 pairs, {vendor}",
                "peer": "a claim of 30,000 pairs",
                "ratio": larger["per_second"] / ours["per_second"],
                "at_least": 0.67,
                "note": f"p95 {larger['p95_ms']:.1f} ms; the cost may grow by less than half",
                "figures": figures,
            }
        )
    n_pairs = 500 if quick else 1000
    for judges in (10, 50, 135):
        with tempfile.TemporaryDirectory() as folder:
            out, _ = start_server(
                f"sqlite:///{folder}/bench.sqlite3", "--over-judged", str(judges), str(n_pairs)
            ).communicate()
        theirs = statistics.median(
            simulate_unreserved(judges, n_pairs, 3, seed) for seed in range(1 if quick else 3)
        )
        note = f"{100 * json.loads(out):.1f}% over-judged compared with {100 * theirs:.1f}%"
        rows.append(
            {
                "work": f"{n_pairs:,} pairs, {judges} simulated annotators",
                "peer": "a rule without leases",
                "note": note,
                "figures": {},
            }
        )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--databases", nargs="+", default=["postgresql", "sqlite"])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--migrate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--over-judged", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--give-back", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fill", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        run_clients(options.work[0], int(options.work[1]), float(options.work[2]))
    elif options.migrate:
        set_up_django()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
    elif options.over_judged:
        set_up_django()
        simulate_reserved(*options.over_judged)
    elif options.give_back:
        set_up_django()
        release_round()
    elif options.fill:
        set_up_django()
        fill_database(options.fill)
    else:
        for row in main(options.quick, tuple(options.databases), options.seconds):
            print({key: value for key, value in row.items() if key != "figures"})
            print(
                "   ",
                {
                    name: {k: round(v, 2) for k, v in figures.items()}
                    for name, figures in row["figures"].items()
                },
            )  # type: ignore[attr-defined]
