"""What the page Systems of a campaign shows of its answer: sentences, pictures and tables."""

from __future__ import annotations

from typing import Any

from django.utils.safestring import mark_safe

from analysis.core.measures import UnknownMeasure
from analysis.judgements.live import live_rows
from analysis.systems.answer_pictures import looks_picture, order_words, pairs_picture, places_table, scores_picture, scores_table
from analysis.systems.answers import is_running, measure_named, newest_answer, offered, problem_of, usual_measure, why_no_answer
from annotation.models import Campaign
from pooling.core.counts import counted
from pooling.models import Job


def context_of(campaign: Campaign, asked: str) -> tuple[dict[str, Any], Job | None]:
    """-> (what the template shows, a new job to be sent). asked: the name of a measure as a person wrote it, empty for the usual one."""
    shown: dict[str, Any] = {"offered": offered(campaign), "measure": asked or usual_measure(campaign), "wrong": "", "why_not": why_no_answer(campaign)}
    try:
        measure = measure_named(campaign, shown["measure"])
    except UnknownMeasure as error:
        return shown | {"wrong": str(error)}, None
    shown["measure"] = str(measure)
    if shown["why_not"]:
        return shown, None
    live = live_rows(campaign)
    if not live.rows.counts.any():
        return shown | {"why_not": "Nothing is judged yet."}, None
    answer, job = newest_answer(campaign, live, measure)
    shown |= {"working": is_running(campaign, measure), "problem": problem_of(campaign, measure)}
    if answer is not None:
        shown |= {
            "answer": answer,
            "rests": rests_on(answer, len(live.pairs.topics)),
            "unjudged": holes_words(answer),
            "order": order_words(answer),
            "pictures": [mark_safe(picture) for picture in pictures_of(answer)],
            "tables": [scores_table(answer), *([places_table(answer)] if len(answer["looks"]) > 1 else [])],
            "notes": notes_on(answer),
        }
    return shown, job


def pictures_of(answer: dict[str, Any]) -> list[str]:
    made = [scores_picture(answer), pairs_picture(answer)]
    return [*made, looks_picture(answer)] if len(answer["looks"]) > 1 else made


def rests_on(answer: dict[str, Any], n_topics: int) -> str:
    """Which labels and topics count."""
    labels, least = counted(answer["labels"], "label"), counted(answer["min_judgements"], "judgement")
    if answer["estimated"]:
        return (
            f"Estimated over {counted(answer['topics'], 'topic')} from {labels} of a sample of {counted(answer['pairs'], 'pair')}; "
            "the p-values are those of new topics."
        )
    words = f"Over {answer['topics']:,} of {counted(n_topics, 'topic')}, those with a label; {labels}, each by the majority of at least {least}."
    if n := answer["without_relevant"]:
        words += f" {counted(n, 'topic', 'has', 'have')} no relevant document yet and {'counts' if n == 1 else 'count'} with the score 0."
    return words


def holes_words(answer: dict[str, Any]) -> str:
    """What is unjudged, and what that could change."""
    if answer["estimated"]:
        return "What was not drawn is estimated, not taken for not relevant."
    told = [one for one in answer["systems"] if one["unjudged"] is not None]
    if not told:
        return f"Unjudged documents count as not relevant in these means. How far they could move them is not said: {answer['why_no_bounds']}."
    most = max(told, key=lambda one: (one["unjudged"], one["tag"]))
    if most["unjudged"] == 0:
        return answer["open"] or "Every document that these scores look at is judged."
    mean = sum(one["unjudged"] for one in told) / len(told)
    share = f"Of the documents that these scores look at {100 * mean:.0f} % are unjudged"
    words = f"{share}, most of {most['tag']} ({100 * most['unjudged']:.0f} %); they count as not relevant here."
    if answer["why_no_bounds"]:
        return f"{words} How far they could move the means is not said: {answer['why_no_bounds']}."
    return f"{words} {answer['open']}"


def notes_on(answer: dict[str, Any]) -> list[str]:
    """What to know beside: why intervals are missing, and what looking often does."""
    notes = []
    by_reason: dict[str, list[str]] = {}
    for one in answer["systems"]:
        if one["reason"]:
            by_reason.setdefault(one["reason"], []).append(one["tag"])
    for reason, tags in by_reason.items():
        of = "any run" if len(tags) == len(answer["systems"]) else ", ".join(tags[:5]) + (f" and {len(tags) - 5} more" if len(tags) > 5 else "")
        notes.append(f"No interval for {of}: {reason}.")
    notes.append("The tests are those of this moment: who looks after each judgement and stops at the first small p is wrong more often than 5 %.")
    if not answer["estimated"]:
        notes.append("Runs that did not contribute to the pool have more unjudged documents and lose more by them.")
    return notes
