"""`--judgements FILE` or `--label-noise`: ranks when their labels, too, might have come out
otherwise."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from assay.analyses.shared.judged_files import DEFAULT_SCALE, at_least_two
from assay.analyses.shared.planning import judged_table, noisy_labels
from assay.cli.base import BadInput, FileCommand
from assay.column_types import QrelsColumns, RunColumns
from assay.comparison.label_ranks import as_json, label_ranks
from assay.comparison.significance import why_no_verdict
from assay.labels.label_noise import NoisyLabels
from assay.measures.measures import Measure

FEWEST = 2
"""Labellings whose spread can be told."""


def add_label_options(parser: ArgumentParser) -> None:
    """--judgements, --label-noise, --scale, --label-trials."""
    parser.add_argument(
        "--judgements",
        metavar="FILE",
        help="the single judgements behind QRELS: ranks with the noise of labels, too",
    )
    parser.add_argument(
        "--label-noise",
        action="store_true",
        help="label noise from the campaign's judgements, with --campaign",
    )
    parser.add_argument(
        "--scale",
        type=at_least_two,
        metavar="N",
        help=f"grades of these judgements (default {DEFAULT_SCALE})",
    )
    parser.add_argument(
        "--label-trials",
        type=at_least_two,
        default=200,
        metavar="N",
        help="labellings drawn from them (default 200)",
    )


def wants_noise(options: Mapping[str, Any]) -> bool:
    """Raises BadInput for --label-noise without judgements to draw from."""
    if options["label_noise"] and options["judgements"] is None:
        if options["campaign"] is None:
            raise BadInput(
                "--label-noise draws a campaign's judgements anew; of files it needs --judgements FILE"
            )
        if options["method"] != "majority":
            raise BadInput(f"--label-noise draws labels by majority, not by {options['method']}")
    return bool(options["label_noise"]) or options["judgements"] is not None


class RankNoise:
    """Judgements read once for all conditions under the same qrels."""

    def __init__(
        self,
        command: FileCommand,
        judged: QrelsColumns,
        runs: Sequence[RunColumns],
        options: Mapping[str, Any],
        *,
        trials: int,
        seed: int,
    ) -> None:
        self.command, self.judged, self.runs, self.options = command, judged, runs, options
        self.trials, self.seed = trials, seed
        self.table = judged_table(command, options)

    @cache  # noqa: B019 - lives as long as one command
    def noisy(self, measure: Measure, level: int) -> NoisyLabels:
        assert self.table is not None, "refused where there are no judgements"
        return noisy_labels(
            self.command,
            self.table,
            self.judged,
            self.runs,
            {**self.options, "measures": [measure], "level": level},
        )

    def of(
        self, measure: Measure, level: int | None, topics: Sequence[str], shown: list[str]
    ) -> dict[str, Any] | None:
        """For JSON; None where none of the condition's topics has a label by the judgements."""
        noisy = self.noisy(measure, self.options["level"] if level is None else level)
        place = {topic: number for number, topic in enumerate(noisy.qrels.topics)}
        chosen = np.array([place[topic] for topic in topics if topic in place], np.int64)
        if absent := len(topics) - len(chosen):
            self.command.warn(
                f"{absent} of {len(topics)} topics have no pair with two judgements and are not "
                f"in the ranks with the noise of labels"
            )
        if not len(chosen):
            return None
        if why := why_no_verdict(len(chosen)):
            self.command.warn(f"no ranks with the noise of labels: {why} with single judgements")
            return None
        (ranks,) = label_ranks(
            noisy,
            chosen,
            labellings=self.options["label_trials"],
            trials=self.trials,
            seed=self.seed,
        )
        return {
            **as_json(ranks, [run.tag for run in self.runs], shown),
            "topics": len(chosen),
            "pairs": len(noisy.qrels.grades),
        }
