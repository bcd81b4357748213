"""Values published in papers, shown next to the computed ones."""

from __future__ import annotations

TRIPJUDGE_STATISTICS: dict[str, str | int | float] = {
    "topics": 1136,
    "documents": "2.3M",
    "pairs": 12590,
    "judgements": 38810,
    "per_pair": 2.92,
    "annotators": 135,
    "per_annotator": 287,
}
"""Table 1 of TripJudge. Judgements and annotators are before cleaning, topics and pairs after it.
"""
TRIPJUDGE_GRADES = ((3811, 0.10, 39), (10901, 0.28, 47), (13008, 0.33, 54), (11090, 0.29, 44))
"""Table 1 of TripJudge, for the grades Wrong, Topic, Partial and Perfect: judgements, share, mean
seconds."""
TRIPJUDGE_DECISIONS = {
    "graded": {"unanimous": 0.20, "lowest_grade": 0.22},
    "binary": {"unanimous": 0.48, "lowest_grade": 0.02},
}
TRIPJUDGE_KAPPA = {"graded": 0.60, "binary": 0.63}
"""Figure 2 of TripJudge: mean kappa over annotators. Half of the kappas are between 0.50 and 0.70.
"""
TRIPJUDGE_SURVEY = {"Very good": 0.33, "Good": 0.28, "Decent": 0.27, "Don't like it": 0.12}

TRIPJUDGE_RUNS = (
    "bm25",
    "scibert_dot",
    "pubmedbert_dot",
    "colbert_scibert",
    "colbert_pubmedbert",
    "bert_cat",
    "3bert_fix_ensemble_avg",
)
"""The systems of Table 2 of TripJudge, with the names in the authors' evaluation script."""
TRIPJUDGE_MEANS = {
    "TripJudge": {
        "nDCG@5": (0.694, 0.540, 0.377, 0.538, 0.527, 0.540, 0.698),
        "nDCG@10": (0.570, 0.456, 0.356, 0.501, 0.493, 0.506, 0.592),
        "R@100": (0.771, 0.636, 0.649, 0.790, 0.777, 0.818, 0.814),
    },
    "DCTR": {
        "nDCG@5": (0.122, 0.232, 0.223, 0.254, 0.261, 0.271, 0.285),
        "nDCG@10": (0.140, 0.243, 0.235, 0.270, 0.278, 0.287, 0.303),
        "R@100": (0.499, 0.562, 0.582, 0.589, 0.595, 0.594, 0.600),
    },
    "Raw": {
        "nDCG@5": (0.199, 0.362, 0.345, 0.395, 0.412, 0.421, 0.443),
        "nDCG@10": (0.198, 0.328, 0.318, 0.367, 0.382, 0.389, 0.409),
        "R@100": (0.464, 0.496, 0.518, 0.547, 0.551, 0.552, 0.556),
    },
}
"""Mean scores in Table 2 of TripJudge, in the order of TRIPJUDGE_RUNS."""
TRIPJUDGE_TAU = {
    "nDCG@5": {"TripJudge-DCTR": 0.333, "TripJudge-Raw": 0.333, "DCTR-Raw": 1.0},
    "nDCG@10": {"TripJudge-DCTR": 0.428, "TripJudge-Raw": 0.428, "DCTR-Raw": 1.0},
    "RR@10": {"TripJudge-DCTR": 0.238, "TripJudge-Raw": 0.238, "DCTR-Raw": 1.0},
    "R@100": {"TripJudge-DCTR": 0.238, "TripJudge-Raw": 0.333, "DCTR-Raw": 0.714},
}
"""Kendall's tau in Table 3 of TripJudge."""
