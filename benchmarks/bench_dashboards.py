"""The manager's pages at TripJudge's size and at ten times that size, and what they cost the annotators.

    python -m benchmarks.bench_dashboards [--quick] [--databases sqlite postgresql]

A generated campaign of the size of TripJudge: a pool of 29,581 pairs, 38,810 judgements by 135 annotators (some click at random), each
with the lease it was made under, three live leases an annotator. Every page is asked for through the whole application (middleware,
session, permissions, template), and in the hard case: since the last request somebody has judged, and what is kept is too old to be
shown, so that everything that may be at most five seconds old is computed anew. The limit is the peer: 300 ms, and 1 s at ten times
the size. Then claims of pairs, twenty a second, while ten managers open a page every five seconds, beside claims while nobody looks.
"""

from __future__ import annotations

import argparse
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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVER = os.environ.get("ASSAY_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
N_PAIRS, N_JUDGEMENTS, N_ANNOTATORS, N_TOPICS, DEPTH = 29_581, 38_810, 135, 1_136, 10
LIMITS_MS = {1: 300.0, 10: 1000.0}
MANAGERS, EVERY_S, CLAIMS_PER_S = 10, 5.0, 20
PAGES = {
    "Progress": "",
    "figures of Progress": "live",
    "People": "people/",
    "one annotator": "people/A007/",
    "Agreement": "agreement/",
    "Time": "time/",
    "Gold": "gold/",
    "Labels": "labels/",
    "Feedback": "feedback/",
    "Audit": "audit/",
}
SLUG = "generated"


# --- in a process of its own, on a database of its own -------------------------------------------------------------------------


def setup() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.path.insert(0, str(ROOT))
    django.setup()


def insert(table: str, columns: str, rows: Any) -> None:
    from django.db import connection

    marks = ", ".join(["%s"] * len(columns.split(",")))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def fill(times: int) -> None:
    """The campaign `times` as large as TripJudge: pairs by rank, the best first, three judgements each until they are used up."""
    import numpy as np
    from django.contrib.auth.models import User
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.models import AuditEvent, Campaign, Feedback, Membership
    from pooling.models import Collection, Pool

    rng = np.random.default_rng(7)
    n_pairs, n_judgements, n_topics = N_PAIRS * times, N_JUDGEMENTS * times, N_TOPICS * times
    collection = Collection.objects.create(slug=SLUG, name="Generated", n_documents=n_pairs)
    pool = Pool.objects.create(collection=collection, name="generated", depth=DEPTH, n_pairs=n_pairs)
    now = timezone.now()
    campaign = Campaign.objects.create(
        slug=SLUG,
        name="Generated",
        collection=collection,
        pool=pool,
        state="open",
        target_per_annotator=0,
        deadline=now + timedelta(days=9),
    )
    users = User.objects.bulk_create(User(username=f"u{i}") for i in range(N_ANNOTATORS))
    boss = User.objects.create(username="boss")
    Membership.objects.create(campaign=campaign, user=boss, role="manager", pseudonym="M1")
    members = Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role="annotator", pseudonym=f"A{i:03d}", seed=i, last_seen=now)
        for i, user in enumerate(users)
    )
    Feedback.objects.bulk_create(Feedback(membership=m, score="GOOD", text="It was fine." if i % 3 else "") for i, m in enumerate(members))
    AuditEvent.objects.bulk_create(
        AuditEvent(campaign=campaign, actor=boss, action="invited", subject=m.pseudonym, details={"name": m.pseudonym}) for m in members
    )
    rank = np.sort(rng.integers(1, DEPTH + 1, size=n_pairs))
    topic = rng.integers(1, n_topics + 1, size=n_pairs)
    numbers = range(n_pairs)
    words = rng.integers(20, 500, size=n_pairs).tolist()
    with transaction.atomic():
        insert(
            "pooling_topic",
            "id, collection_id, topic_id, text, description, narrative, fields, position, proposal, same_as, removed_reason",
            ((i, collection.pk, f"t{i}", f"query number {i}", "", "", "{}", i, "", "", "") for i in range(1, n_topics + 1)),
        )
        insert(
            "pooling_document",
            "id, collection_id, docno, title, text, fields, n_words",
            ((i + 1, collection.pk, f"d{i}", f"Document number {i}", "word " * 60, "{}", words[i]) for i in numbers),
        )
        insert(
            "pooling_poolentry",
            "id, pool_id, topic_id, docno, document_id, best_rank, priority, position, contributions",
            (
                (i + 1, pool.pk, t, f"d{i}", i + 1, r, DEPTH - r, i, "{}")
                for i, t, r in zip(numbers, topic.tolist(), rank.tolist(), strict=True)
            ),
        )
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotation_pair (campaign_id, entry_id, topic_row, kind, priority, position, needed, counted, held, open_slots,"
                " started, unjudgeable, gold_explanation, adjudicated_reason) SELECT %s, e.id, e.topic_id, 'normal', e.priority, e.position,"
                " 3, 0, 0, 3, %s, %s, '', '' FROM pooling_poolentry e ORDER BY e.id",
                [campaign.pk, False, False],
            )
            cursor.execute("SELECT MIN(id) FROM annotation_pair")
            first_pair = cursor.fetchone()[0]
        judgements(rng, first_pair, [m.pk for m in members], n_judgements, now)
        live = now + timedelta(hours=6)
        start = first_pair + n_judgements // 3 + 10
        held = [
            (uuid.uuid4().hex, start + i, members[i % N_ANNOTATORS].pk, "live", True, now, live, '{"rule": "priority"}')
            for i in range(3 * N_ANNOTATORS)
        ]
        insert("annotation_lease", "token, pair_id, membership_id, state, takes_slot, served_at, expires_at, why", held)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE annotation_pair SET held = 1, open_slots = open_slots - 1, started = %s WHERE id >= %s AND id < %s",
                [True, start, start + len(held)],
            )
            cursor.execute(
                "UPDATE annotation_pair SET kind = 'gold', gold_grade = 2 WHERE id >= %s AND id < %s", [first_pair + 100, first_pair + 140]
            )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")


def judgements(rng: Any, first_pair: int, members: list[int], n: int, now: Any) -> None:
    """Three of each pair in order over twelve days; most annotators see the truth, every ninth clicks at random."""
    import numpy as np
    from django.db import connection

    pair = np.arange(n) // 3
    truth = rng.choice(4, p=[0.25, 0.25, 0.25, 0.25], size=pair[-1] + 1)[pair]
    # the annotators of one pair differ: a random start and two different steps from it
    start, step = rng.integers(len(members), size=pair[-1] + 1)[pair], rng.integers(1, len(members) // 3, size=pair[-1] + 1)[pair]
    who = (start + (np.arange(n) % 3) * step) % len(members)
    guess = (rng.random(n) > 0.7) | (who % 9 == 0)
    grade = np.where(guess, rng.integers(4, size=n), truth)
    active = rng.gamma(2.0, 12_000, size=n).astype(int) + 1_000
    at = now.timestamp() - np.sort(rng.random(n))[::-1] * 12 * 86_400
    from datetime import UTC, datetime

    def rows() -> Any:
        for i, (p, w, g, ms, t) in enumerate(zip(pair.tolist(), who.tolist(), grade.tolist(), active.tolist(), at.tolist(), strict=True)):
            moment = datetime.fromtimestamp(t, UTC)
            standing = "too fast" if i % 997 == 0 else "counted"
            yield (
                uuid.UUID(int=i).hex, first_pair + p, members[w], 1, True, g, "", "", "[]", standing, False, False,
                900 if standing == "too fast" else ms, 0, 500, ms + 500, ms + 700, 1, "keyboard", moment, moment,
            )  # fmt: skip

    insert(
        "annotation_judgement",
        "key, pair_id, membership_id, revision, current, grade, cannot_reason, note, spans, standing, late, after_deadline,"
        " active_ms, idle_ms, hidden_ms, wall_ms, server_ms, guideline_version, device, judged_at, received_at",
        rows(),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotation_lease (token, pair_id, membership_id, state, takes_slot, served_at, expires_at, why)"
            " SELECT j.key, j.pair_id, j.membership_id, 'submitted', %s, j.judged_at, j.judged_at, '{}' FROM annotation_judgement j",
            [True],
        )
        made = "(SELECT COUNT(*) FROM annotation_judgement j WHERE j.pair_id = annotation_pair.id AND j.standing = 'counted')"
        cursor.execute(
            f"UPDATE annotation_pair SET counted = {made}, open_slots = needed - {made}, started = %s WHERE id < %s",
            [True, first_pair + int(pair[-1]) + 1],
        )


def manager() -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="boss"))
    return client


def do_jobs() -> float:
    """What the worker does: the figures for which pages wait. -> seconds"""
    from pooling import jobs
    from pooling.models import Job

    began = time.perf_counter()
    for job in Job.objects.filter(state=Job.State.QUEUED).order_by("pk"):
        jobs.run_job(job.pk)
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise SystemExit(f"the job {job.kind} ended as {job.state}: {job.message}")
    return time.perf_counter() - began


def somebody_judges(n: list[int]) -> None:
    """A claim and its answer, by one annotator after the other."""
    from annotation.models import Membership
    from annotation.services import judging, scheduling

    n[0] += 1
    member = Membership.objects.select_related("campaign", "user").filter(role="annotator").order_by("pk")[n[0] % N_ANNOTATORS]
    lease = scheduling.claim(member)
    if lease is None:
        raise SystemExit("no pair is left to claim")
    answer = judging.Answer(grade=n[0] % 4, active_ms=5000, wall_ms=5500)
    judging.submit(member, lease=lease.token, key=uuid.uuid4(), answer=answer)


def pages(rounds: int) -> dict[str, Any]:
    from analysis.selectors import live

    client = manager()
    first: dict[str, float] = {}
    for name, page in PAGES.items():
        began = time.perf_counter()
        answer = client.get(f"/campaigns/{SLUG}/{page}")
        first[name] = (time.perf_counter() - began) * 1000
        if answer.status_code != 200:
            raise SystemExit(f"{name}: {answer.status_code}")
    jobs_s = do_jobs()
    took: dict[str, list[float]] = {name: [] for name in PAGES}
    busy: dict[str, list[float]] = {name: [] for name in PAGES}
    judged = [0]
    for _ in range(rounds):
        for name, page in PAGES.items():
            somebody_judges(judged)
            live.age_everything()
            began, cpu = time.perf_counter(), time.process_time()
            answer = client.get(f"/campaigns/{SLUG}/{page}")
            took[name].append((time.perf_counter() - began) * 1000)
            busy[name].append((time.process_time() - cpu) * 1000)
            if answer.status_code != 200:
                raise SystemExit(f"{name}: {answer.status_code}")
    return {
        "median": {name: statistics.median(values) for name, values in took.items()},
        "processor": {name: statistics.median(values) for name, values in busy.items()},
        "first": first,
        "jobs_s": jobs_s,
    }


def look(seconds: float) -> None:
    """Ten managers, each opening a page every five seconds."""
    clients = [manager() for _ in range(MANAGERS)]
    addresses = list(PAGES.values())
    for page in addresses:
        clients[0].get(f"/campaigns/{SLUG}/{page}")
    print("ready", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + seconds

    def one(i: int) -> None:
        turn = i
        time.sleep(EVERY_S * i / MANAGERS)
        while time.monotonic() < until:
            began = time.monotonic()
            clients[i].get(f"/campaigns/{SLUG}/{addresses[turn % len(addresses)] if turn % 2 else 'live'}")
            turn += 1
            time.sleep(max(0.0, EVERY_S - (time.monotonic() - began)))

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(MANAGERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def claims(seconds: float) -> list[float]:
    """Twenty claims a second, each answered, by annotators in turn. -> milliseconds of each claim"""
    from annotation.models import Membership
    from annotation.services import judging, scheduling

    members = list(Membership.objects.select_related("campaign", "user").filter(role="annotator").order_by("pk"))
    took = []
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    turn = 0
    while (gone := time.monotonic() - began) < seconds:
        member = members[(turn * 7) % len(members)]
        start = time.perf_counter()
        lease = scheduling.claim(member)
        took.append((time.perf_counter() - start) * 1000)
        if lease is None:
            raise SystemExit("no pair is left to claim")
        judging.submit(member, lease=lease.token, key=uuid.uuid4(), answer=judging.Answer(grade=turn % 4, active_ms=5000, wall_ms=5500))
        turn += 1
        time.sleep(max(0.0, turn / CLAIMS_PER_S - gone))
    return took


# --- in the parent -------------------------------------------------------------------------------------------------------------


class Database:
    """A fresh, migrated and filled database in a folder of its own, dropped at the end."""

    def __init__(self, vendor: str, times: int) -> None:
        self.vendor, self.name = vendor, f"bench_{uuid.uuid4().hex[:12]}"
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {
            **os.environ,
            "ASSAY_DATA_DIR": self.folder.name,
            "ASSAY_DATABASE_URL": f"sqlite:///{self.folder.name}/bench.sqlite3",
        }
        if vendor == "postgresql":
            self._server(f"CREATE DATABASE {self.name}")
            self.environment["ASSAY_DATABASE_URL"] = SERVER.rpartition("/")[0] + "/" + self.name
        self.ask("--fill", str(times))

    def _server(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(sql)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "benchmarks.bench_dashboards", *arguments]
        return subprocess.Popen(command, cwd=ROOT, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *arguments: str) -> Any:
        process = self.start(*arguments)
        out, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed on {self.vendor}")
        return json.loads(out) if out.strip() else None

    def claims(self, seconds: float, *, looked_at: bool) -> list[float]:
        processes = [self.start("--claims", str(seconds))] + ([self.start("--look", str(seconds))] if looked_at else [])
        for process in processes:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise RuntimeError("a process did not start")
        for process in processes:
            if process.stdin is not None:
                process.stdin.write("go\n")
                process.stdin.flush()
        out = [process.communicate()[0] for process in processes]
        if any(process.returncode for process in processes):
            raise RuntimeError("a process failed")
        return list(json.loads(out[0]))

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        if self.vendor == "postgresql":
            self._server(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
        self.folder.cleanup()


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def main(
    quick: bool = False, vendors: tuple[str, ...] = ("sqlite", "postgresql"), sizes: tuple[int, ...] = (1, 10)
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for vendor in vendors:
        for times in (1,) if quick else sizes:
            with Database(vendor, times) as database:
                found = database.ask("--pages", "3" if quick else "9")
                for name, ms in found["median"].items():
                    rows.append(
                        {
                            "work": f"page {name}, {N_JUDGEMENTS * times:,} judgements, {vendor}",
                            "peer": f"{LIMITS_MS[times]:.0f} ms",
                            "ratio": LIMITS_MS[times] / ms,
                            "at_least": 1.0,
                            "note": f"median {ms:.0f} ms, {found['processor'][name]:.0f} ms of processor time; the very first {found['first'][name]:.0f} ms",
                        }
                    )
                print(f"{vendor} x{times}: figures of the worker took {found['jobs_s']:.1f} s", file=sys.stderr)
                if times > 1:
                    continue
                none: list[float] = []
                some: list[float] = []
                for _ in range(1 if quick else 3):
                    none += database.claims(5 if quick else 12, looked_at=False)
                    some += database.claims(5 if quick else 12, looked_at=True)
                rows.append(
                    {
                        "work": f"claim, p95, while {MANAGERS} managers look, {vendor}",
                        "peer": "the same while nobody looks",
                        "ratio": p95(none) / p95(some),
                        "note": f"p95 {p95(some):.1f} ms beside {p95(none):.1f} ms, "
                        f"median {statistics.median(some):.1f} beside {statistics.median(none):.1f} ms",
                    }
                )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 10])
    for hidden in ("--fill", "--pages"):
        parser.add_argument(hidden, type=int, help=argparse.SUPPRESS)
    for hidden in ("--look", "--claims"):
        parser.add_argument(hidden, type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        fill(options.fill)
    elif options.pages:
        setup()
        print(json.dumps(pages(options.pages)))
    elif options.look:
        setup()
        look(options.look)
    elif options.claims:
        setup()
        print(json.dumps(claims(options.claims)))
    else:
        for row in main(options.quick, tuple(options.databases), tuple(options.sizes)):
            print({key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()})
