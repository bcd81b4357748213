"""`manage.py aggregate JUDGEMENTS`: labels from judgements, as qrels."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from analysis.core.aggregation import METHODS, Aggregation
from analysis.judged_files import add_judgement_options, dropped_rows, read_judged
from pooling.commandline import FileCommand, text_table, whole_file
from pooling.formats.qrels import write_qrels


class Command(FileCommand):
    help = "Aggregate judgements to one label for each pair, and write the qrels."
    makes_data_file = True

    def arguments(self, parser: CommandParser) -> None:
        add_judgement_options(parser)
        parser.add_argument("--method", choices=list(METHODS), default="majority", help="default majority, with the lowest-grade rule")
        parser.add_argument("--grades", choices=["graded", "binary"], default="graded", help="which labels the qrels have (default graded)")

    def compute(self, *, method: str, grades: str, min_judgements: int, output: str | None, **options: Any) -> dict[str, Any]:
        table, dropped, threshold, _ = read_judged(self, options)
        labels = {
            "graded": METHODS[method](table, min_judgements=min_judgements),
            "binary": METHODS[method](table.binary(threshold), min_judgements=min_judgements),
        }
        chosen = labels[grades]
        if output and output != "-":
            with whole_file(output) as out:
                write_qrels(chosen.qrels(grades), out)
        return {
            "pairs": chosen.n_labelled,
            "dropped": {"too_few": chosen.n_too_few, **dropped_rows(dropped)},
            **figures(chosen),
            **{name: figures(aggregation) for name, aggregation in labels.items()},
            "judgements": len(table),
            "method": method,
            "threshold": threshold,
        }

    def table(self, result: dict[str, Any], **options: Any) -> str:
        dropped = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in result["dropped"].items())
        parts = [f"{result['pairs']} labelled pairs from {result['judgements']} judgements by {result['method']}; dropped: {dropped}"]
        for name in ("graded", "binary"):
            parts.append(f"\n{name}\n{label_table_text(result[name])}")
        return "\n".join(parts)


def figures(aggregation: Aggregation) -> dict[str, Any]:
    """Labels, decisions and both crossed; decisions are None for methods without them."""
    result: dict[str, Any] = {"labels": aggregation.labels(), "decisions": aggregation.decisions(), "cross": aggregation.cross()}
    if aggregation.iterations is not None:
        result["iterations"] = aggregation.iterations
    return result


def label_table_text(figures: dict[str, Any]) -> str:
    """Labels by decision, with shares of all labels."""
    total = sum(figures["labels"].values())
    decisions = list(figures["decisions"] or {})
    rows: list[list[Any]] = [
        [str(grade), n, n / total if total else None, *((figures["cross"] or {}).get(grade, {}).get(d, 0) for d in decisions)]
        for grade, n in figures["labels"].items()
    ]
    rows.append(["all", total, 1.0 if total else None, *(figures["decisions"][d] for d in decisions)])
    return text_table(["label", "pairs", "share", *(d.replace("_", " ") for d in decisions)], rows)
