"""The option --judges of commands that read a campaign: which kinds of judges are heeded."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from assay.cli.base import BadInput
from assay.labels.judges import LABELLING, JudgeKind, check, ordered


def add_judges(parser: ArgumentParser) -> None:
    """--judges."""
    kinds = [kind.value for kind in JudgeKind]
    parser.add_argument(
        "--judges",
        nargs="+",
        choices=kinds,
        metavar="KIND",
        help=f"types of annotators that count: {', '.join(kinds)} (default: person and simulated)",
    )


def judges_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    """--judges, or its default; BadInput where machines are mixed with others."""
    judges = ordered(options.get("judges") or LABELLING)
    if wrong := check(judges):
        raise BadInput(wrong)
    return judges
