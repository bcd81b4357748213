"""Options of analyses that score runs: how runs are read and which topics count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from assay.options import CheckedOptions, option


@dataclass(frozen=True)
class RunFiles(CheckedOptions):
    """Options of commands that read runs."""

    precision: Literal["float64", "float32"] = option(
        "float64",
        "Scores of runs are compared",
        help="precision for comparing the scores of runs",
        choices=(
            ("float64", "double precision, as in trec_eval 10"),
            ("float32", "single precision, as in trec_eval 9 and pytrec_eval"),
        ),
    )
    lenient: bool = option(
        False,
        "Allow extra or missing run columns",
        help="ignore extra columns, and accept runs of three columns (topic, document, rank)",
    )


@dataclass(frozen=True)
class RunReading(RunFiles):
    """Options for reading run files, and the minimum relevant grade."""

    min_relevant: int = option(
        1,
        "Minimum relevant grade",
        help="minimum relevant grade, for all measures except nDCG",
        hint="For all measures except nDCG.",
        least=1,
        kind="grade",
    )


@dataclass(frozen=True)
class EvaluationOptions(RunReading):
    """Options of analyses that score runs on chosen topics."""

    missing_topics: str = option(
        "zero",
        "Topics that a run lacks",
        help="topics of the qrels that are missing from a run",
        choices=(
            ("zero", "score them 0"),
            ("skip", "leave them out for this run"),
        ),
    )
    only_with_relevant: bool = option(False, "Leave out topics without relevant documents")


@dataclass(frozen=True)
class SampledEvaluationOptions(EvaluationOptions):
    """Options of analyses that also estimate from a sampled pool."""

    rank_model: bool = option(
        False,
        "Add the rank model",
        help=(
            "add estimates of HT-P@k and HT-DCG@k that use a regression on ranks (with --sampled)"
        ),
        hint="Also estimates HT-P@k and HT-DCG@k with a regression of the labels on ranks, "
        "which has the effect of a larger sample.",
        more={"of_samples": True},
    )


MEASURES_HINT = "Space-separated names, such as AP nDCG@10 RR@10 R@100 Bpref Judged@10."


def alpha_option(default: float = 0.05) -> Any:
    return option(
        default,
        "Significance level (α)",
        help="significance level",
        least=0,
        most=1,
        strict=True,
        metavar="P",
    )


class DefaultNames(str):
    """The default measures as text, marked so that a campaign can limit their cutoffs."""


def measures_option(default: str, read: Any, **more: Any) -> Any:
    """Return the option `measures`. read: parser of text, which raises ArgumentTypeError for
    measures that the analysis does not support. more: settings of the form's field."""
    return option(
        DefaultNames(default),
        "Measures",
        help=f'space-separated measures (default: "{default}")',
        hint=MEASURES_HINT,
        read=read,
        metavar='"..."',
        kind="measures",
        more=more,
    )
