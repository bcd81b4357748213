"""The option --judges of commands that read a campaign: which kinds of judges are heeded."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from assay.cli.base import BadInput
from assay.labels.judges import LABELLING_KINDS, JudgeKind, check_kinds, sort_kinds


def add_judges_option(parser: ArgumentParser) -> None:
    """--judges."""
    kinds = [kind.value for kind in JudgeKind]
    parser.add_argument(
        "--judges",
        nargs="+",
        choices=kinds,
        metavar="KIND",
        help=f"types of annotators that count: {', '.join(kinds)} (default: person and simulated)",
    )


def chosen_judge_kinds(options: Mapping[str, Any]) -> tuple[str, ...]:
    """--judges, or its default; BadInput where machines are mixed with others."""
    judges = sort_kinds(options.get("judges") or LABELLING_KINDS)
    if wrong := check_kinds(judges):
        raise BadInput(wrong)
    return judges
