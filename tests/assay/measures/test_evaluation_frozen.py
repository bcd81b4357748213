"""The reference evaluator's own test cases: every measure of ours in its frozen outputs, each topic
and the means, in all printed digits.

Out of scope: preference qrels, z-scores (-Z), -M. Options behind each file:
how_the_outputs_were_made.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.formats.qrels import read_qrels
from assay.formats.runs import read_run
from assay.measures.evaluation import Evaluator
from assay.measures.measures import parse_measures

pytestmark = pytest.mark.data

CASES = [
    # output, qrels, run, level, topics, values compared
    ("out.test", "qrels.test", "results.test", 1, "intersection", 13),
    ("out.test", "qrels.test.with-comments", "results.test", 1, "intersection", 13),
    ("out.comment.test", "qrels.comment.test.gz", "results.comment.test.gz", 1, "intersection", 13),
    ("out.test.a", "qrels.test", "results.test", 1, "intersection", 47),
    ("out.test.aq", "qrels.test", "results.test", 1, "intersection", 188),
    ("out.test.aqc", "qrels.test", "results.trunc", 1, "complete", 176),
    ("out.test.aql", "qrels.rel_level", "results.test", 2, "intersection", 188),
    ("out.test.meas_params", "qrels.test", "results.test", 1, "intersection", 44),
]
SIMPLE = {"map": "AP", "Rprec": "Rprec", "bpref": "Bpref", "recip_rank": "RR", "ndcg": "nDCG"}
CUT = {
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "P": "P",
    "recall": "R",
    "success": "Success",
    "unj": "Judged",
}


def our_name(theirs: str) -> str | None:
    family, _, cutoff = theirs.rpartition("_")
    if theirs in SIMPLE:
        return SIMPLE[theirs]
    return f"{CUT[family]}@{cutoff}" if family in CUT and cutoff.isdigit() else None


@pytest.mark.parametrize("scores", ["float32", "float64"])
@pytest.mark.parametrize(("output", "qrels", "run", "level", "topics", "n_values"), CASES)
def test_a_frozen_output_is_reproduced_in_all_printed_digits(
    data_folder: Path,
    output: str,
    qrels: str,
    run: str,
    level: int,
    topics: str,
    n_values: int,
    scores: str,
) -> None:
    folder = data_folder / "trec_eval-reference"
    expected: dict[tuple[str, str], str] = {}
    for line in (folder / output).read_text().splitlines():
        measure, topic, printed = (cell.strip() for cell in line.split("\t"))
        if measure.startswith("unj") and topics == "complete":
            continue  # where nothing is retrieved both the unjudged and the judged share are 0
        if our_name(measure):
            expected[measure, topic] = printed
    assert len(expected) == n_values
    measures = list(dict.fromkeys(measure for measure, _ in expected))
    evaluator = Evaluator(
        read_qrels(str(folder / qrels)),
        parse_measures([our_name(m) or "" for m in measures]),
        min_relevant=level,
        missing_topics="zero" if topics == "complete" else "skip",
    )
    found = evaluator.evaluate(read_run(str(folder / run), scores=scores, lenient=True))
    means = found.means()
    for (measure, topic), printed in expected.items():
        column = measures.index(measure)
        value = means[column] if topic == "all" else found.values[found.topics.index(topic), column]
        if measure.startswith("unj"):  # the unjudged share of the top k
            value = 1 - value
        assert abs(value - float(printed)) <= 0.00005 + 1e-12, (measure, topic)
