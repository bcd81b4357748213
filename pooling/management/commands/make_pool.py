"""Build a pool of a collection in the database. The command `build_pool` builds one from files."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from assay.cli.base import parse_fraction, parse_positive, parse_seed
from assay.number_words import format_count
from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, BatchGoal
from assay.pools.pool_kinds import PoolKind
from assay.pools.stages import STRATA_KINDS
from pooling.management.import_commands import (
    ImportFailed,
    format_report,
    get_collection,
    get_user,
    run_job_here,
)
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.services.battle_pools import DEFAULT_REPEATED, create_battle_pool
from pooling.services.making import make_parameters
from pooling.services.pool_preview import request_preview
from pooling.services.pools import request_pool


class Command(BaseCommand):
    help = "Create a pool of a collection in the database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--collection", required=True, metavar="SLUG", help="slug of the collection"
        )
        parser.add_argument(
            "--depth",
            type=parse_positive,
            default=10,
            metavar="K",
            help="depth of the pool (default: 10)",
        )
        parser.add_argument(
            "--seed", type=parse_seed, default=0, metavar="N", help="random seed (default: 0)"
        )
        parser.add_argument(
            "--runs",
            nargs="*",
            default=[],
            metavar="TAG",
            help="tags of the runs to pool (default: all runs)",
        )
        parser.add_argument("--name", default="", metavar="NAME", help="name of the pool")
        parser.add_argument(
            "--relevant-first",
            dest="ordered",
            choices=list(BatchGoal),
            nargs="?",
            const=BatchGoal.RELEVANT.value,
            default="",
            metavar="GOAL",
            help=(
                "goal of a prioritised pool, judged in batches: relevant (most relevant documents "
                "over all topics, default) or equal (the same share of each topic)"
            ),
        )
        parser.add_argument(
            "--batch",
            type=parse_positive,
            default=DEFAULT_SIZE,
            metavar="N",
            help=f"pairs per batch, with --relevant-first (default: {DEFAULT_SIZE})",
        )
        parser.add_argument(
            "--audit",
            type=parse_fraction,
            default=DEFAULT_AUDIT,
            metavar="SHARE",
            help="share of each batch drawn at random as audit sample, with --relevant-first "
            f"(default: {DEFAULT_AUDIT:g})",
        )
        parser.add_argument(
            "--sample-shares",
            type=parse_fraction,
            nargs="+",
            default=[],
            metavar="SHARE",
            help="shares of the pool drawn at random by the end of each stage, for a sampled pool",
        )
        parser.add_argument(
            "--strata",
            choices=sorted(STRATA_KINDS),
            default="rank",
            help="basis of the strata of a sampled pool (default: rank)",
        )
        parser.add_argument(
            "--llm-judge",
            default="",
            metavar="CAMPAIGN/JUDGE",
            help="frozen LLM judge whose grades form the strata, with --strata llm",
        )
        parser.add_argument(
            "--battle-rounds",
            type=parse_positive,
            default=0,
            metavar="N",
            help="rounds of battles between the first documents of the runs, instead of a pool by "
            "depth",
        )
        parser.add_argument(
            "--repeated",
            type=parse_fraction,
            default=DEFAULT_REPEATED,
            metavar="N",
            help="share of battles shown again with exchanged sides, with --battle-rounds "
            f"(default: {DEFAULT_REPEATED:g})",
        )
        parser.add_argument(
            "--preview",
            action="store_true",
            help=(
                "show the planned pool, and which conclusions would be possible after half of "
                "the judgements, without creating the pool"
            ),
        )
        parser.add_argument("--user", metavar="NAME", help="username under which the command runs")

    def handle(
        self,
        *,
        collection: str,
        depth: int,
        seed: int,
        runs: list[str],
        name: str,
        ordered: str,
        sample_shares: list[float],
        strata: str,
        llm_judge: str,
        batch: int,
        audit: float,
        battle_rounds: int,
        repeated: float,
        preview: bool,
        user: str | None,
        **_: Any,
    ) -> None:
        target = get_collection(collection)
        chosen = list(target.runs.filter(tag__in=runs) if runs else target.runs.all())
        if absent := sorted(set(runs) - {run.tag for run in chosen}):
            tags = (
                ", ".join(target.runs.order_by("tag").values_list("tag", flat=True)[:20])
                or "none yet"
            )
            raise ImportFailed(f"no run has the tag {', '.join(absent)}; existing tags: {tags}")
        if battle_rounds:
            self._make_battles(
                target,
                runs=chosen,
                rounds=battle_rounds,
                repeated=repeated,
                seed=seed,
                name=name or "Battles",
                user=get_user(user),
            )
            return
        try:
            if ordered and sample_shares:
                raise ImportFailed(
                    "--relevant-first and --sample-shares cannot be used together; give one of them"
                )
            kind = (
                PoolKind.ORDERED
                if ordered
                else PoolKind.SAMPLED
                if sample_shares
                else PoolKind.DEPTH
            )
            own = get_user(user)
            making = make_parameters(
                kind,
                strata=strata,
                stages=sample_shares,
                goal=ordered,
                batch=batch,
                audit=audit,
                llm_judge=llm_judge,
                collection=target,
                user=own,
            )
            ask = request_preview if preview else request_pool
            job = ask(
                target, runs=chosen, depth=depth, seed=seed, name=name, making=making, user=own
            )
        except Refused as error:
            raise ImportFailed(str(error)) from None
        done = run_job_here(job, self.stderr)
        stages = [
            f"stage {n}: {100 * one['share']:g}%, {format_count(one['pairs'], 'pair')}"
            for n, one in enumerate(done.report.get("stages", []), start=1)
        ]
        if "batches" in done.report:
            stages = [
                "{batches:,} batches of {batch:,} pairs, each with {audit:,} audit pairs drawn at random".format(
                    **done.report
                )
            ]
        self.stdout.write(
            "\n".join([*format_report(done), *stages, *done.report.get("half_way", [])])
        )

    def _make_battles(self, target: Collection, **given: Any) -> None:
        try:
            pool = create_battle_pool(target, **given)
        except Refused as error:
            raise ImportFailed(str(error)) from None
        battles = format_count(pool.n_pairs, "battle")
        self.stdout.write(f"{pool.name}: {battles}, {pool.missing_documents:,} without text")
