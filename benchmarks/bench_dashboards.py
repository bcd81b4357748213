"""Managers' pages at the size of TripJudge and at ten times that size, and their cost for
annotators.

    python -m benchmarks.bench_dashboards [--quick] [--databases sqlite postgresql]

A generated campaign of the size of TripJudge: a pool of 29,581 pairs, 38,810 judgements by 135
annotators (some click at random), each with its lease, and three live leases per annotator. Every
page is requested through the whole application (middleware, session, permissions, template), in the
worst case: someone has judged since the last request and cached values are too old to be shown, so
that everything that may be at most five seconds old is computed again. The peer is the limit of 300
ms, and of 1 s at ten times the size. The first page of a new process reads all judgements and is
measured in processes that have only started. Its limit is 1 s, and 10 s at ten times the size.

Then the whole installation runs: two web processes and a worker that computes the values for pages.
The load is ten claims per second directly from the scheduler, and ten judgements per second over
HTTP, each answered with the next pairs. In every other round ten managers have the overview
open, which requests its values every three seconds, and every third time each opens another page
instead. The result is the median over rounds of each round's 95th percentile, with and without
managers in alternation.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks import dashboard_load

ROOT = Path(__file__).resolve().parent.parent
SERVER = os.environ.get("ASSAY_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
N_PAIRS, N_JUDGEMENTS, N_ANNOTATORS, N_TOPICS, DEPTH = 29_581, 38_810, 135, 1_136, 10
LIMITS_MS, FIRST_MS = {1: 300.0, 10: 1000.0}, {1: 1000.0, 10: 10_000.0}
MANAGERS, EVERY_S, PER_S = 10, 3.0, 10.0
PAGES = {
    "Overview": "",
    "figures of the overview": "live",
    "People": "people/",
    "of one annotator": "people/A007/",
    "Quality": "agreement/",
    "Gold": "gold/",
    "Judgements": "judgements/",
    "Feedback": "feedback/",
    "Audit": "audit/",
}
SLUG = "generated"


# In its own process, on its own database


def set_up_django() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.path.insert(0, str(ROOT))
    django.setup()


def insert_rows(table: str, columns: str, rows: Any) -> None:
    from django.db import connection

    marks = ", ".join(["%s"] * len(columns.split(",")))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def fill_database(times: int) -> None:
    """Create the campaign at `times` the size of TripJudge. Pairs get three judgements each by
    rank, best first, until the judgements are used up."""
    import numpy as np
    from django.contrib.auth.models import User
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.models import AuditEvent, Campaign, Feedback, Membership
    from pooling.models import Collection, Pool

    rng = np.random.default_rng(7)
    n_pairs, n_judgements, n_topics = N_PAIRS * times, N_JUDGEMENTS * times, N_TOPICS * times
    collection = Collection.objects.create(slug=SLUG, name="Generated", n_documents=n_pairs)
    pool = Pool.objects.create(
        collection=collection, name="generated", depth=DEPTH, n_pairs=n_pairs
    )
    now = timezone.now()
    campaign = Campaign.objects.create(
        slug=SLUG,
        name="Generated",
        collection=collection,
        pool=pool,
        state="open",
        n_pairs=n_pairs,
        target_per_annotator=0,
        deadline=now + timedelta(days=9),
    )
    users = User.objects.bulk_create(User(username=f"u{i}") for i in range(N_ANNOTATORS))
    managers = [User.objects.create(username=f"boss{i}") for i in range(MANAGERS)]
    boss = managers[0]
    for i, user in enumerate(managers):
        Membership.objects.create(campaign=campaign, user=user, role="manager", pseudonym=f"M{i}")
    members = Membership.objects.bulk_create(
        Membership(
            campaign=campaign,
            user=user,
            role="annotator",
            pseudonym=f"A{i:03d}",
            seed=i,
            n_judged=n_judgements // N_ANNOTATORS,
            last_seen=now,
        )
        for i, user in enumerate(users)
    )
    Feedback.objects.bulk_create(
        Feedback(membership=m, score="GOOD", text="It was fine." if i % 3 else "")
        for i, m in enumerate(members)
    )
    AuditEvent.objects.bulk_create(
        AuditEvent(
            campaign=campaign,
            actor=boss,
            action="invited",
            subject=m.pseudonym,
            details={"name": m.pseudonym},
        )
        for m in members
    )
    rank = np.sort(rng.integers(1, DEPTH + 1, size=n_pairs))
    topic = rng.integers(1, n_topics + 1, size=n_pairs)
    numbers = range(n_pairs)
    words = rng.integers(20, 500, size=n_pairs).tolist()
    with transaction.atomic():
        insert_rows(
            "pooling_topic",
            (
                "id, collection_id, topic_id, text, description, narrative, fields, position, "
                "proposal, same_as, removed_reason"
            ),
            (
                (i, collection.pk, f"t{i}", f"query number {i}", "", "", "{}", i, "", "", "")
                for i in range(1, n_topics + 1)
            ),
        )
        insert_rows(
            "pooling_document",
            "id, collection_id, docno, title, text, fields, n_words",
            (
                (
                    i + 1,
                    collection.pk,
                    f"d{i}",
                    f"Document number {i}",
                    "word " * 60,
                    "{}",
                    words[i],
                )
                for i in numbers
            ),
        )
        insert_rows(
            "pooling_poolentry",
            "id, pool_id, topic_id, docno, document_id, best_rank, priority, position, contributions",
            (
                (i + 1, pool.pk, t, f"d{i}", i + 1, r, DEPTH - r, i, "{}")
                for i, t, r in zip(numbers, topic.tolist(), rank.tolist(), strict=True)
            ),
        )
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotation_pair (campaign_id, entry_id, topic_row, kind, priority, "
                "position, needed, counted, held, open_slots,"
                " started, unjudgeable, gold_explanation, adjudicated_reason) SELECT %s, e.id, "
                "e.topic_id, 'normal', e.priority, e.position,"
                " 3, 0, 0, 3, %s, %s, '', '' FROM pooling_poolentry e ORDER BY e.id",
                [campaign.pk, False, False],
            )
            cursor.execute("SELECT MIN(id) FROM annotation_pair")
            first_pair = cursor.fetchone()[0]
        insert_judgements(rng, first_pair, [m.pk for m in members], n_judgements, now)
        live = now + timedelta(hours=6)
        start = first_pair + n_judgements // 3 + 10
        held = [
            (
                uuid.uuid4().hex,
                start + i,
                members[i % N_ANNOTATORS].pk,
                "live",
                True,
                now,
                live,
                '{"rule": "priority"}',
            )
            for i in range(3 * N_ANNOTATORS)
        ]
        insert_rows(
            "annotation_lease",
            "token, pair_id, membership_id, state, takes_slot, served_at, expires_at, why",
            held,
        )
        with connection.cursor() as cursor:
            cursor.execute(
                (
                    "UPDATE annotation_pair SET held = 1, open_slots = open_slots - 1, started = %s "
                    "WHERE id >= %s AND id < %s"
                ),
                [True, start, start + len(held)],
            )
            cursor.execute(
                "UPDATE annotation_pair SET kind = 'gold', gold_grade = 2 WHERE id >= %s AND id < %s",
                [first_pair + 100, first_pair + 140],
            )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")


def insert_judgements(rng: Any, first_pair: int, members: list[int], n: int, now: Any) -> None:
    """Insert three judgements per pair, in order, over twelve days. Most annotators see the true
    grade, and every ninth clicks at random."""
    import numpy as np
    from django.db import connection

    pair = np.arange(n) // 3
    truth = rng.choice(4, p=[0.25, 0.25, 0.25, 0.25], size=pair[-1] + 1)[pair]
    # a random start and two different steps, so that the annotators of a pair differ
    start, step = (
        rng.integers(len(members), size=pair[-1] + 1)[pair],
        rng.integers(1, len(members) // 3, size=pair[-1] + 1)[pair],
    )
    who = (start + (np.arange(n) % 3) * step) % len(members)
    guess = (rng.random(n) > 0.7) | (who % 9 == 0)
    grade = np.where(guess, rng.integers(4, size=n), truth)
    active = rng.gamma(2.0, 12_000, size=n).astype(int) + 1_000
    at = now.timestamp() - np.sort(rng.random(n))[::-1] * 12 * 86_400
    from datetime import UTC, datetime

    def rows() -> Any:
        for i, (p, w, g, ms, t) in enumerate(
            zip(
                pair.tolist(),
                who.tolist(),
                grade.tolist(),
                active.tolist(),
                at.tolist(),
                strict=True,
            )
        ):
            moment = datetime.fromtimestamp(t, UTC)
            status = "too fast" if i % 997 == 0 else "counted"
            yield (
                uuid.UUID(int=i).hex,
                first_pair + p,
                members[w],
                1,
                True,
                g,
                "",
                "",
                "[]",
                status,
                False,
                False,
                900 if status == "too fast" else ms,
                0,
                500,
                ms + 500,
                ms + 700,
                1,
                "keyboard",
                moment,
                moment,
            )

    insert_rows(
        "annotation_judgement",
        "key, pair_id, membership_id, revision, current, grade, cannot_reason, note, spans, "
        "status, late, after_deadline,"
        " active_ms, idle_ms, hidden_ms, wall_ms, server_ms, guideline_version, device, judged_at, received_at",
        rows(),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO annotation_lease (token, pair_id, membership_id, state, takes_slot, "
            "served_at, expires_at, why)"
            " SELECT j.key, j.pair_id, j.membership_id, 'submitted', %s, j.judged_at, "
            "j.judged_at, '{}' FROM annotation_judgement j",
            [True],
        )
        made = (
            "(SELECT COUNT(*) FROM annotation_judgement j WHERE j.pair_id = annotation_pair.id "
            "AND j.status = 'counted')"
        )
        cursor.execute(
            f"UPDATE annotation_pair SET counted = {made}, open_slots = needed - {made}, started = %s WHERE id < %s",
            [True, first_pair + int(pair[-1]) + 1],
        )


def get_manager() -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="boss0"))
    return client


def run_jobs() -> float:
    """Run the jobs whose results pages need, as the worker does. Returns the seconds taken."""
    from pooling.models import Job
    from pooling.platform import jobs

    began = time.perf_counter()
    for job in Job.objects.filter(state=Job.State.QUEUED).order_by("pk"):
        jobs.run_job(job.pk)
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise SystemExit(f"the job {job.kind} ended as {job.state}: {job.message}")
    return time.perf_counter() - began


def submit_judgements(n: list[int]) -> None:
    """Claim one pair and submit a judgement. n: counter of the calls, which selects the annotator
    and the grade."""
    from annotation.models import Membership
    from annotation.services.judging import scheduling, submission

    n[0] += 1
    member = (
        Membership.objects.select_related("campaign", "user")
        .filter(role="annotator")
        .order_by("pk")[n[0] % N_ANNOTATORS]
    )
    lease = scheduling.claim_pair(member)
    if lease is None:
        raise SystemExit("no pair is left to claim")
    answer = submission.Answer(grade=n[0] % 4, active_ms=5000, wall_ms=5500)
    submission.submit_judgement(member, lease=lease.token, key=uuid.uuid4(), answer=answer)


def measure_pages(rounds: int) -> dict[str, Any]:
    from analysis.judgements import live

    client = get_manager()
    for name, page in PAGES.items():
        answer = client.get(f"/campaigns/{SLUG}/{page}")
        if answer.status_code != 200:
            raise SystemExit(f"{name}: {answer.status_code}")
    jobs_s = run_jobs()
    took: dict[str, list[float]] = {name: [] for name in PAGES}
    busy: dict[str, list[float]] = {name: [] for name in PAGES}
    judged = [0]
    for _ in range(rounds):
        for name, page in PAGES.items():
            submit_judgements(judged)
            live.expire_caches()
            began, cpu = time.perf_counter(), time.process_time()
            answer = client.get(f"/campaigns/{SLUG}/{page}")
            took[name].append((time.perf_counter() - began) * 1000)
            busy[name].append((time.process_time() - cpu) * 1000)
            if answer.status_code != 200:
                raise SystemExit(f"{name}: {answer.status_code}")
    return {
        "median": {name: statistics.median(values) for name, values in took.items()},
        "processor": {name: statistics.median(values) for name, values in busy.items()},
        "jobs_s": jobs_s,
    }


def measure_first_page() -> float:
    """Return how many milliseconds the first page of this process takes. URLs are resolved
    beforehand, as in a web process."""
    from django.urls import get_resolver

    _ = get_resolver().url_patterns
    client = get_manager()
    began = time.perf_counter()
    answer = client.get(f"/campaigns/{SLUG}/")
    if answer.status_code != 200:
        raise SystemExit(f"the first page: {answer.status_code}")
    return (time.perf_counter() - began) * 1000


def run_managers(port: int) -> None:
    from django.contrib.auth.models import User

    pages = [f"/campaigns/{SLUG}/{page}" for page in PAGES.values() if page != "live"]
    bosses = list(User.objects.filter(username__startswith="boss").order_by("pk"))
    dashboard_load.serve_commands(
        dashboard_load.start_managing(port, f"/campaigns/{SLUG}/live", pages, EVERY_S, bosses)
    )


def run_judging(port: int) -> None:
    from django.contrib.auth.models import User

    users = list(User.objects.filter(username__startswith="u").order_by("pk"))[::3]
    dashboard_load.serve_commands(dashboard_load.start_judging(port, SLUG, PER_S, users))


def measure_claims() -> None:
    """Print the milliseconds of each claim. Each claimed pair is judged. Annotators claim in turn
    and do not judge over HTTP."""
    from annotation.models import Membership
    from annotation.services.judging import scheduling, submission

    everybody = list(
        Membership.objects.select_related("campaign", "user")
        .filter(role="annotator")
        .order_by("pk")
    )
    members = [member for i, member in enumerate(everybody) if i % 3]
    turn = 0

    def work(seconds: float) -> list[float]:
        nonlocal turn
        took: list[float] = []
        began = time.monotonic()
        while (due := len(took) / PER_S) < seconds:
            time.sleep(max(0.0, began + due - time.monotonic()))
            member = members[(turn * 7) % len(members)]
            start = time.perf_counter()
            lease = scheduling.claim_pair(member)
            took.append((time.perf_counter() - start) * 1000)
            if lease is None:
                raise SystemExit("no pair is left to claim")
            answer = submission.Answer(grade=turn % 4, active_ms=5000, wall_ms=5500)
            submission.submit_judgement(member, lease=lease.token, key=uuid.uuid4(), answer=answer)
            turn += 1
        return took

    dashboard_load.serve_commands(work)


# In the parent process


class BenchmarkDatabase:
    """A fresh, migrated and filled database in its own folder, dropped at the end of the benchmark.
    code: folder of the version whose pages are requested."""

    def __init__(self, vendor: str, times: int, code: Path = ROOT) -> None:
        self.code = code
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
        return subprocess.Popen(
            command,
            cwd=self.code,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *arguments: str) -> Any:
        process = self.start(*arguments)
        out, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed on {self.vendor}")
        return json.loads(out) if out.strip() else None

    def load(self, rounds: int, seconds: float) -> dict[str, Any]:
        """Measure annotators' requests without and with managers ("none" and "some"). Returns for
        each the 95th percentile and median of claims and of judgements (ms) of each round, and
        processor seconds."""
        kinds = ("claims", "judgements", "web", "worker", "page", "strip")
        times_of: dict[str, Any] = {who: {kind: [] for kind in kinds} for who in ("none", "some")}
        with dashboard_load.running_server(self.environment) as (port, process):
            workers = [
                dashboard_load.BenchmarkProcess(self.start(f"--{name}", str(port)))
                for name in ("claims", "judge", "look")
            ]
            try:
                for turn in range(-1, 2 * rounds):  # one additional round to warm up
                    who = "some" if turn % 2 else "none"
                    at_work = workers if who == "some" else workers[:2]
                    before = dashboard_load.processor_seconds(process.pid)
                    for worker in at_work:
                        worker.tell(seconds)
                    heard = [worker.hear() for worker in at_work]
                    after = dashboard_load.processor_seconds(process.pid)
                    if turn < 0:
                        continue
                    times_of[who]["claims"].append(heard[0])
                    times_of[who]["judgements"].append(heard[1])
                    for part in after:
                        times_of[who][part].append(after[part] - before[part])
                    for part, took in (heard[2] if who == "some" else {}).items():
                        times_of[who][part] += took
            finally:
                for worker in workers:
                    worker.end()
        return times_of

    def __enter__(self) -> BenchmarkDatabase:
        return self

    def __exit__(self, *error: object) -> None:
        if self.vendor == "postgresql":
            self._server(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")
        self.folder.cleanup()


def percentile_95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def median_of_rounds(rounds: list[list[float]], figure: Any) -> float:
    return statistics.median(figure(values) for values in rounds)


def page_rows(
    database: BenchmarkDatabase, vendor: str, times: int, *, rounds: int
) -> list[dict[str, Any]]:
    size = f"{N_JUDGEMENTS * times:,} judgements, {vendor}"
    first = statistics.median(database.ask("--first") for _ in range(3))
    timings = database.ask("--pages", str(rounds))
    rows = []
    for name, ms in timings["median"].items():
        note = f"median {ms:.0f} ms, {timings['processor'][name]:.0f} ms of processor time"
        rows.append(limit_row(f"page {name}, {size}", ms, LIMITS_MS[times], note))
    work = f"first page of a new process, {size}"
    rows.append(limit_row(work, first, FIRST_MS[times], f"{first:.0f} ms"))
    print(
        f"{vendor} x{times}: figures of the worker took {timings['jobs_s']:.1f} s", file=sys.stderr
    )
    return rows


def limit_row(work: str, ms: float, limit: float, note: str) -> dict[str, Any]:
    return {
        "work": work,
        "peer": f"limit of {limit:.0f} ms",
        "ratio": limit / ms,
        "at_least": 1.0,
        "note": note,
    }


def load_rows(
    database: BenchmarkDatabase, vendor: str, *, rounds: int, seconds: float
) -> list[dict[str, Any]]:
    times = database.load(rounds, seconds)
    none, some = times["none"], times["some"]
    rows = []
    for kind, name in (("claims", "claim"), ("judgements", "judgement and next pairs over HTTP")):
        with_them, without = (
            median_of_rounds(some[kind], percentile_95),
            median_of_rounds(none[kind], percentile_95),
        )
        middle = (
            f"median {median_of_rounds(some[kind], statistics.median):.1f} compared with "
            f"{median_of_rounds(none[kind], statistics.median):.1f} ms"
        )
        spread = f"{min(map(percentile_95, none[kind])):.1f} to {max(map(percentile_95, none[kind])):.1f} ms in rounds without managers"
        rows.append(
            {
                "work": f"{name}, p95, while {MANAGERS} managers view pages, {vendor}",
                "peer": "without managers",
                "ratio": without / with_them,
                "note": f"p95 {with_them:.1f} ms compared with {without:.1f} ms ({spread}), {middle}",
            }
        )
    web, worker = (
        statistics.median(some[part]) - statistics.median(none[part]) for part in ("web", "worker")
    )
    note = f"web processes {web:.2f} s more, worker {worker:.2f} s more; "
    note += f"responses to managers: statistics p95 {percentile_95(some['strip']):.0f} ms, pages p95 {percentile_95(some['page']):.0f} ms"
    rows.append(
        {
            "work": f"processor time of {MANAGERS} managers in {seconds:.0f} s, {vendor}",
            "peer": "without managers",
            "note": note,
        }
    )
    return rows


def main(
    quick: bool = False,
    vendors: tuple[str, ...] = ("sqlite", "postgresql"),
    sizes: tuple[int, ...] = (1, 10),
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for vendor in vendors:
        for times in (1,) if quick else sizes:
            with BenchmarkDatabase(vendor, times) as database:
                rows += page_rows(database, vendor, times, rounds=3 if quick else 9)
                if times == 1:
                    rows += load_rows(
                        database, vendor, rounds=2 if quick else 4, seconds=4.0 if quick else 8.0
                    )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 10])
    for hidden in ("--fill", "--pages", "--look", "--judge", "--claims"):
        parser.add_argument(hidden, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        set_up_django()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        fill_database(options.fill)
    elif options.pages:
        set_up_django()
        print(json.dumps(measure_pages(options.pages)))
    elif options.first:
        set_up_django()
        print(json.dumps(measure_first_page()))
    elif options.look:
        set_up_django()
        run_managers(options.look)
    elif options.judge:
        set_up_django()
        run_judging(options.judge)
    elif options.claims:
        set_up_django()
        measure_claims()
    else:
        for row in main(options.quick, tuple(options.databases), tuple(options.sizes)):
            print(
                {
                    key: round(value, 2) if isinstance(value, float) else value
                    for key, value in row.items()
                }
            )
