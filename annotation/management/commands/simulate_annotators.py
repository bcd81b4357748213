"""Judge a campaign with simulated annotators, based on known qrels."""

from __future__ import annotations

import ipaddress
import json
import socket
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.core.simulation import ANNOTATOR_KINDS, parse_mixture
from annotation.models import Campaign
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.simulation import annotators as simulation
from annotation.services.simulation import api_clients, simulated_time
from assay.cli.base import error_message, parse_seed
from assay.column_types import QrelsColumns
from assay.formats.errors import FormatError
from assay.formats.qrels import read_qrels
from assay.number_words import format_count


class Command(BaseCommand):
    help = (
        "Judge an open campaign with simulated annotators and known qrels, over HTTP or with "
        "--direct. The campaign and its annotators are marked as simulated."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--campaign", required=True, metavar="SLUG", help="slug of the campaign"
        )
        parser.add_argument(
            "--n-annotators",
            type=int,
            default=10,
            metavar="N",
            help="number of annotators (default: 10)",
        )
        parser.add_argument(
            "--truth",
            required=True,
            metavar="FILE",
            help="qrels file with the true grades; other pairs have the lowest grade",
        )
        parser.add_argument(
            "--question-truth",
            nargs="+",
            default=[],
            metavar="KEY=FILE",
            help="qrels files with the true answers to further questions, by key of the question",
        )
        parser.add_argument(
            "--reliability",
            type=float,
            default=0.8,
            metavar="P",
            help="probability that a reliable annotator gives the true grade",
        )
        parser.add_argument(
            "--seconds",
            type=float,
            default=48.0,
            metavar="S",
            help="median active seconds of a simulated judgement; the command does not wait for them",
        )
        parser.add_argument(
            "--kinds",
            default="reliable",
            metavar="MIX",
            help=f"proportions of annotator kinds, such as reliable:8,clicker:1 ({', '.join(ANNOTATOR_KINDS)})",
        )
        parser.add_argument(
            "--url", default="http://127.0.0.1:8000", help="URL of the running server"
        )
        parser.add_argument(
            "--remote", action="store_true", help="allow a server on another machine"
        )
        parser.add_argument(
            "--direct",
            action="store_true",
            help="run without a server, in simulated time",
        )
        parser.add_argument(
            "--days",
            type=float,
            default=14.0,
            metavar="D",
            help="start of the simulation, in days before now (only with --direct)",
        )
        parser.add_argument(
            "--threads", type=int, default=8, metavar="N", help="concurrent requests, over HTTP"
        )
        parser.add_argument(
            "--patience",
            type=float,
            default=5.0,
            metavar="S",
            help="seconds without a response after which the command ends, over HTTP",
        )
        parser.add_argument(
            "--n-judgements",
            type=int,
            metavar="N",
            help="number of judgements to make (default: all remaining judgements)",
        )
        parser.add_argument(
            "--seed", type=parse_seed, default=0, metavar="N", help="random seed (default: 0)"
        )
        parser.add_argument("--json", action="store_true", help="print only one JSON object")

    def handle(self, *args: object, **options: Any) -> None:
        campaign = Campaign.objects.filter(slug=options["campaign"]).first()
        if campaign is None:
            raise CommandError(
                f"there is no campaign with the slug {options['campaign']!r}", returncode=2
            )
        if campaign.state != Campaign.State.OPEN:
            raise CommandError(f"the campaign is {campaign.state}; open it first", returncode=2)
        if (
            options["n_annotators"] < 1
            or options["seconds"] <= 0
            or not 0 <= options["reliability"] <= 1
        ):
            raise CommandError(
                "--n-annotators and --seconds must be above 0, and --reliability must be from 0 to 1",
                returncode=2,
            )
        try:
            weights, qrels = parse_mixture(options["kinds"]), read_qrels(options["truth"])
            further = _read_question_truth(campaign, options["question_truth"])
        except (ValueError, FormatError, OSError) as error:
            raise CommandError(error_message(error), returncode=2) from None
        if not options["direct"]:
            _check_address(options["url"], remote=options["remote"])
        annotators = simulation.recruit_annotators(
            campaign, options["n_annotators"], weights=weights, seed=options["seed"]
        )
        truth = simulation.KnownGrades(qrels, campaign, further)
        common = {
            "reliability": options["reliability"],
            "seconds": options["seconds"],
            "most": options["n_judgements"],
            "on_progress": self._make_progress_printer(options),
        }
        if options["direct"]:
            start = timezone.now() - timedelta(days=options["days"])
            report = simulated_time.run_directly(campaign, annotators, truth, start=start, **common)
        else:
            report = api_clients.run_over_http(
                campaign,
                annotators,
                truth,
                url=options["url"],
                threads=options["threads"],
                patience=options["patience"],
                **common,
            )
        self._print(campaign, report, as_json=options["json"])

    def _make_progress_printer(self, options: dict[str, Any]) -> Any:
        last = [0]

        def print_progress(n: int) -> None:
            if n - last[0] >= 500 and not options["json"]:
                last[0] = n
                self.stderr.write(f"{format_count(n, 'judgement')} (simulated)")

        return print_progress

    def _print(
        self, campaign: Campaign, report: simulation.SimulationReport, *, as_json: bool
    ) -> None:
        pairs = get_kept_pairs(campaign).filter(kind="normal")
        left = sum(pairs.filter(open_slots__gt=0).values_list("open_slots", flat=True))
        result: dict[str, Any] = {
            "campaign": campaign.slug,
            "simulated": True,
            "judgements": report.judgements,
            "seconds": report.seconds,
            "statuses": dict(report.statuses),
            "states": dict(report.states),
            "kinds": dict(report.kinds),
            "pairs": pairs.count(),
            "slots_left": left,
            "slots_held": sum(pairs.values_list("held", flat=True)),
            "errors": report.errors,
        }
        if as_json:
            self.stdout.write(json.dumps(result))
        else:
            self.stdout.write(
                f"{format_count(report.judgements, 'simulated judgement')} in {report.seconds:.1f} s "
                f"on {format_count(result['pairs'], 'pair')} of {campaign.slug}"
            )
            for name in ("kinds", "statuses", "states"):
                self.stdout.write(
                    f"  {name}: "
                    + ", ".join(f"{key} {n}" for key, n in sorted(result[name].items()))
                )
            self.stdout.write(f"  open slots: {left}, assigned: {result['slots_held']}")
        if report.errors:
            raise CommandError("; ".join(report.errors[:3]))


def _read_question_truth(campaign: Campaign, arguments: list[str]) -> dict[str, QrelsColumns]:
    """Read KEY=FILE arguments. Raises ValueError unless there is one for each further question, and
    FormatError for a file that is not qrels."""
    files = dict(text.partition("=")[::2] for text in arguments)
    keys = [question.key for question in campaign.questions_after_grade]
    if sorted(files) != sorted(keys) or len(files) < len(arguments):
        expected = " ".join(f"{key}=FILE" for key in keys) or "none, because it has one question"
        raise ValueError(
            f"--question-truth does not match the further questions of {campaign.slug}, "
            f"expected {expected}"
        )
    return {key: read_qrels(path) for key, path in files.items()}


def _check_address(url: str, *, remote: bool) -> None:
    """Refuse URLs of other machines, unless the operator allows them, so that simulated judgements
    do not reach a real server by mistake."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError(f"{url!r} is not an address such as http://127.0.0.1:8000", returncode=2)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(parts.hostname, port)}
    except OSError as error:
        raise CommandError(f"{parts.hostname}: {error}", returncode=2) from None
    if not remote and not all(
        ipaddress.ip_address(str(address).partition("%")[0]).is_loopback for address in addresses
    ):
        raise CommandError(
            f"{parts.hostname} is not this machine; use --remote to allow it", returncode=2
        )
    try:
        socket.create_connection((parts.hostname, port), timeout=10).close()
    except OSError as error:
        way = "start it, name another one with --url, or judge without a server with --direct"
        raise CommandError(
            f"no server answers at {url} ({error.strerror or error}): {way}.", returncode=2
        ) from None
