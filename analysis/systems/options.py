"""Options of reports: as a form shows them and as a command takes them; those that several kinds
have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.analyses.shared.measures import DEFAULT_MEASURES
from assay.analyses.shared.reading import MEASURES_HINT, EvaluationOptions, SampledEvaluationOptions
from assay.analyses.shared.sampled_files import SAMPLED_MEASURES
from assay.options import DeclaredOption, list_options


@dataclass(frozen=True)
class ReportField:
    """An option of the command. A default that is left as it is gives no argument.

    kind: whole, grade (the lowest relevant), number, text, yes, choice, date, measure, measures,
    conditions (lines that name qrels), tags (of runs, with commas between), tag (of one run, or one
    of choices), scale (grades of the campaign), pool or report (of the collection, by id), list and
    lists (uploaded files with one id a line) and rows (an uploaded table, as it stands);
    `ask_for_report` keeps what was uploaded, not the options.

    judged_only: a grade that is one of the qrels chosen first, not of all. marked: of tags, those
    that are chosen at first, by the runs' field of this name. begins: what the form begins with
    instead of the default; graded: the same in a campaign with more than two grades. divisible: of
    measures, only those that are computed on parts of a collection. of_samples: for the labels of a
    campaign on a sampled pool only; other forms leave it out. report: the kind of reports to choose
    from. implies: option and value that an uploaded list stands for."""

    name: str
    label: str
    kind: str = "text"
    default: Any = ""
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    least: float | None = None
    most: float | None = None
    judged_only: bool = False
    marked: str = ""
    report: str = ""
    implies: tuple[str, str] | None = None
    begins: str = ""
    graded: str = ""
    of_samples: bool = False
    divisible: bool = False

    @property
    def uploaded(self) -> bool:
        return self.kind in ("list", "lists", "rows")

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


def report_fields(options: type, *names: str) -> tuple[ReportField, ...]:
    """The options of an analysis as a form shows them: those of these names, in their order."""
    by_name = {one.name: one for one in list_options(options)}
    return tuple(_make_field(by_name[name]) for name in names or by_name)


def _make_field(one: DeclaredOption) -> ReportField:
    about = one.about
    kinds = {bool: "yes", int: "whole", float: "number"}
    return ReportField(
        one.name,
        about.label,
        about.kind or ("choice" if about.choices else kinds.get(one.type, "text")),
        "" if one.default is None else one.default,
        hint=about.hint,
        least=about.least,
        most=about.most if about.most_in_form is None else about.most_in_form,
        **{"choices": about.choices, **about.more},
    )


def changed_options(fields: Sequence[ReportField], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of these fields that differ from their defaults."""
    given = {one.name: options.get(one.name, one.default) for one in fields}
    return {
        one.name: given[one.name]
        for one in fields
        if given[one.name] not in (one.default, None, "")
    }


def list_named_fields(fields: Sequence[ReportField], *names: str) -> list[ReportField]:
    return [one for one in fields if one.name in names]


TRIPJUDGE_MEASURES = "nDCG@5 nDCG@10 RR@10 R@100"
"""Those by which TripJudge's Table 3 compares rankings."""
MEASURES = DEFAULT_MEASURES
LEVEL, TOPICS, WITH_RELEVANT, SCORES = report_fields(
    EvaluationOptions, "level", "topics", "only_with_relevant", "scores"
)
EVALUATION_FIELDS = (LEVEL, TOPICS, WITH_RELEVANT, SCORES)
"""Of every kind that computes measures of runs."""
EVALUATION_KEYS = tuple(one.name for one in EVALUATION_FIELDS)


def measures_field(default: str, *, graded: str = "", divisible: bool = False) -> ReportField:
    return ReportField(
        "measures",
        "Measures",
        "measures",
        default,
        hint=MEASURES_HINT,
        graded=graded,
        divisible=divisible,
    )


(RANK_MODEL,) = report_fields(SampledEvaluationOptions, "rank_model")


def sampled_options(options: Mapping[str, Any], measures: ReportField) -> dict[str, Any]:
    """The usual measures count what is unjudged as not relevant, so on a sampled pool the command's
    usual estimates stand in their place."""
    usual = options.get("measures") in (None, "", measures.default)
    return {name: value for name, value in options.items() if name != "measures" or not usual} | (
        {"measures": SAMPLED_MEASURES} if usual else {}
    )
