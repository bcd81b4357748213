"""Rank systems by battles: which of two answers to a topic is better (Bradley-Terry with ties)."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from assay.analyses.shared.measures import InMemoryInputs
from assay.analyses.shared.reading import alpha_option
from assay.charts.points import DrawnInterval, interval_chart
from assay.charts.svg import Picture
from assay.cli.base import BadInput, FileCommand
from assay.column_types import BOTH_BAD, BattleColumns
from assay.comparison.bradley_terry import (
    BradleyTerryFit,
    NoMaximum,
    fit_bradley_terry,
    standard_error,
)
from assay.comparison.preferences import (
    COVARIATES,
    MissingColumn,
    compare_presentations,
    count_outcomes,
    measure_left_share,
    select_outcomes,
)
from assay.comparison.significance import adjust_p_values
from assay.formats.battles import read_battles
from assay.number_words import format_count
from assay.options import CheckedOptions, add_options, option
from assay.results import Values
from assay.significant_digits import PValue
from assay.tabular import Cell, Table

EFFECTS = {
    "position": "shown on the left",
    "length": "answer twice as long",
    "citations": "one more citation",
}
NO_MAXIMUM = {
    "not identified": (
        "some systems never met, or an adjustment cannot be told apart from the systems"
    ),
    "maximum at infinity": (
        "some system wins or loses all its battles, or a tie or side decides them all"
    ),
}
"""Reasons for missing abilities."""


def parse_covariates(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of position, length and citations."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if wrong := [name for name in names if name not in COVARIATES]:
        raise ArgumentTypeError(
            f"{wrong[0]!r} is not an adjustment, expected {', '.join(COVARIATES)}"
        )
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class Options(CheckedOptions):
    adjust: tuple[str, ...] = option(
        (),
        "Adjust for",
        help="comma-separated effects to adjust for: position, length, citations",
        read=parse_covariates,
        metavar="EFFECTS",
    )
    alpha: float = alpha_option()


def compute(battles: BattleColumns, options: Options) -> Values:
    """Rank systems by the Bradley-Terry model with ties, with intervals clustered by topic.

    Systems whose battles are all "both bad" have no ability. If the likelihood has no finite
    maximum, abilities and everything derived from them are NaN, and `no_maximum` has the reason.
    Raises BadInput if an adjustment is unknown for some battle. Source: Davidson (1970)."""
    matrices = count_outcomes(battles)
    left, twice = measure_left_share(battles), compare_presentations(battles)
    counted = battles.outcome != BOTH_BAD
    playing = np.flatnonzero(matrices.wins.sum(0) + matrices.wins.sum(1) + matrices.ties.sum(1))
    fit, why = _fit_model(battles, playing, options)
    model = _describe_fit(battles, playing, fit, options)
    n_topics = left.n_topics
    margin = left.error * _t_quantile(options.alpha, n_topics)
    return {
        "systems": {
            name: {
                **model["systems"][name],
                "wins": int(matrices.wins[i].sum()),
                "losses": int(matrices.wins[:, i].sum()),
                "ties": int(matrices.ties[i].sum()),
                "both_bad": int(matrices.bad[i].sum()),
            }
            for i, name in enumerate(battles.systems)
        },
        **{key: value for key, value in model.items() if key != "systems"},
        "no_maximum": why,
        "battles": len(battles),
        "counted": int(counted.sum()),
        "both_bad": int((~counted).sum()),
        "topics": n_topics,
        "annotators": len(battles.annotators),
        "left": {
            "wins": left.wins,
            "decided": left.decided,
            "share": left.share,
            "ci": [left.share - margin, left.share + margin],
        },
        "shown_both_ways": twice._asdict(),
        "matrix": {
            "systems": battles.systems,
            "wins": matrices.wins.tolist(),
            "ties": matrices.ties.tolist(),
            "both_bad": matrices.bad.tolist(),
        },
        "adjust": list(options.adjust),
        "alpha": options.alpha,
    }


def _fit_model(
    battles: BattleColumns, playing: np.ndarray, options: Options
) -> tuple[BradleyTerryFit | None, str]:
    try:
        outcomes = select_outcomes(battles, options.adjust)
    except MissingColumn as error:
        raise BadInput(f"--adjust: {error}") from None
    if not len(outcomes.outcome):
        return None, 'all battles are "both bad"'
    place = np.zeros(len(battles.systems), dtype=np.int32)
    place[playing] = np.arange(len(playing), dtype=np.int32)
    try:
        return fit_bradley_terry(
            replace(outcomes, n_systems=len(playing), a=place[outcomes.a], b=place[outcomes.b])
        ), ""
    except NoMaximum as error:
        return None, NO_MAXIMUM[str(error)]


def _t_quantile(alpha: float, n_topics: int) -> float:
    """Return Student's quantile of a two-sided interval; NaN with a single topic."""
    return float(scipy.stats.t.ppf(1 - alpha / 2, n_topics - 1)) if n_topics > 1 else float("nan")


def _describe_fit(
    battles: BattleColumns, playing: np.ndarray, fit: BradleyTerryFit | None, options: Options
) -> Values:
    """Return the parts of the result that are computed from the model."""
    undefined = {"ability": np.nan, "ci": [np.nan, np.nan], "rank": np.nan}
    systems: dict[str, Values] = {name: dict(undefined) for name in battles.systems}
    if fit is None:
        return {
            "systems": systems,
            "ranking": [],
            "not_separated": [],
            "differences": [],
            "effects": {},
            "tie_parameter": {"value": np.nan, "ci": [np.nan, np.nan]},
        }
    quantile = _t_quantile(options.alpha, fit.n_topics)

    def interval(value: float, variance: float) -> list[float]:
        margin = quantile * standard_error(variance)
        return [value - margin, value + margin]

    names = [battles.systems[i] for i in playing]
    order = sorted(range(len(names)), key=lambda i: (-round(float(fit.abilities[i]), 10), names[i]))
    for rank, i in enumerate(order, 1):
        value = float(fit.abilities[i])
        systems[names[i]] = {
            "ability": value,
            "ci": interval(value, float(fit.clustered[i, i])),
            "rank": rank,
        }
    differences = _list_differences(fit, names, order, options, interval)
    leader = names[order[0]]
    effects = {}
    for j, name in enumerate(fit.names, len(names)):
        value = float(fit.estimates[j])
        effects[name] = {
            "effect": value,
            "ci": interval(value, float(fit.clustered[j, j])),
            "p": _p_value(value, float(fit.clustered[j, j]), fit.n_topics),
        }
    log_nu = float(fit.estimates[-1]) if fit.has_ties else -np.inf
    nu_ci = interval(log_nu, float(fit.clustered[-1, -1])) if fit.has_ties else [np.nan, np.nan]
    return {
        "systems": systems,
        "ranking": [names[i] for i in order],
        "not_separated": [
            row["b"] for row in differences if row["a"] == leader and not row["ci"][0] > 0
        ],
        "differences": differences,
        "effects": effects,
        "tie_parameter": {"value": float(np.exp(log_nu)), "ci": np.exp(nu_ci).tolist()},
    }


def _list_differences(
    fit: BradleyTerryFit, names: list[str], order: list[int], options: Options, interval: Any
) -> list[Values]:
    """Return all pairs, the better system first, with Holm-corrected p-values."""
    rows = []
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            value = float(fit.abilities[i] - fit.abilities[j])
            variance = fit.contrast_variance(fit.clustered, i, j)
            rows.append(
                {
                    "a": names[i],
                    "b": names[j],
                    "difference": value,
                    "ci": interval(value, variance),
                    "p": _p_value(value, variance, fit.n_topics),
                }
            )
    corrected = adjust_p_values([row["p"] for row in rows], "holm")
    for row, p in zip(rows, corrected, strict=True):
        row["p_holm"] = float(p)
        row["significant"] = bool(p < options.alpha) if p == p else None
    return rows


def _p_value(value: float, variance: float, n_topics: int) -> float:
    """Return the two-sided p-value, or NaN without a standard error."""
    error = standard_error(variance)
    if not error > 0:
        return float("nan")
    return float(2 * scipy.stats.t.sf(abs(value) / error, n_topics - 1))


def result_tables(result: Values) -> list[Table]:
    made = [_systems_table(result)]
    if result["differences"]:
        rows: list[list[Cell]] = [
            [
                row["a"],
                row["b"],
                row["difference"],
                *row["ci"],
                _to_p_value(row["p"]),
                _to_p_value(row["p_holm"]),
            ]
            for row in result["differences"]
        ]
        header = ["better", "worse", "difference", *_bound_headers(result), "p", "p, Holm"]
        note = (
            "Differences of abilities in log-odds. Student's t with standard errors clustered by "
            "topic. The last column is corrected by Holm's method for all pairs."
        )
        made.append(Table("differences", "Differences between systems", header, rows, note))
    if result["effects"]:
        effects: list[list[Cell]] = [
            [EFFECTS[name], row["effect"], *row["ci"], _to_p_value(row["p"])]
            for name, row in result["effects"].items()
        ]
        header = ["effect of", "log-odds", *_bound_headers(result), "p"]
        note = "Effects on the log-odds of winning, uncorrected p-values."
        made.append(Table("effects", "Effects besides the systems", header, effects, note))
    matrix = result["matrix"]
    wins: list[list[Cell]] = [
        [name, *(n if i != j else None for j, n in enumerate(matrix["wins"][i]))]
        for i, name in enumerate(matrix["systems"])
    ]
    note = "Battles that the system of the row won against the system of the column."
    made.append(Table("wins", "Wins", ["system", *matrix["systems"]], wins, note))
    return made


def _bound_headers(result: Values) -> list[str]:
    level = f"{100 * (1 - result['alpha']):g}% CI"
    return [f"lower ({level})", f"upper ({level})"]


def _to_p_value(p: float | None) -> Cell:
    return None if p is None else PValue(p)


def _systems_table(result: Values) -> Table:
    named = sorted(result["systems"].items(), key=lambda item: (item[1]["rank"] or np.inf, item[0]))
    rows: list[list[Cell]] = [
        [
            int(row["rank"]) if row["rank"] else None,
            name,
            row["ability"],
            *row["ci"],
            row["wins"],
            row["ties"],
            row["losses"],
            row["both_bad"],
        ]
        for name, row in named
    ]
    header = [
        "rank",
        "system",
        "ability",
        *_bound_headers(result),
        "wins",
        "ties",
        "losses",
        "both bad",
    ]
    return Table("systems", "Systems by preferences", header, rows, _describe(result))


def _describe(result: Values) -> str:
    """Return the note of the first table."""
    sentences = [
        f"{format_count(result['counted'], 'battle')} on {format_count(result['topics'], 'topic')}"
        + (
            f"; the model leaves out {format_count(result['both_bad'], 'battle')} judged 'both bad'."
            if result["both_bad"]
            else "."
        )
    ]
    if result["no_maximum"]:
        sentences.append(f"There are no abilities: {result['no_maximum']}.")
    else:
        sentences.append(
            "Abilities are log-odds against the mean of the systems, by the Bradley-Terry model "
            "with ties; confidence intervals are clustered by topic."
        )
        if result["topics"] < 2:
            sentences.append("Confidence intervals need at least two topics.")
        leader = result["ranking"][0]
        if rivals := result["not_separated"]:
            sentences.append(
                f"The uncorrected confidence interval of the difference from {leader} includes 0 "
                f"for {', '.join(rivals)}."
            )
    left = result["left"]
    if left["share"] is not None:
        low, high = left["ci"]
        spread = f" (CI {low:.3f} to {high:.3f})" if low is not None else ""
        sentences.append(
            f"The answer on the left won {left['wins']:,} of {left['decided']:,} decided battles, "
            f"{left['share']:.3f}{spread}."
        )
    both = result["shown_both_ways"]
    if both["units"]:
        sentences.append(
            f"Of {format_count(both['units'], 'pair')} shown both ways to the same annotator, "
            f"{both['same']} got the same answer, {both['both_left']} the left side twice and "
            f"{both['both_right']} the right side twice."
        )
    return " ".join(sentences)


def result_charts(result: Values) -> list[Picture]:
    rows = [
        DrawnInterval(name, result["systems"][name]["ability"], *result["systems"][name]["ci"])
        for name in result["ranking"]
    ]
    return [
        interval_chart(
            rows,
            caption="Abilities of systems",
            x_label="log-odds against the mean system",
            what="system",
            reference=(0.0, "mean"),
            reason=f"There are no abilities: {result['no_maximum']}.",
        )
    ]


class Command(FileCommand):
    help = (
        "Rank systems by preferences between two answers. The command fits a Bradley-Terry model "
        "with ties, and clusters confidence intervals by topic."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)
    takes_seed = False

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "battles",
            metavar="BATTLES",
            help=(
                "table of battles: topic, system_a, system_b, winner, and optionally shown_left, "
                "annotator, tokens_a, tokens_b, citations_a, citations_b"
            ),
        )
        add_options(parser, Options)

    def compute(self, *, battles: str, **option_values: Any) -> Values:
        stored: InMemoryInputs | None = getattr(self, "stored", None)
        given_battles = (
            stored.battles[battles]()
            if stored is not None and battles in stored.battles
            else read_battles(battles)
        )
        return compute(given_battles, Options.from_mapping(option_values))
