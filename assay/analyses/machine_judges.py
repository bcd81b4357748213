"""`manage.py machine_judges PREL RUN... --machine NAME=QRELS`: what a machine's labels are worth
beside people's."""

from __future__ import annotations

import math
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from assay.analyses.shared.machine_answers import (
    about_of,
    agreement_of,
    contradiction_words,
    judgement_counts,
    labels_on,
    machines_of_table,
    systems_of,
    why_not_valid,
)
from assay.analyses.shared.measures import measure_list, one_qrels
from assay.analyses.shared.reading import RUNS, Reading
from assay.analyses.shared.sampled_files import packed_runs, sampled_pool
from assay.cli.base import BadInput, FileCommand, named_file, positive, text_table
from assay.column_types import QrelsColumns
from assay.formats.machine_labels import read_machine_qrels
from assay.labels.machine_agreement import mentioned, related_systems
from assay.measures.measures import Measure
from assay.options import add_options

MEASURES = "P@10 DCG@10"
KAPPAS = {"kappa": "kappa", "weighted_kappa": "weighted", "binary_kappa": "on two grades"}


class Command(FileCommand):
    help = (
        "Machine labels beside people's: agreement, rankings of systems, and people's estimates "
        "corrected by the machine."
    )

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "prel",
            metavar="PREL",
            help="human labels of a sampled pool (topic 0 document stratum grade)",
        )
        parser.add_argument("runs", nargs="+", metavar="RUN")
        parser.add_argument(
            "--machine",
            action="append",
            default=[],
            metavar="NAME=QRELS",
            help="a machine's labels of every pair of the pool",
        )
        parser.add_argument(
            "--machines",
            metavar="FILE",
            help="labels of several in one table: machine, topic, document, grade",
        )
        parser.add_argument(
            "--about",
            metavar="FILE",
            help="machines.json of a release: when they were frozen, which systems are related to them",
        )
        parser.add_argument(
            "--judgements",
            metavar="FILE",
            help="people's single judgements, for their agreement among themselves",
        )
        parser.add_argument(
            "--related",
            action="append",
            default=[],
            metavar="NAME=TAG,...",
            help="runs that were built with a machine",
        )
        parser.add_argument(
            "--measures",
            type=linear_measures,
            default=MEASURES,
            metavar='"..."',
            help=f'P@k and DCG@k (default "{MEASURES}")',
        )
        parser.add_argument(
            "--level",
            type=positive,
            default=1,
            metavar="N",
            help="lowest relevant grade (default 1)",
        )
        add_options(parser, Reading, *RUNS)

    def compute(
        self,
        *,
        prel: str,
        runs: list[str],
        machine: list[str],
        machines: str | None,
        about: str | None,
        judgements: str | None,
        related: list[str],
        measures: list[Measure],
        level: int,
        seed: int,
        **options: Any,
    ) -> dict[str, Any]:
        labelled = self.machines(machine, machines)
        told, named = about_of(about), dict(named_file(text) for text in related)
        if unknown := [name for name in named if name not in labelled]:
            raise BadInput(f"--related {unknown[0]}: no machine of this name is given")
        pool = sampled_pool(self, prel)
        packed = list(packed_runs(self, runs, pool, options))
        counts = None if judgements is None else judgement_counts(judgements, pool)
        result: dict[str, Any] = {}
        for name, qrels in labelled.items():
            labels, missing = labels_on(self, pool, qrels, name)
            known = told.get(name)
            why = why_not_valid(known) or missing
            if (labels >= 0).sum() == 0:
                raise BadInput(
                    f"{name}: no pair of the pool has a label by it; are ids of topics and documents spelled alike?"
                )
            if missing and machine and not machines:
                raise BadInput(missing)
            given = [*named.get(name, "").split(","), *mentioned(known or {})]
            kin = related_systems(
                [one.tag for one in packed],
                [name, str((known or {}).get("model", ""))],
                [one.strip() for one in given],
            )
            result[name] = {
                "agreement": agreement_of(pool, labels, level, counts),
                "systems": {
                    str(one): systems_of(
                        pool, packed, labels, one, level, seed, related=kin, why=why
                    )
                    for one in measures
                },
                **({"related": kin} if kin else {}),
                **({"refused": why} if why else {}),
            }
        return result

    def machines(self, given: list[str], table: str | None) -> dict[str, QrelsColumns]:
        if not given and table is None:
            raise BadInput(
                "no machine is given; name one with --machine NAME=QRELS, or several with --machines FILE"
            )
        machines = {} if table is None else machines_of_table(table)
        for text in given:
            name, path = named_file(text)
            if name in machines:
                raise BadInput(f"two machines are called {name}; name them, as in first={path}")
            machines[name] = one_qrels(self, path, name, read=read_machine_qrels)
        return machines

    def table(self, result: dict[str, Any], **options: Any) -> str:
        parts = []
        for name, judge in result.items():
            if name == "seed":
                continue
            parts += [
                agreement_words(name, judge["agreement"]),
                *related_words(name, judge.get("related", {})),
            ]
            if "refused" in judge:
                parts.append(f"People are not corrected by {name}: {judge['refused']}.")
            for measure, systems in judge["systems"].items():
                parts += systems_words(measure, systems)
        parts.append(
            "Valid only if the machine's labels were made and frozen before the draw, people did "
            "not see them, and no system that is "
            "compared here was built on this machine."
        )
        return "\n\n".join(parts)


def agreement_words(name: str, agreement: dict[str, Any]) -> str:
    rows = [
        [
            "people's labels and the machine's",
            agreement["pairs"],
            *(spread([agreement[key], *agreement["intervals"][key]]) for key in KAPPAS),
        ]
    ]
    if people := agreement.get("people"):
        rows.append(
            [
                "one person's and the machine's",
                people["pairs"],
                *(spread(people["one_and_machine"][key]) for key in KAPPAS),
            ]
        )
        rows.append(
            [
                "two people's",
                people["pairs"],
                *(spread(people["among_themselves"][key]) for key in KAPPAS),
            ]
        )
    table = text_table(["labels", "pairs", *(KAPPAS.values())], rows)
    without = [
        f"No interval of {KAPPAS[key]}: {reason}." for key, reason in agreement["undefined"].items()
    ]
    return "\n".join(
        [
            f"{name}, agreement, each pair weighted by one over its chance to be drawn",
            table,
            *without,
        ]
    )


def related_words(name: str, related: dict[str, str]) -> list[str]:
    if not related:
        return []
    shown = ", ".join(f"{tag} ({why})" for tag, why in related.items())
    return [
        f"Circular: {shown}. {name} may not judge these systems; what it says of them says nothing."
    ]


def systems_words(measure: str, systems: dict[str, Any]) -> list[str]:
    columns = [
        ("people", "people"),
        *((key, key.replace("_", "-")) for key in ("corrected", "cross_fitted") if key in systems),
    ]
    rows = [
        [tag, *(cell for key, _ in columns for cell in systems[key][tag])]
        for tag in systems["people"]
    ]
    header = ["run"] + [f"{what}{end}" for _, what in columns for end in ("", " from", " to")]
    half = systems["halves"]
    said = [f"{measure}\n{text_table(header, rows)}"]
    worth = (
        f"With its labels people's judgements are worth {figure(systems['gain'])} times their number here. "
        if "gain" in systems
        else ""
    )
    said.append(
        f"{worth}Alone it ranks the systems with tau {figure(systems['tau_machine_alone'])} to "
        f"people's, the best five with "
        f"{figure(systems['tau_machine_alone_top5'])}: its scores alone are no verdict. On halves "
        f"of the topics people's ranking agrees with "
        f"people's other half with {figure(half['people'])}, the machine's with "
        f"{figure(half['machine'])}; the best five with "
        f"{figure(half['best_people'])} and {figure(half['best_machine'])}."
    )
    if "contradictions" in systems:
        said.append(contradiction_words(systems["contradictions"]))
    by_reason: dict[str, list[str]] = {}
    for tag, reason in systems.get("undefined", {}).items():
        by_reason.setdefault(reason, []).append(tag)
    return said + [
        f"{measure} of {', '.join(tags)}: no interval, {reason}."
        for reason, tags in sorted(by_reason.items())
    ]


def linear_measures(text: str) -> list[Measure]:
    """For argparse: measures that are sums over documents, so that a correction of their labels is
    one of their values."""
    measures = measure_list(text)
    for measure in measures:
        if measure.family not in ("P", "DCG") or measure.condensed or measure.cutoff is None:
            raise ArgumentTypeError(f"{measure} is not linear in the grades, expected P@k or DCG@k")
    return measures


def figure(value: float | None) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.2f}"


def spread(values: list[float]) -> str:
    value, low, high = values
    return (
        figure(value)
        if low is None or math.isnan(low)
        else f"{figure(value)} ({figure(low)} to {figure(high)})"
    )
