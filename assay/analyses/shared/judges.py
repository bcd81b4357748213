"""Options of commands that read a campaign: the annotator types whose judgements are used, and the
question."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from assay.cli.base import BadInput
from assay.labels.annotator_types import LABELLING_TYPES, AnnotatorType, check_types, sort_types


def add_judges_option(parser: ArgumentParser) -> None:
    """Add --annotators."""
    kinds = [kind.value for kind in AnnotatorType]
    parser.add_argument(
        "--annotators",
        nargs="+",
        choices=kinds,
        metavar="KIND",
        help=f"annotator types to include: {', '.join(kinds)} (default: human and simulated)",
    )


def add_question_option(parser: ArgumentParser) -> None:
    """Add --question."""
    parser.add_argument(
        "--question",
        metavar="KEY",
        help="key of a further question of the campaign (default: the grade)",
    )


def get_annotator_types(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the annotator types chosen by --annotators, or the default. Raises BadInput if LLM
    judges are combined with others."""
    judges = sort_types(options.get("annotators") or LABELLING_TYPES)
    if wrong := check_types(judges):
        raise BadInput(wrong)
    return judges
