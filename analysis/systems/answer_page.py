"""Content of a campaign's Results page: sentences, charts and tables."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analysis.judgements.live import CampaignSnapshot, get_snapshot
from analysis.systems.answer_pictures import (
    describe_leader_history,
    interim_checks_chart,
    pairs_chart,
    rank_history_table,
    scores_chart,
    scores_table,
)
from analysis.systems.answers import (
    default_measure,
    failure_message,
    get_last_answer,
    get_measure,
    get_newest_answer,
    is_running,
    list_answered_measures,
    no_answer_reason,
    offered_measures,
)
from annotation.models import Campaign
from assay.charts.svg import Picture
from assay.comparison.leading_system import ALPHA, MAX_NAMED, join_names, split_leaders_and_rivals
from assay.measures.measures import UnknownMeasure
from pooling.models import Job


def page_context(campaign: Campaign, requested_measure: str) -> tuple[dict[str, Any], Job | None]:
    """Return the template context of the Results page and a new job to send. requested_measure: name of a
    measure as entered, the default measure if empty."""
    shown: dict[str, Any] = {
        "offered": offered_measures(campaign),
        "measure": requested_measure or default_measure(campaign),
        "wrong": "",
        "why_not": no_answer_reason(campaign),
    }
    shown["depth"] = campaign.judged_depth
    try:
        measure = get_measure(campaign, shown["measure"])
    except UnknownMeasure as error:
        return shown | {"wrong": str(error)}, None
    shown["measure"] = str(measure)
    if shown["why_not"]:
        return shown, None
    live = get_snapshot(campaign)
    if not live.rows.counts.any():
        return shown | {"why_not": _("No judgements yet.")}, None
    answer, job = get_newest_answer(campaign, live, measure)
    shown |= {
        "working": is_running(campaign, measure),
        "problem": failure_message(campaign, measure),
    }
    return shown | (_answer_context(answer, live) if answer is not None else {}), job


def reader_context(campaign: Campaign, requested_measure: str) -> dict[str, Any]:
    """Return the template context of the Results page for read-only visitors, from the newest
    stored answer and without starting a job. Only measures with an answer are offered."""
    measures = list_answered_measures(campaign)
    usual = default_measure(campaign)
    wanted = (
        requested_measure
        if requested_measure in measures
        else usual
        if usual in measures
        else next(iter(measures), usual)
    )
    shown: dict[str, Any] = {
        "offered": measures,
        "measure": wanted,
        "reading": True,
        "why_not": no_answer_reason(campaign),
    }
    shown["depth"] = campaign.judged_depth
    if shown["why_not"]:
        return shown
    live = get_snapshot(campaign)
    if not live.rows.counts.any():
        return shown | {"why_not": _("No judgements yet.")}
    answer = get_last_answer(campaign, live, get_measure(campaign, wanted))
    return shown | (_answer_context(answer, live) if answer is not None else {})


def _answer_context(answer: dict[str, Any], live: CampaignSnapshot) -> dict[str, Any]:
    scores, *further = answer_charts(answer)
    return {
        "answer": answer,
        "headline": describe_decision(answer),
        "rests": describe_basis(answer, len(live.pairs.topics)),
        "unjudged": describe_unjudged(answer),
        "order": describe_leader_history(answer),
        "chart": scores,
        "pictures": further,
        "tables": [
            scores_table(answer),
            *([rank_history_table(answer)] if len(answer["interim_checks"]) > 1 else []),
        ],
        "missing": describe_missing_intervals(answer),
        "notes": answer_notes(answer),
    }


def describe_decision(answer: dict[str, Any]) -> str:
    """Say in one sentence whether one system is best."""
    if not answer["systems"] or not answer["topics"]:
        return _("No ranking yet: no topic has a label.")
    leaders, rivals = split_leaders_and_rivals(answer)
    names = {"leader": join_names(leaders, MAX_NAMED)}
    if answer["untested"]:
        return _("No verdict yet: %(why)s.") % {"why": answer["untested"]}
    unclear = [one.tag for one in rivals if not one.p < ALPHA]
    opposed = [one.tag for one in rivals if one.p < ALPHA and one.is_opposed]
    if unclear:
        return ngettext(
            "No clear winner: %(leader)s leads, but does not differ significantly from %(runs)s (Holm correction).",
            "No clear winner: %(leader)s lead, but do not differ significantly from %(runs)s (Holm correction).",
            len(leaders),
        ) % {**names, "runs": join_names(unclear, MAX_NAMED)}
    if opposed:
        return _(
            "No clear winner: mean and signed ranks disagree about %(leader)s and %(runs)s."
        ) % {**names, "runs": join_names(opposed, MAX_NAMED)}
    if len(leaders) > 1:
        return _("No single winner: %(leader)s have the same mean.") % names
    return (
        _("%(leader)s is best: it differs significantly from every other run (Holm correction).")
        % names
    )


def answer_charts(answer: dict[str, Any]) -> list[Picture]:
    made = [scores_chart(answer), pairs_chart(answer)]
    return [*made, interim_checks_chart(answer)] if len(answer["interim_checks"]) > 1 else made


def describe_basis(answer: dict[str, Any], n_topics: int) -> str:
    """Describe the labels and topics on which the answer is based."""
    n_labels, least = answer["labels"], answer["min_judgements"]
    if answer["estimated"]:
        return " ".join(
            (
                ngettext(
                    "Estimated over %(n)s topic.", "Estimated over %(n)s topics.", answer["topics"]
                )
                % {"n": f"{answer['topics']:,}"},
                ngettext(
                    "%(n)s of the %(pairs)s sampled pairs has a label.",
                    "%(n)s of the %(pairs)s sampled pairs have a label.",
                    n_labels,
                )
                % {"n": f"{n_labels:,}", "pairs": f"{answer['pairs']:,}"},
                _("The p-values apply to new topics."),
            )
        )
    sentences = (
        ngettext(
            "Based on the %(n)s of %(whole)s topic with a label.",
            "Based on the %(n)s of %(whole)s topics with a label.",
            n_topics,
        )
        % {"n": f"{answer['topics']:,}", "whole": f"{n_topics:,}"},
        ngettext("%(n)s label by majority.", "%(n)s labels by majority.", n_labels)
        % {"n": f"{n_labels:,}"},
        ngettext(
            "A label needs at least %(n)s judgement.",
            "A label needs at least %(n)s judgements.",
            least,
        )
        % {"n": f"{least:,}"},
    )
    words = " ".join(sentences)
    if n := answer["without_relevant"]:
        says = ngettext(
            "%(n)s topic has no relevant document yet and scores 0.",
            "%(n)s topics have no relevant document yet and score 0.",
            n,
        )
        words += " " + says % {"n": f"{n:,}"}
    return words


def describe_unjudged(answer: dict[str, Any]) -> str:
    """Describe the unjudged documents and how they could change the scores."""
    if answer["estimated"]:
        return _("Pairs outside the sample are estimated rather than counted as not relevant.")
    told = [one for one in answer["systems"] if one["unjudged"] is not None]
    why = answer["why_no_bounds"]
    not_said = " " + _("Score bounds are not available: %(why)s.") % {"why": why} if why else ""
    if not told:
        return _("Unjudged documents count as not relevant in these means.") + not_said
    most = max(told, key=lambda one: (one["unjudged"], one["tag"]))
    if most["unjudged"] == 0:
        return answer["open"] or _("Every document that affects these scores is judged.")
    mean = sum(one["unjudged"] for one in told) / len(told)
    says = _(
        "%(share)s%% of the documents that affect these scores are unjudged (highest: %(tag)s, "
        "%(most)s%%). They count as not relevant here."
    )
    words = says % {
        "share": f"{100 * mean:.0f}",
        "tag": most["tag"],
        "most": f"{100 * most['unjudged']:.0f}",
    }
    return words + not_said if why else f"{words} {answer['open']}".rstrip()


def describe_missing_intervals(answer: dict[str, Any]) -> list[str]:
    """Describe why runs have no confidence interval."""
    notes = []
    by_reason: dict[str, list[str]] = {}
    for one in answer["systems"]:
        if one["reason"]:
            by_reason.setdefault(one["reason"], []).append(one["tag"])
    for reason, tags in by_reason.items():
        says = (
            _("No confidence interval for %(runs)s and %(more)s more: %(reason)s.")
            if len(tags) > 5
            else _("No confidence interval for %(runs)s: %(reason)s.")
        )
        if len(tags) == len(answer["systems"]):
            says = _("No confidence interval for any run: %(reason)s.")
        notes.append(says % {"runs": ", ".join(tags[:5]), "more": len(tags) - 5, "reason": reason})
    return notes


def answer_notes(answer: dict[str, Any]) -> list[str]:
    """Return notes on an answer: the effect of frequent checks, and unpooled runs."""
    notes = [
        _(
            "Tests and 95% confidence intervals hold for one check. If you check repeatedly "
            "while judging, the error rate exceeds 5%."
        )
    ]
    if not answer["estimated"]:
        notes.append(
            _(
                "Runs that did not contribute to the pool have more unjudged documents, which lowers their scores more."
            )
        )
    return notes
