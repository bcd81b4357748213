"""Labels of real collections, counted independently (the collections' README, "Labels by METHODS
section 4")."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from assay.labels.aggregation import majority
from tests.assay.labels.real_judgements import llmjudge_2024, trec_crowd_2011, ws_zhou_2012

pytestmark = pytest.mark.data


def counts_of(aggregation) -> tuple[int, int, list[int], list[int]]:
    return (
        aggregation.n_labelled,
        aggregation.n_unlabelled,
        list(aggregation.labels().values()),
        list(aggregation.decisions().values()),
    )


def test_ws_zhou_2012_on_five_grades(data_folder):
    table = ws_zhou_2012(data_folder)
    assert len(table) == 15567
    assert counts_of(majority(table)) == (2661, 4, [422, 417, 523, 488, 811], [242, 1850, 569])


def test_ws_zhou_2012_on_two_grades(data_folder):
    assert counts_of(majority(ws_zhou_2012(data_folder).binarise(2))) == (
        2661,
        4,
        [723, 1938],
        [1155, 1267, 239],
    )


def test_trec_crowd_2011(data_folder):
    table = trec_crowd_2011(data_folder)
    assert len(table) == 57504
    assert counts_of(majority(table)) == (3322, 65, [1480, 1842], [475, 2677, 170])


def test_llmjudge_2024_without_the_labels_outside_the_scale(data_folder):
    table = llmjudge_2024(data_folder, only_the_scale=True)
    aggregation = majority(table)
    assert len(table) == 145_959 - 3
    assert list(aggregation.decisions().values()) == [354, 3951, 118]
    with gzip.open(data_folder / "llmjudge-2024" / "labels_wide.tsv.gz", "rt") as lines:
        human = {
            tuple(row[:2]): int(row[2]) for row in (line.split("\t") for line in list(lines)[1:])
        }
    truth = [human[table.pair_ids(pair)] for pair in range(table.n_pairs)]
    assert round(float(np.mean(aggregation.label == truth)), 4) == 0.5268
    assert round(cohen_kappa_score(aggregation.label, truth), 4) == 0.2735


def test_ws_zhou_2012_against_the_experts(data_folder):
    aggregation = majority(ws_zhou_2012(data_folder), min_judgements=1)
    lines = (data_folder / "ws-zhou2012" / "truth.txt").read_text().splitlines()
    truth = {item: int(label) - 1 for item, label in (line.split() for line in lines)}
    label = {
        aggregation.table.pair_ids(pair)[1]: int(grade)
        for pair, grade in enumerate(aggregation.label)
    }
    judged = [item for item in truth if item in label]
    accuracy = np.mean([label[item] == truth[item] for item in judged])
    kappa = cohen_kappa_score([label[item] for item in judged], [truth[item] for item in judged])
    assert (len(judged), round(float(accuracy), 4), round(kappa, 4)) == (2653, 0.7765, 0.7180)
