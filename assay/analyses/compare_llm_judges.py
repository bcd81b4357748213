"""Compare LLM judges with human judgements, and correct estimates with their labels."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.llm_answers import (
    align_labels_with_pool,
    compute_agreement,
    compute_systems,
    invalid_correction_reason,
    read_judge_metadata,
    read_judgement_counts,
    read_llm_labels,
)
from assay.analyses.shared.llm_tables import result_charts, result_tables
from assay.analyses.shared.measures import iterate_runs, parse_measure_list, read_one_qrels
from assay.analyses.shared.reading import RunReading
from assay.analyses.shared.sampled_files import SampledPool, read_sampled_pool
from assay.cli.base import BadInput, FileCommand, parse_named_file
from assay.column_types import QrelsColumns, RunColumns
from assay.formats.llm_labels import read_llm_qrels
from assay.labels.llm_agreement import find_related_systems, parse_related
from assay.measures.measures import Measure
from assay.measures.packing import pack_run
from assay.options import add_options, option
from assay.results import Values

MEASURES = "P@10 DCG@10"


def parse_linear_measures(text: str) -> list[Measure]:
    """Parse measures that are sums over documents, so that correcting labels corrects their
    values."""
    measures = parse_measure_list(text)
    for measure in measures:
        if measure.family not in ("P", "DCG") or measure.condensed or measure.cutoff is None:
            raise ArgumentTypeError(f"{measure} is not linear in the grades, expected P@k or DCG@k")
    return measures


@dataclass(frozen=True)
class Options(RunReading):
    measures: list[Measure] = option(
        MEASURES,
        "Measures",
        help=f'space-separated measures, P@k or DCG@k (default: "{MEASURES}")',
        hint="Space-separated names of P@k and DCG@k.",
        read=parse_linear_measures,
        metavar='"..."',
        kind="measures",
    )


def compute(
    pool: SampledPool,
    runs: Iterable[RunColumns],
    labels: Mapping[str, QrelsColumns],
    options: Options,
    *,
    counts: np.ndarray | None = None,
    about: Mapping[str, Mapping[str, Any]] | None = None,
    related: Mapping[str, Sequence[str]] | None = None,
    partial: bool = False,
    seed: int = 0,
) -> Values:
    """Compare each LLM judge with the human judgements of a sampled pool, and correct estimates.

    labels: by name of the LLM judge. counts: float64 (n_pairs, n_grades), human judgements of each
    pair by grade, for inter-annotator agreement. about: times when the labels were frozen and the
    sample was drawn, by name. related: tags of runs built with an LLM judge, by its name. partial:
    accept LLM judges with labels of only some pairs, which are compared but not used for
    correction. Kappas are undefined, with a reason, if there is too little variation. Raises
    BadInput for labels of no pair or, unless partial, of some pairs. Source: Angelopoulos, Duchi
    and Zrnic (2023), PPI++.
    """
    about, related = about or {}, related or {}
    if unknown := [name for name in related if name not in labels]:
        raise BadInput(
            f"--related: unknown LLM judge {unknown[0]}; choose from {', '.join(labels)}"
        )
    packed = [pack_run(run, pool.index) for run in runs]
    result: Values = {}
    for name, qrels in labels.items():
        grades, missing = align_labels_with_pool(pool, qrels, name)
        known = about.get(name)
        why = invalid_correction_reason(known) or missing
        if (grades >= 0).sum() == 0:
            raise BadInput(
                f"{name}: none of its labels is for a pair of the pool; check the topic and document IDs"
            )
        if missing and not partial:
            raise BadInput(missing)
        related_tags = [*related.get(name, ()), *parse_related(known or {})]
        kin = find_related_systems(
            [one.tag for one in packed],
            [name, str((known or {}).get("model", ""))],
            [one.strip() for one in related_tags],
        )
        result[name] = {
            "agreement": compute_agreement(pool, grades, options.min_relevant, counts),
            "systems": {
                str(one): compute_systems(
                    pool, packed, grades, one, options.min_relevant, seed, related=kin, why=why
                )
                for one in options.measures
            },
            **({"related": kin} if kin else {}),
            **({"refused": why} if why else {}),
        }
    return result


class Command(FileCommand):
    help = (
        "Compare LLM judges with human judgements. Report agreement, rankings of systems, and "
        "estimates corrected by prediction-powered inference."
    )
    tables = staticmethod(result_tables)
    charts = staticmethod(result_charts)

    def arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "prel",
            metavar="PREL",
            help="human judgements of a sampled pool (topic 0 document stratum grade)",
        )
        parser.add_argument("runs", nargs="+", metavar="RUN")
        parser.add_argument(
            "--llm-labels",
            action="append",
            default=[],
            metavar="NAME=QRELS",
            help="qrels file of an LLM judge's labels for every pair of the pool",
        )
        parser.add_argument(
            "--llm-table",
            metavar="FILE",
            help="table of labels of several LLM judges: llm_judge, topic, document, grade",
        )
        parser.add_argument(
            "--about",
            metavar="FILE",
            help=(
                "file llm-judges.json of a release, which lists related systems and the times at "
                "which the labels were frozen"
            ),
        )
        parser.add_argument(
            "--judgements",
            metavar="FILE",
            help="file of individual human judgements, used to measure inter-annotator agreement",
        )
        parser.add_argument(
            "--related",
            action="append",
            default=[],
            metavar="NAME=TAG,...",
            help="tags of the runs built with an LLM judge",
        )
        add_options(parser, Options)

    def compute(
        self,
        *,
        prel: str,
        runs: list[str],
        llm_labels: list[str],
        llm_table: str | None,
        about: str | None,
        judgements: str | None,
        related: list[str],
        seed: int,
        **option_values: Any,
    ) -> Values:
        labels = self.read_labels(llm_labels, llm_table)
        told = read_judge_metadata(about)
        kin = {name: tags.split(",") for name, tags in map(parse_named_file, related)}
        pool = read_sampled_pool(self, prel)
        return compute(
            pool,
            iterate_runs(self, runs, option_values),
            labels,
            Options.from_mapping(option_values),
            counts=None if judgements is None else read_judgement_counts(judgements, pool),
            about=told,
            related=kin,
            partial=llm_table is not None or not llm_labels,
            seed=seed,
        )

    def read_labels(self, named_files: list[str], table: str | None) -> dict[str, QrelsColumns]:
        if not named_files and table is None:
            raise BadInput(
                "labels of an LLM judge are missing; give --llm-labels NAME=QRELS, or --llm-table FILE for several judges"
            )
        labels = {} if table is None else read_llm_labels(table)
        for text in named_files:
            name, path = parse_named_file(text)
            if name in labels:
                raise BadInput(
                    f"two LLM judges are called {name}; rename one, for example first={path}"
                )
            labels[name] = read_one_qrels(self, path, name, read=read_llm_qrels)
        return labels
