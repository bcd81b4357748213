"""The option --annotators of commands that read a campaign: the annotator types whose judgements
are used."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from assay.cli.base import BadInput
from assay.labels.judges import LABELLING_KINDS, JudgeKind, check_kinds, sort_kinds


def add_judges_option(parser: ArgumentParser) -> None:
    """Add --annotators."""
    kinds = [kind.value for kind in JudgeKind]
    parser.add_argument(
        "--annotators",
        nargs="+",
        choices=kinds,
        metavar="KIND",
        help=f"annotator types that count: {', '.join(kinds)} (default: human and simulated)",
    )


def chosen_judge_kinds(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the annotator types chosen by --annotators, or the default. Raises BadInput if LLM
    judges are combined with others."""
    judges = sort_kinds(options.get("annotators") or LABELLING_KINDS)
    if wrong := check_kinds(judges):
        raise BadInput(wrong)
    return judges
