"""Draw a stratified random sample of a pool."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.analyses.shared.pool_files import (
    PoolOptions,
    add_pool_options,
    read_pooled_topics,
    read_run_tops,
)
from assay.cli.base import BadInput, FileCommand, Warn, write_text_atomically
from assay.column_types import QrelsColumns
from assay.formats.llm_labels import read_llm_qrels
from assay.formats.prel import UNJUDGED, make_prel, write_prel
from assay.number_words import format_part
from assay.options import option
from assay.pools.depth import PooledPairs, make_depth_pool
from assay.pools.stages import STRATA_MAKERS
from assay.pools.strata import (
    MIN_PER_STRATUM,
    PoolSample,
    Strata,
    allocate_sample,
    make_llm_strata,
    rate_spreads,
    sampled_mask,
    shuffle_strata,
)
from assay.results import Values
from assay.tabular import Cell, Table

Grades = Mapping[tuple[str, bytes], int]
"""{(topic, document): grade}."""


@dataclass(frozen=True)
class Options(PoolOptions):
    budget: float = option(
        0.2,
        "Share to draw",
        help="share of the pool to draw",
        least=0,
        most=1,
        metavar="SHARE",
    )
    strata: str = option(
        "rank",
        "Strata",
        help="basis of the strata",
        choices=(
            ("rank", "windows of the best rank within each topic"),
            ("votes", "windows of the share of runs with the pair in their top 10"),
        ),
    )


def draw_sample(
    pool: PooledPairs,
    options: Options,
    *,
    llm_labels: Grades | None = None,
    grades: Grades | None = None,
    seed: int = 0,
    warn: Warn,
) -> PoolSample:
    """Draw pairs from every stratum of the pool, more from strata with a larger expected spread.

    llm_labels: an LLM judge's label of every pair, from which strata are formed together with
    votes, or None. grades: grades of pairs that are already judged. Raises BadInput for an empty
    pool, and for pairs without an LLM label.
    """
    if not len(pool):
        raise BadInput("the runs have no document for these topics, so there is nothing to sample")
    made, spreads = _make_strata(pool, options.strata, llm_labels)
    n_wanted = round(options.budget * len(pool))
    counts = allocate_sample(made.sizes, spreads, n_wanted)
    if int(counts.sum()) > n_wanted:
        warn(
            f"{int(counts.sum())} pairs are drawn instead of {n_wanted}: each of "
            f"{len(made.names)} strata gives at least {MIN_PER_STRATUM}. Fewer strata (--strata "
            "votes) allow a smaller sample"
        )
    place = shuffle_strata(made, np.random.default_rng(seed), pool.documents, pool.topic)
    is_drawn = sampled_mask(made, place, counts)
    labels = None
    if grades is not None:
        known = [max(grades.get(pair, UNJUDGED), UNJUDGED) for pair in iterate_pairs(pool)]
        labels = np.where(is_drawn, known, UNJUDGED)
    return PoolSample(pool, made, place, counts, is_drawn, labels)


def compute(sample: PoolSample) -> Values:
    """Count the pairs of a sample by stratum, with their sampling probabilities."""
    made = sample.strata
    return {
        "pairs": len(sample.pool),
        "drawn": int(sample.is_drawn.sum()),
        "graded": None if sample.labels is None else int((sample.labels >= 0).sum()),
        "depth": sample.pool.depth,
        "strata": {
            name: {"N": int(size), "n": int(n), "probability": float(n / size)}
            for name, size, n in zip(
                made.names, made.sizes.tolist(), sample.counts.tolist(), strict=True
            )
        },
    }


def iterate_pairs(pool: PooledPairs) -> Iterator[tuple[str, bytes]]:
    """Yield (topic, document) of each pair of the pool, in order."""
    return zip((pool.topics[t] for t in pool.topic.tolist()), pool.documents.tolist(), strict=True)


def grades_by_pair(qrels: QrelsColumns) -> Grades:
    topics = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.offsets)).tolist()
    pairs = zip((qrels.topics[t] for t in topics), qrels.documents.tolist(), strict=True)
    return dict(zip(pairs, qrels.grades.tolist(), strict=True))


def _make_strata(
    pool: PooledPairs, strata: str, llm_labels: Grades | None
) -> tuple[Strata, NDArray[np.float64]]:
    """Return the strata, and the spread expected within each."""
    if llm_labels is None:
        made = STRATA_MAKERS[strata](pool)
        return made, rate_spreads(made.rates)
    labels = [llm_labels.get(pair, UNJUDGED) for pair in iterate_pairs(pool)]
    if missing := sum(label < 0 for label in labels):
        raise BadInput(
            f"{missing} of {len(pool)} pairs of the pool have no LLM label; strata by LLM "
            "labels need one for every pair. Let the LLM judge label the rest, or use "
            "--strata votes"
        )
    return make_llm_strata(pool, np.array(labels))


def result_tables(result: Values) -> list[Table]:
    rows: list[list[Cell]] = [
        [name, stratum["N"], stratum["n"], stratum["probability"]]
        for name, stratum in result["strata"].items()
    ]
    seed = f", seed {result['seed']}" if "seed" in result else ""
    note = (
        f"{format_part(result['drawn'], result['pairs'], 'pair')} drawn "
        f"({result['drawn'] / result['pairs']:.1%}), depth {result['depth']}{seed}."
    )
    if result["graded"] is not None:
        note += f" {format_part(result['graded'], result['drawn'], 'drawn pair')} with a grade."
    header = ["stratum", "pairs", "drawn", "probability"]
    return [Table("strata", "Sample by stratum", header, rows, note)]


class Command(FileCommand):
    help = (
        "Draw a stratified random sample of a pool's pairs. The probability of each pair is "
        "known, so that you can estimate scores from the sample."
    )
    writes = ("output", "draw")
    makes_data_file = True
    tables = staticmethod(result_tables)

    def arguments(self, parser: ArgumentParser) -> None:
        add_pool_options(parser, Options)
        parser.add_argument(
            "--llm-qrels",
            metavar="QRELS",
            help="qrels file of LLM labels for every pair of the pool; strata combine votes and "
            "these labels",
        )
        parser.add_argument(
            "--judged",
            metavar="FILE",
            help="qrels file of pairs that are already judged; drawn pairs get these grades",
        )
        parser.add_argument(
            "--draw",
            metavar="FILE",
            help="output table of the pairs drawn: topic, document, stratum, place, probability",
        )

    def compute(
        self,
        *,
        runs: list[str],
        only_topics: str | None,
        llm_qrels: str | None,
        judged: str | None,
        draw: str | None,
        seed: int,
        output: str | None,
        **option_values: Any,
    ) -> Values:
        options = Options.from_mapping(option_values)
        tops = read_run_tops(self, runs, options, read_pooled_topics(runs, only_topics))
        pool = make_depth_pool(tops, depth=options.depth, rng=np.random.default_rng(seed))
        sample = draw_sample(
            pool,
            options,
            llm_labels=None if llm_qrels is None else self.read_grades(llm_qrels, pool),
            grades=None if judged is None else self.read_grades(judged, pool),
            seed=seed,
            warn=self.warn,
        )
        if output:
            write_sample(output, sample)
        if draw:
            write_drawn_pairs(draw, sample)
        return compute(sample)

    def read_grades(self, path: str, pool: PooledPairs) -> Grades:
        """Read the grades of a qrels file. Warns if it has none of the pool's pairs."""
        qrels = read_llm_qrels(path)
        self.show_reader_messages(path, qrels)
        grades = grades_by_pair(qrels)
        if len(pool) and not any(pair in grades for pair in iterate_pairs(pool)):
            self.warn(
                f"{path}: no pair of the pool is in these qrels; check the topic and document IDs"
            )
        return grades


def write_sample(path: str, sample: PoolSample) -> None:
    """Write every pair with its stratum and its grade, -1 if not drawn or not judged."""
    labels = np.full(len(sample.pool), UNJUDGED) if sample.labels is None else sample.labels
    rows = [
        (topic, document.decode("utf-8"), sample.strata.names[stratum], grade)
        for (topic, document), stratum, grade in zip(
            iterate_pairs(sample.pool), sample.strata.stratum.tolist(), labels.tolist(), strict=True
        )
    ]
    with write_text_atomically(path) as out:
        write_prel(make_prel("pool", rows, drawn=int(sample.is_drawn.sum())), out)


def write_drawn_pairs(path: str, sample: PoolSample) -> None:
    """Write a table of the pairs drawn, in the order of the pool."""
    made, probability = sample.strata, sample.probability
    with write_text_atomically(path) as out:
        out.write("topic\tdocument\tstratum\tplace\tprobability\n")
        for k, (topic, document) in enumerate(iterate_pairs(sample.pool)):
            if sample.is_drawn[k]:
                cells = (
                    topic,
                    document.decode("utf-8"),
                    made.names[made.stratum[k]],
                    str(sample.place[k] + 1),
                    repr(float(probability[k])),
                )
                out.write("\t".join(cells) + "\n")
