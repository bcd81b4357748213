"""The results page of a campaign of preferences."""

from __future__ import annotations

import math
from typing import Any

from django.db.models import Sum
from django.utils.translation import gettext as _

from analysis.judgements.battles import (
    JudgedBattle,
    count_answers,
    list_judged_battles,
    make_system_battles,
    measure_side_bias,
)
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_kept_pairs
from assay.tabular import Cell, Table


def describe_battles(campaign: Campaign) -> dict[str, Any]:
    """Return the template context of analysis/battles.html, with `tables` as tables."""
    judged = list_judged_battles(campaign)
    ranking = _compute_ranking(judged)
    slots = get_kept_pairs(campaign).filter(kind=Pair.Kind.NORMAL, unjudgeable=False)
    progress = slots.aggregate(n_needed=Sum("needed"), n_counted=Sum("counted"))
    return {
        "needed": progress["n_needed"] or 0,
        "counted": progress["n_counted"] or 0,
        "n_judged": len(judged),
        **_compute_agreement(judged),
        **ranking,
        "tables": [*ranking.get("tables", ()), *([_make_bias_table(judged)] if judged else ())],
    }


def _make_bias_table(judged: list[JudgedBattle]) -> Table:
    rows: list[list[Cell]] = [
        [one.annotator, one.judged, one.decided, one.left, one.share]
        for one in measure_side_bias(judged)
    ]
    header = ["annotator", "judged", "decided", "left wins", "share of left"]
    note = (
        "Sides are random. Without position bias, the left document wins about half of the decided "
        "battles."
    )
    return Table("annotators", "Position bias of annotators", header, rows, note)


def _compute_agreement(judged: list[JudgedBattle]) -> dict[str, Any]:
    """Return nominal alpha over all four answers, and the number of pairs on which it is based."""
    # imported here, because a web process must not load scipy before it answers
    from assay.labels.agreement.alpha import alpha_interval, krippendorff_alpha

    if not judged:
        return {"alpha": None}
    counts, topic = count_answers(judged)
    alpha = krippendorff_alpha(counts, level="nominal")
    ci = alpha_interval(counts, level="nominal", topic=topic)
    return {
        "alpha": None if math.isnan(alpha) else alpha,
        "alpha_low": None if math.isnan(ci.low) else ci.low,
        "alpha_high": None if math.isnan(ci.high) else ci.high,
        "n_shared": int((counts.sum(axis=1) > 1).sum()),
    }


def _compute_ranking(judged: list[JudgedBattle]) -> dict[str, Any]:
    """Analyse preferences: return the verdict, tables and charts. Empty without battles between
    systems."""
    from assay.analyses import compare_preferences

    if not any(one.systems for one in judged):
        return {"verdict": ""}
    battles = make_system_battles(judged)
    result = compare_preferences.compute(battles, compare_preferences.Options())
    if result["no_maximum"]:
        verdict = _("The battles don't produce a ranking: %(reason)s.") % {
            "reason": result["no_maximum"]
        }
    elif not result["not_separated"]:
        verdict = _("%(leader)s wins. It is better than every other system.") % {
            "leader": result["ranking"][0]
        }
    else:
        verdict = _("%(leader)s leads, but is not separated from %(others)s.") % {
            "leader": result["ranking"][0],
            "others": ", ".join(result["not_separated"]),
        }
    return {
        "verdict": verdict,
        "is_clear": not result["no_maximum"] and not result["not_separated"],
        "tables": compare_preferences.result_tables(result),
        "pictures": compare_preferences.result_charts(result),
    }
