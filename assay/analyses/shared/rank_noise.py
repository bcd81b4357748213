"""Ranks of runs under resampled judgements, to show how much label noise matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from assay.analyses.shared.planning import make_noisy_labels
from assay.cli.base import BadInput, Warn
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.label_ranks import compute_label_ranks, to_json
from assay.comparison.significance import no_verdict_reason
from assay.labels.label_noise import NoisyLabels
from assay.labels.labels import LabelTable
from assay.measures.measures import Measure
from assay.results import Values


def is_noise_requested(options: Mapping[str, Any]) -> bool:
    """Return whether label noise was requested. Raises BadInput for --label-noise without
    judgements to resample."""
    if options["label_noise"] and options["judgements"] is None:
        if options["campaign"] is None:
            raise BadInput(
                "--label-noise resamples a campaign's judgements; with files, add --judgements FILE"
            )
        if options["method"] != "majority":
            raise BadInput(f"--label-noise needs majority labels, not --method {options['method']}")
    return bool(options["label_noise"]) or options["judgements"] is not None


class RankNoise:
    """Ranks of runs under labels resampled from the judgements behind the qrels."""

    def __init__(
        self,
        judgements: LabelTable,
        judged: QrelsColumns,
        runs: Sequence[RunColumns],
        *,
        source: str,
        warn: Warn,
    ) -> None:
        self.judgements, self.judged, self.runs = judgements, judged, runs
        self.source, self.warn = source, warn

    @cache  # noqa: B019 - lives as long as one command
    def resample_labels(self, measure: Measure, min_relevant: int) -> NoisyLabels:
        return make_noisy_labels(
            self.judgements,
            self.judged,
            self.runs,
            [measure],
            min_relevant=min_relevant,
            source=self.source,
            warn=self.warn,
        )

    def rank_runs(
        self,
        measure: Measure,
        min_relevant: int,
        topics: Sequence[str],
        shown: Sequence[str],
        *,
        labellings: int,
        trials: int,
        seed: int,
    ) -> Values | None:
        """Rank the runs on these topics under resampled labels. Returns None and warns if too few
        of them have labels computed from the judgements."""
        noisy = self.resample_labels(measure, min_relevant)
        place = {topic: number for number, topic in enumerate(noisy.qrels.topics)}
        chosen = np.array([place[topic] for topic in topics if topic in place], np.int64)
        if absent := len(topics) - len(chosen):
            self.warn(
                f"{absent} of {len(topics)} topics have no pair with two judgements and are "
                "left out of the ranks with label noise"
            )
        if not len(chosen):
            return None
        if why := no_verdict_reason(len(chosen)):
            self.warn(f"no ranks with label noise: {why} with individual judgements")
            return None
        (ranks,) = compute_label_ranks(
            noisy, chosen, labellings=labellings, trials=trials, seed=seed
        )
        return {
            **to_json(ranks, [run.tag for run in self.runs], list(shown)),
            "topics": len(chosen),
            "pairs": len(noisy.qrels.grades),
        }
