"""Simulation of many annotators who judge at the same time on one database, in several processes
and threads. test_concurrency runs it.

    ASSAY_DATABASE_URL=... python -m tests.annotation.storm orderly|attack [--annotators 200]
    [--processes 2] [--threads 6]

*orderly*: annotators claim, one or three at once, and submit. No lease is released, so annotators
never return to a better rank window. *attack*: dropouts, expired leases, late answers, repeated and
simultaneous requests of one annotator, revisions, exclusions and inclusions, pauses, changed
judgements per pair, an extended pool and pairs made gold, all while annotators judge. The counters
are audited from a consistent snapshot during the simulation and after it. Then all remaining pairs
are judged. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
import traceback
import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import django

STEPS = 45  # per thread of an attack
KINDS = ["exclude", "pause", "n", "extend", "gold", "audit"]  # a manager's disturbances
MINUTE = timedelta(minutes=1)


def setup() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()


# --- one process of annotators
# --------------------------------------------------------------------------------------------------


def annotators_at_work(kind: str, worker: int, threads: int) -> dict[str, Any]:
    from annotation.models import Membership

    members = list(
        Membership.objects.filter(role="annotator")
        .select_related("campaign", "user")
        .order_by("pk")
    )
    counts: Counter[str] = Counter()
    errors: list[str] = []

    def run(number: int) -> None:
        from django.db import connection

        rng = random.Random(1000 * worker + number)
        step = orderly if kind == "orderly" else attack
        nothing = 0
        try:
            # In an orderly run each annotator belongs to one thread. In an attack every thread
            # may act for every annotator.
            mine = (
                members[worker * threads + number :: 2 * threads] if kind == "orderly" else members
            )
            while nothing < 3 * len(mine) and (
                kind == "orderly" or counts.total() < STEPS * threads
            ):
                did = step(rng.choice(mine), rng)
                counts[did] += 1
                nothing = nothing + 1 if did == "nothing" else 0
        except Exception:
            errors.append(traceback.format_exc())
        finally:
            connection.close()

    pool = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    return {"counts": dict(counts), "errors": errors}


def send(
    member: Any,
    lease: Any,
    rng: random.Random,
    *,
    now: Any,
    key: uuid.UUID | None = None,
    active_ms: int = 20_000,
) -> Any:
    from annotation.services.judging import submission

    grade = rng.choice([0, 1, 2, 3, 3, None]) if rng.random() < 0.2 else rng.randrange(4)
    reason = rng.choice(["query", "document", "language"]) if grade is None else ""
    answer = submission.Answer(
        grade=grade, cannot_reason=reason, active_ms=active_ms, wall_ms=30_000
    )
    return submission.submit_judgement(
        member, lease=lease.token, key=key or uuid.uuid4(), answer=answer, now=now
    )


def orderly(member: Any, rng: random.Random) -> str:
    from django.utils import timezone

    from annotation.services.judging import scheduling, submission

    now = timezone.now()
    scheduling.claim_pairs(
        member, rng.choice([1, 3]), now=now
    )  # one, or all that a page holds in one transaction
    status = "nothing"
    for lease in member.leases.filter(state="live").order_by("pk"):
        answer = submission.Answer(grade=rng.randrange(4), active_ms=20_000, wall_ms=30_000)
        key, later = uuid.uuid4(), now + timedelta(seconds=40)
        status = submission.submit_judgement(
            member, lease=lease.token, key=key, answer=answer, now=later
        ).judgement.status
    return status


def attack(member: Any, rng: random.Random) -> str:
    from django.utils import timezone

    from annotation.models import Judgement, Membership
    from annotation.services.errors import AnswerRefused
    from annotation.services.judging import leases, scheduling, submission

    member = Membership.objects.select_related("campaign", "user").get(pk=member.pk)
    now, dice = timezone.now(), rng.random()
    try:
        if dice < 0.06:
            row = Judgement.objects.filter(membership=member, current=True).order_by("?").first()
            if row is None:
                return "nothing to revise"
            grade = rng.choice([0, 1, 2, 3, None])
            answer = submission.Answer(
                grade=grade, cannot_reason="" if grade is not None else "other", active_ms=9_000
            )
            submission.revise_judgement(member, row.pk, key=uuid.uuid4(), answer=answer, now=now)
            return "revised"
        late = 0.06 <= dice < 0.16
        lease = scheduling.claim_pair(member, now=now - 20 * MINUTE if late else now)
        if lease is None:
            return "nothing"
        if late:  # the lease has expired, and another annotator may have the pair
            return f"late, {send(member, lease, rng, now=now).judgement.status}"
        if dice < 0.24:
            return "dropped out"
        if dice < 0.30:
            scheduling.claim_pairs(member, 4, now=now)
            leases.release_leases(member, None if dice < 0.27 else [lease.token], now=now)
            return "released"
        if dice < 0.36:
            submission.skip_pair(member, lease=lease.token, now=now)
            return "skipped"
        if dice < 0.44:
            return send(member, lease, rng, now=now + MINUTE, active_ms=300).judgement.status
        key = uuid.uuid4()
        first = send(member, lease, rng, now=now + MINUTE, key=key).judgement
        if dice < 0.54:
            again = send(member, lease, rng, now=now + MINUTE, key=key).judgement
            if again.pk != first.pk:
                raise AssertionError("the same key made two judgements")
            return "repeated"
        return first.status
    except AnswerRefused as error:
        if error.code not in ("already_judged", "excluded"):
            raise
        return error.code


# --- the process that prepares, disturbs and audits
# ------------------------------------------------------------------------------


def consistent_audit(campaign: Any) -> list[str]:
    from annotation.selectors.judging import check_invariants
    from pooling.platform.snapshot import snapshot

    with snapshot():
        campaign.refresh_from_db()
        return check_invariants(campaign)


def disturb(
    campaign: Any, processes: list[subprocess.Popen[str]], rng: random.Random
) -> tuple[Counter[str], list[str]]:
    """Act as a manager who keeps changing the campaign until the annotators have finished, and
    audit now and then."""
    from annotation.models import Campaign, Membership, Pair
    from annotation.services.campaigns import lifecycle
    from annotation.services.people import exclusion
    from pooling.models import PoolEntry

    done: Counter[str] = Counter()
    found: list[str] = []
    members = list(Membership.objects.filter(role="annotator").select_related("campaign", "user"))
    hidden = list(PoolEntry.objects.filter(pool__name="kept back"))
    bag: list[str] = []
    while any(process.poll() is None for process in processes):
        campaign = Campaign.objects.get(pk=campaign.pk)
        if not bag:  # each kind once, then again, so that even a short run includes all of them
            bag = rng.sample(KINDS, len(KINDS))
        choice = bag.pop()
        member = Membership.objects.select_related("campaign", "user").get(
            pk=rng.choice(members).pk
        )
        if choice == "exclude" and member.status != "excluded":
            exclusion.exclude_annotator(member, reason="storm", actor=None)
            if rng.random() < 0.8:
                exclusion.include_annotator(member, actor=None)
        elif choice == "pause" and member.status == "active":
            exclusion.pause_annotator(member, reason="storm", actor=None)
            exclusion.resume_annotator(member, actor=None)
        elif choice == "n":
            n = rng.choice([2, 3, 4])
            lifecycle.update_campaign(campaign, actor=None, judgements_per_pair=n)
        elif choice == "extend" and hidden:
            taken = [hidden.pop() for _ in range(min(10, len(hidden)))]
            PoolEntry.objects.filter(pk__in=[entry.pk for entry in taken]).update(
                pool=campaign.pool
            )
            lifecycle.add_new_pairs(campaign)
        elif choice == "gold" and done["gold"] < 5:
            lifecycle.set_pair_kind(
                rng.choice(list(Pair.objects.filter(campaign=campaign, kind="normal")[:50])),
                "gold",
                gold_grade=2,
            )
        elif choice == "audit":
            found += consistent_audit(campaign)
        else:
            continue  # nothing of this kind was left to do
        done[choice] += 1
        time.sleep(0.1)
    return done, found


def drain(campaign: Any) -> int:
    """Judge the remaining ordinary pairs one hour later, when every abandoned lease has expired.
    Returns their number."""
    from django.utils import timezone

    from annotation.models import Membership
    from annotation.services.judging import scheduling, submission

    later, n, rng = timezone.now() + 60 * MINUTE, 0, random.Random(5)
    for member in Membership.objects.filter(role="annotator", status="active").select_related(
        "campaign", "user"
    ):
        while (lease := scheduling.claim_pair(member, now=later)) is not None:
            if not lease.takes_slot:
                break  # only gold pairs are left for this annotator
            answer = submission.Answer(grade=rng.randrange(4), active_ms=20_000, wall_ms=30_000)
            submission.submit_judgement(
                member, lease=lease.token, key=uuid.uuid4(), answer=answer, now=later + MINUTE
            )
            n += 1
    return n


def prepare(kind: str, n_annotators: int) -> Any:
    from django.contrib.auth.models import User

    from annotation.models import Membership
    from pooling.models import Pool, PoolEntry
    from tests.builders import make_campaign, make_collection, make_pool
    from tests.commands import call_command

    call_command("migrate", verbosity=0)
    n_topics, n_documents = (10, 12) if kind == "orderly" else (8, 20)
    collection = make_collection(n_topics=n_topics, n_documents=n_documents)
    pool = make_pool(collection, depth=10)
    if kind == "attack":
        kept_back = Pool.objects.create(collection=collection, name="kept back", depth=10)
        PoolEntry.objects.filter(pool=pool, docno__in=[f"d{i}" for i in (2, 5, 9, 17)]).update(
            pool=kept_back
        )
    settings = {"lease_minutes": 10, "gold_every": 15, "block_length": 4}
    campaign = make_campaign(collection=collection, pool=pool, judgements_per_pair=3, **settings)
    users = User.objects.bulk_create(User(username=f"storm{i}") for i in range(n_annotators))
    Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role="annotator", pseudonym=f"S{i:03d}", seed=i)
        for i, user in enumerate(users)
    )
    return campaign


def main() -> dict[str, Any]:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["orderly", "attack"])
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=6)
    parser.add_argument("--worker", type=int)
    options = parser.parse_args()
    setup()
    if options.worker is not None:
        return annotators_at_work(options.kind, options.worker, options.threads)
    began = time.monotonic()
    campaign = prepare(options.kind, options.annotators)
    prepared = time.monotonic()
    arguments = [
        sys.executable,
        "-m",
        "tests.annotation.storm",
        options.kind,
        "--threads",
        str(options.threads),
        "--worker",
    ]
    processes = [
        subprocess.Popen([*arguments, str(i)], stdout=subprocess.PIPE, text=True)
        for i in range(options.processes)
    ]
    disturbed: Counter[str] = Counter()
    found: list[str] = []
    if options.kind == "attack":
        disturbed, found = disturb(campaign, processes, random.Random(1))
    results = [json.loads(process.communicate()[0]) for process in processes]
    ended = time.monotonic()
    after = consistent_audit(campaign)
    drained = drain(campaign)
    final = consistent_audit(campaign)
    return {
        "counts": dict(sum((Counter(result["counts"]) for result in results), Counter())),
        "errors": [error for result in results for error in result["errors"]],
        "disturbed": dict(disturbed),
        "broken_during": found,
        "broken_after": after,
        "broken_at_the_end": final,
        "drained": drained,
        "seconds": [
            round(prepared - began, 1),
            round(ended - prepared, 1),
            round(time.monotonic() - ended, 1),
        ],
        **facts(campaign),
    }


def facts(campaign: Any) -> dict[str, Any]:
    """Read from the database the facts on which the test makes assertions."""
    from django.db.models import F

    from annotation.models import Judgement, Lease, Pair

    pairs = Pair.objects.filter(campaign=campaign, kind="normal")
    went_back = 0
    last: dict[int, int] = {}
    for member, why in (
        Lease.objects.filter(pair__campaign=campaign)
        .order_by("pk")
        .values_list("membership", "why")
    ):
        went_back += why["band"] < last.get(member, 1)
        last[member] = why["band"]
    current = Judgement.objects.filter(pair__campaign=campaign, current=True)
    return {
        "n": campaign.judgements_per_pair,
        "pairs": pairs.count(),
        "incomplete": pairs.filter(counted__lt=F("needed"), unjudgeable=False).count(),
        "counted": current.filter(status="counted", pair__kind="normal").count(),
        "more_than_needed": pairs.filter(counted__gt=F("needed")).count(),
        "held": sum(pairs.values_list("held", flat=True)),
        "twice": current.count() - current.values("pair", "membership").distinct().count(),
        "annotators": current.values("membership").distinct().count(),
        "went_back_to_a_better_band": went_back,
        "extra": current.filter(status="extra").count(),
    }


if __name__ == "__main__":
    print(json.dumps(main()))
