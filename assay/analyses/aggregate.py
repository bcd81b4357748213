"""`manage.py aggregate JUDGEMENTS`: labels from judgements, as qrels."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from assay.analyses.shared.counted_judgements import CountedJudgements
from assay.analyses.shared.judged_files import add_judgement_options, dropped_rows, read_judged
from assay.cli.base import FileCommand, text_table, whole_file
from assay.counts import counted
from assay.formats.qrels import write_qrels
from assay.labels.aggregation import METHODS, Aggregation
from assay.labels.aggregation.dawid_skene import Rule


class Command(FileCommand):
    help = "Aggregate judgements to one label for each pair, and write the qrels."
    makes_data_file = True

    def arguments(self, parser: ArgumentParser) -> None:
        add_judgement_options(parser)
        parser.add_argument(
            "--method",
            choices=list(METHODS),
            default="majority",
            help="default majority, with the lowest-grade rule",
        )
        parser.add_argument(
            "--rule",
            choices=[str(rule) for rule in Rule],
            default=str(Rule.PENALISED),
            help=(
                "rule of dawid-skene: penalised (0.01 added to each count, to convergence) or "
                "crowd-kit"
            ),
        )
        parser.add_argument(
            "--grades",
            choices=["graded", "binary"],
            default="graded",
            help="labels of the qrels (default: graded)",
        )

    def compute(
        self,
        *,
        method: str,
        rule: str,
        grades: str,
        min_judgements: int,
        output: str | None,
        **options: Any,
    ) -> dict[str, Any]:
        judged = read_judged(self, options)
        labels = labels_by_scale(judged, method, rule, min_judgements)
        chosen = labels[grades]
        if not chosen.n_labelled:
            self.warn(
                f"no pair has a label: none has {counted(min_judgements, 'counted judgement')}. "
                f"--min-judgements asks for fewer"
            )
        for name, aggregation in labels.items():
            if aggregation.ended is not None and not aggregation.ended.converged:
                rounds = counted(aggregation.ended.rounds, "round")
                self.warn(
                    f"{method} did not converge on the {name} scale within {rounds}. Some labels "
                    f"might change in further rounds"
                )
        if output:
            with whole_file(output) as out:
                write_qrels(chosen.qrels(grades), out)
        return {
            "pairs": chosen.n_labelled,
            "dropped": {"too_few": chosen.n_too_few, **dropped_rows(judged.dropped)},
            **figures(chosen),
            **{name: figures(aggregation) for name, aggregation in labels.items()},
            **further_options(method, rule),
            "judgements": len(judged.table),
            "method": method,
            "threshold": judged.threshold,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        dropped = ", ".join(
            f"{n} {reason.replace('_', ' ')}" for reason, n in result["dropped"].items()
        )
        parts = [
            (
                f"{counted(result['pairs'], 'labelled pair')} from "
                f"{counted(result['judgements'], 'judgement')} by {result['method']}; dropped: "
                f"{dropped}"
            )
        ]
        for name in ("graded", "binary"):
            parts.append(f"\n{name}\n{label_table_text(result[name])}{ended_text(result[name])}")
        return "\n".join(parts)


def further_options(method: str, rule: str) -> dict[str, Any]:
    """What this method takes beyond those that all take."""
    return {"rule": Rule(rule)} if method == "dawid-skene" else {}


def labels_by_scale(
    judged: CountedJudgements, method: str, rule: str, min_judgements: int
) -> dict[str, Aggregation]:
    """Under `graded` and `binary`."""
    scales = {"graded": judged.table, "binary": judged.table.binary(judged.threshold)}
    return {
        name: METHODS[method](table, min_judgements=min_judgements, **further_options(method, rule))
        for name, table in scales.items()
    }


def figures(aggregation: Aggregation) -> dict[str, Any]:
    """Labels, decisions and both crossed; decisions are None for methods without them."""
    result: dict[str, Any] = {
        "labels": aggregation.labels(),
        "decisions": aggregation.decisions(),
        "cross": aggregation.cross(),
    }
    if aggregation.ended is not None:
        result |= aggregation.ended._asdict()
    return result


def ended_text(figures: dict[str, Any]) -> str:
    """How an iterative method ended."""
    if "rounds" not in figures:
        return ""
    how = "converged" if figures["converged"] else "not converged: the rounds ran out"
    likelihood = (
        ""
        if figures["log_likelihood"] is None
        else f", log-likelihood with the prior {figures['log_likelihood']:.6g}"
    )
    return f"\n{counted(figures['rounds'], 'round')}, {how}{likelihood}"


def label_table_text(figures: dict[str, Any]) -> str:
    """Labels by decision, with shares of all labels."""
    total = sum(figures["labels"].values())
    decisions = list(figures["decisions"] or {})
    rows: list[list[Any]] = [
        [
            str(grade),
            n,
            n / total if total else None,
            *((figures["cross"] or {}).get(grade, {}).get(d, 0) for d in decisions),
        ]
        for grade, n in figures["labels"].items()
    ]
    rows.append(
        ["all", total, 1.0 if total else None, *(figures["decisions"][d] for d in decisions)]
    )
    return text_table(["label", "pairs", "share", *(d.replace("_", " ") for d in decisions)], rows)
