"""Draw a stratified sample of the pairs of a depth-k pool, with known probabilities."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import numpy as np

from assay.analyses.shared.pool_files import add_pool_options, tops_of_files
from assay.cli.base import BadInput, FileCommand, fraction, text_table, whole_file
from assay.counts import part_of
from assay.formats.machine_labels import read_machine_qrels
from assay.formats.prel import UNJUDGED, prel_of_rows, write_prel
from assay.formats.topics import read_topics
from assay.pools.depth import PooledPairs, depth_pool
from assay.pools.stages import STRATA
from assay.pools.strata import (
    LEAST,
    Strata,
    allocation,
    drawn,
    machine_strata,
    shuffled,
    spreads_of,
)


class Command(FileCommand):
    help = (
        "Draw a stratified random sample of a pool's pairs; the chance of each pair is known, so "
        "that scores can be estimated from it."
    )
    writes = ("output", "draw")
    makes_data_file = True

    def arguments(self, parser: ArgumentParser) -> None:
        add_pool_options(parser)
        parser.add_argument(
            "--budget",
            type=fraction,
            default=0.2,
            metavar="SHARE",
            help="share of the pool to draw (default 0.2)",
        )
        parser.add_argument(
            "--strata",
            choices=list(STRATA),
            default="rank",
            help=(
                "rank: each topic's bands of best rank (default); votes: bands of the share of "
                "runs with the pair in their top ten"
            ),
        )
        parser.add_argument(
            "--machine",
            metavar="QRELS",
            help="a machine's labels of every pair, made before: strata are votes and its grades",
        )
        parser.add_argument(
            "--qrels",
            metavar="FILE",
            help="grades of pairs that are judged already: those drawn get theirs in the file",
        )
        parser.add_argument(
            "--draw",
            metavar="FILE",
            help="table of the sampled pairs: topic, document, stratum, place, probability",
        )

    def compute(
        self,
        *,
        runs: list[str],
        depth: int,
        topics: str | None,
        order: Any,
        scores: Any,
        lenient: bool,
        budget: float,
        strata: str,
        machine: str | None,
        qrels: str | None,
        draw: str | None,
        seed: int,
        output: str | None,
        **options: Any,
    ) -> dict[str, Any]:
        if "-" in runs and topics == "-":
            raise BadInput("standard input (-) can be read once only")
        wanted = None if topics is None else [topic.topic for topic in read_topics(topics)]
        tops = tops_of_files(
            self, runs, depth=depth, topics=wanted, order=order, scores=scores, lenient=lenient
        )
        pool = depth_pool(tops, depth=depth, rng=np.random.default_rng(seed))
        if not len(pool):
            raise BadInput(
                "the runs have no document for these topics, so that there is nothing to draw from"
            )
        grades = None if qrels is None else self.grades_of(qrels, pool)
        made, spreads = self.strata_of(pool, strata, machine)
        n_wanted = round(budget * len(pool))
        counts = allocation(made.sizes, spreads, n_wanted)
        if int(counts.sum()) > n_wanted:
            self.warn(
                f"{int(counts.sum())} pairs are drawn in place of {n_wanted}: each of "
                f"{len(made.names)} strata gives at least {LEAST}; "
                "fewer strata (--strata votes) make a smaller sample possible"
            )
        place = shuffled(made, np.random.default_rng(seed), pool.documents, pool.topic)
        chosen = drawn(made, place, counts)
        labels = grades_on(pool, chosen, grades or {})
        self.write(output, draw, pool, made, place, counts, chosen, labels)
        return {
            "pairs": len(pool),
            "drawn": int(chosen.sum()),
            "graded": None if grades is None else int((labels >= 0).sum()),
            "depth": depth,
            "strata": {
                name: {"N": int(size), "n": int(n), "probability": float(n / size)}
                for name, size, n in zip(
                    made.names, made.sizes.tolist(), counts.tolist(), strict=True
                )
            },
        }

    def strata_of(
        self, pool: PooledPairs, strata: str, machine: str | None
    ) -> tuple[Strata, np.ndarray]:
        """The strata, and the spread expected within each."""
        if machine is None:
            made = STRATA[strata](pool)
            return made, spreads_of(made.rates)
        machine_grades = self.grades_of(machine, pool)
        labels = [
            machine_grades.get((pool.topics[t], d), UNJUDGED)
            for t, d in zip(pool.topic.tolist(), pool.documents.tolist(), strict=True)
        ]
        if missing := sum(label < 0 for label in labels):
            raise BadInput(
                f"{machine}: {missing} of {len(pool)} pairs of the pool have no label by the "
                f"machine; a sample by its grades needs one of every pair. "
                "Let it label the rest, or draw by votes (--strata votes)"
            )
        return machine_strata(pool, np.array(labels))

    def grades_of(self, path: str, pool: PooledPairs) -> dict[tuple[str, bytes], int]:
        qrels = read_machine_qrels(path)
        self.tell_of(path, qrels)
        grades: dict[tuple[str, bytes], int] = {}
        for index, topic in enumerate(qrels.topics):
            rows = qrels.rows(index)
            grades.update(
                zip(
                    ((topic, d) for d in qrels.documents[rows].tolist()),
                    qrels.grades[rows].tolist(),
                    strict=True,
                )
            )
        pairs = zip(
            (pool.topics[t] for t in pool.topic.tolist()), pool.documents.tolist(), strict=True
        )
        if not any(pair in grades for pair in pairs):
            self.warn(
                f"{path}: no pair of the pool is in these qrels; are ids of topics and documents spelled alike?"
            )
        return grades

    def write(
        self,
        output: str | None,
        draw: str | None,
        pool: PooledPairs,
        made: Strata,
        place: np.ndarray,
        counts: np.ndarray,
        chosen: np.ndarray,
        labels: np.ndarray,
    ) -> None:
        topics = [pool.topics[t] for t in pool.topic.tolist()]
        strata = [made.names[k] for k in made.stratum.tolist()]
        documents = pool.documents.tolist()
        if output:
            rows = [
                (t, d.decode("utf-8"), s, grade)
                for t, d, s, grade in zip(topics, documents, strata, labels.tolist(), strict=True)
            ]
            with whole_file(output) as out:
                write_prel(prel_of_rows("pool", rows, drawn=int(chosen.sum())), out)
        if draw:
            chance = (counts / made.sizes)[made.stratum]
            with whole_file(draw) as out:
                out.write("topic\tdocument\tstratum\tplace\tprobability\n")
                for k in np.flatnonzero(chosen).tolist():
                    cells = (
                        topics[k],
                        documents[k].decode("utf-8"),
                        strata[k],
                        str(place[k] + 1),
                        repr(float(chance[k])),
                    )
                    out.write("\t".join(cells) + "\n")

    def table(self, result: dict[str, Any], **options: Any) -> str:
        share = result["drawn"] / result["pairs"]
        rows = [
            [name, stratum["N"], stratum["n"], stratum["probability"]]
            for name, stratum in result["strata"].items()
        ]
        if len(rows) > 40:
            rows, rest = rows[:40], len(rows) - 40
            more = f"\n... and {rest} strata more (--json lists all)"
        else:
            more = ""
        first = (
            f"{part_of(result['drawn'], result['pairs'], 'pair')} drawn ({share:.1%}), depth "
            f"{result['depth']}, seed {result['seed']}"
        )
        if result["graded"] is not None:
            first += f". {part_of(result['graded'], result['drawn'], 'drawn pair')} with a grade"
        return f"{first}\n\n{text_table(['stratum', 'pairs', 'drawn', 'probability'], rows)}{more}"


def grades_on(
    pool: PooledPairs, chosen: np.ndarray, grades: dict[tuple[str, bytes], int]
) -> np.ndarray:
    """int64 (n_pairs): the grade of each drawn pair, -1 where it has none and of pairs that were
    not drawn."""
    pairs = zip((pool.topics[t] for t in pool.topic.tolist()), pool.documents.tolist(), strict=True)
    return np.where(chosen, [max(grades.get(pair, UNJUDGED), UNJUDGED) for pair in pairs], UNJUDGED)
