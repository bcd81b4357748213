"""The datasheet of a release: contents, provenance, statistics, and the commands that reproduce
them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Sum

from analysis.judgements.agreement_by_entry import describe_agreement_by_entry
from analysis.judgements.campaign_sample import is_sampled, read_stage_progress
from analysis.judgements.labels import KNOWN_GRADE_COLUMN, Labels
from analysis.publishing.release.parts import PARTS, ReleaseContent
from annotation.core.audit_actions import AuditAction
from annotation.core.text_similarity import NEAR_DUPLICATE_THRESHOLD, WORDS_PER_SHINGLE
from annotation.models import AuditEvent, Campaign, Pair
from annotation.selectors import llm_judges
from annotation.selectors.pairs import get_kept_pairs
from assay import markdown, number_words

MAX_LISTED = 50
"""Maximum number of removed topics listed."""


def write_datasheet(content: ReleaseContent) -> str:
    """Return the datasheet of a release as Markdown."""
    campaign, about, statistics, made = (
        content.campaign,
        content.about,
        content.statistics,
        content.labels,
    )
    return (
        "\n\n".join(
            part
            for part in (
                f"# {markdown.escape_line(campaign.name)}",
                (
                    "**Simulated.** This release contains judgements of simulated "
                    "annotators. It says nothing about real documents."
                )
                if campaign.simulated
                else "",
                _as_of_text(campaign, about),
                markdown.escape_paragraphs(campaign.description),
                _origin_text(campaign, about, made),
                _scale_text(campaign, made.min_relevant),
                _removed_topics_text(campaign),
                _statistics_table(statistics, campaign.n_topics),
                _grades_table(campaign, statistics),
                _decisions_table(statistics),
                _agreement_table(content.agreement),
                _commands_text(campaign, about, made),
                _llm_judges_text(campaign),
                "## Files\n\n"
                + _format_markdown_rows(
                    ("File", "Content"),
                    [(f"`{part.name}`", part.holds) for part in PARTS if part.is_included(content)],
                ),
                "## Privacy\n\nAnnotators appear under pseudonyms used only in this "
                "campaign. This release contains no names, addresses or accounts"
                + (
                    "; annotators' notes are included as written."
                    if content.plan.notes
                    else ", and annotators' notes are left out."
                ),
                f"Built by Assay {about['software']}. The same recipe on the same data gives "
                f"the same bytes.\n\nContent digest: `{about['content_sha256']}`, the SHA-256 "
                "of the judgements and labels alone. It is the same in every version of "
                "Assay.",
            )
            if part
        )
        + "\n"
    )


def _as_of_text(campaign: Campaign, about: Mapping[str, Any]) -> str:
    """Return the date of an open campaign's data, or an empty string for a closed campaign."""
    states = {
        Campaign.State.DRAFT: "campaign not opened yet",
        Campaign.State.OPEN: "campaign still open",
        Campaign.State.PAUSED: "campaign paused, not closed",
    }
    if campaign.state not in states:
        return ""
    state = states[Campaign.State(campaign.state)]
    if about["as_of"] is None:
        return f"**No judgement yet, {state}.**"
    return (
        f"**As of {about['as_of']}, {state}.** This is the time of the newest judgement or "
        "adjudication in this release. A later release may contain more."
    )


def _llm_judges_text(campaign: Campaign) -> str:
    """Describe the LLM judges whose labels are in the release. Empty without frozen LLM judges."""
    if not (frozen := llm_judges.get_frozen_judges(campaign)):
        return ""
    rows = [
        (
            judge.name,
            judge.model,
            judge.prompt_name or f"file {judge.file_name}",
            f"{judge.frozen_at:%Y-%m-%d}",
            judge.digest,
        )
        for judge in frozen
    ]
    return (
        "## LLM labels\n\n`llm-labels.tsv` contains labels by LLM judges. They are "
        "stored separately and never mixed with human labels: the labels, qrels, statistics "
        "and agreement above are human. LLM labels alone do not support a verdict, and an "
        "LLM judge must not judge a system that was built on it.\n\n"
        + _format_rows(
            ("LLM judge", "Model", "Prompt", "Frozen", "SHA-256 of its labels as qrels"), rows
        )
    )


def _format_rows(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return _format_markdown_rows(
        head, [[markdown.escape_line(str(cell)) for cell in row] for row in rows]
    )


def _format_markdown_rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows whose cells are Markdown as a table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def format_figure(value: Any, digits: int = 3, reason: str = "") -> str:
    """Format a number for the datasheet. An undefined number is replaced by the reason."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return f"undefined: {reason}" if reason else "undefined"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{digits}f}"


def format_share(value: Any) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{100 * value:.1f}%"


def _origin_text(campaign: Campaign, about: Mapping[str, Any], labels: Labels) -> str:
    pool, choices = about["pool"], labels.choices
    sentences = [f"Collection: {markdown.escape_line(about['collection']['name'])}."]
    if pool:
        sentences.append(
            f"Pool: {markdown.escape_line(pool['name'])}, {markdown.escape_line(pool['words'])}, "
            f"seed {pool['seed']}, {number_words.format_count(pool['pairs'], 'pair')}."
        )
    sentences.append(
        f"Judgements per pair: {campaign.judgements_per_pair}. Minimum active time: "
        f"{campaign.min_active_seconds:g} s."
    )
    asked = (
        get_kept_pairs(campaign)
        .filter(asked_more__gt=0)
        .aggregate(pairs=Count("pk"), judgements=Sum("asked_more"))
    )
    sentences += _near_duplicate_notes(campaign)
    sentences += _depth_notes(campaign)
    sentences += _additional_judgements_notes(asked["pairs"], asked["judgements"] or 0)
    sentences.append(
        f"Labels: {markdown.escape_line(', '.join(choices.words()))}; "
        f"{number_words.format_count(len(labels.rows), 'labelled pair')}, {labels.n_adjudicated:,} of them adjudicated."
    )
    if is_sampled(campaign):
        sentences.append(
            "The pool is sampled: only randomly drawn pairs are judged. A measure under "
            "qrels.txt would count all others as not relevant. Estimate scores from "
            "prels.txt, which has the stratum of every pair."
        )
    if labels.n_known:
        sentences.append(
            f"{number_words.format_count(labels.n_known, 'label', 'is', 'are')} from known "
            f"grades of qualification pairs (marked {KNOWN_GRADE_COLUMN} in labels.tsv)."
        )
    return "## Origin\n\n" + "\n".join(f"- {sentence}" for sentence in sentences)


def _near_duplicate_notes(campaign: Campaign) -> list[str]:
    """Note that annotators were shown their own grade of a similar document, and since when. Empty
    if this never happened."""
    turns = _setting_changes(campaign, "show_near_duplicates")
    if not campaign.show_near_duplicates and not turns:
        return []
    turned = ", ".join(f"{'on' if is_on else 'off'} on {at:%Y-%m-%d}" for at, is_on in turns)
    return [
        "If a document was very similar to one the same annotator had already graded in the "
        "topic, the annotator could open that one with their own grade (resemblance at least "
        f"{NEAR_DUPLICATE_THRESHOLD:g} of shingles of {WORDS_PER_SHINGLE} words). Grades of "
        "such documents are not independent."
        + (f" After the campaign opened, this was switched {turned}." if turns else "")
    ]


def _setting_changes(campaign: Campaign, setting: str) -> list[tuple[datetime, Any]]:
    """Return the changes of a setting since the campaign opened, as (time, new value)."""
    if campaign.opened_at is None:
        return []
    rows = AuditEvent.objects.filter(
        campaign=campaign, action=AuditAction.CHANGED_SETTINGS, at__gte=campaign.opened_at
    ).order_by("at", "pk")
    return [
        (row.at, row.details["changes"][setting][1])
        for row in rows
        if setting in row.details.get("changes", {})
    ]


def _depth_notes(campaign: Campaign) -> list[str]:
    """Explain the effect of a judging depth, and why the judged pairs beyond it are not a random
    sample."""
    if campaign.judged_to is None:
        return []
    beyond = get_kept_pairs(campaign).filter(beyond_depth=True, kind=Pair.Kind.NORMAL)
    n, n_judged = beyond.count(), beyond.filter(counted__gt=0).count()
    lie, were = (
        number_words.format_count(n, "pair lies", plural="pairs lie"),
        "was" if n_judged == 1 else "were",
    )
    return [
        f"Judging ended at {campaign.level_word} {campaign.judged_to}: {lie} beyond it, of "
        f"which {n_judged:,} {were} judged before that, in order of assignment. Labels beyond "
        f"that {campaign.level_word} are not a random sample."
    ]


def _additional_judgements_notes(n_pairs: int, n_judgements: int) -> list[str]:
    """Describe the additional judgements that managers requested. Managers select pairs by their
    judgements, so these judgements are not on a random sample."""
    if not n_pairs:
        return []
    pairs = number_words.format_count(n_pairs, "pair")
    return [
        (
            "Managers also requested "
            f"{number_words.format_count(n_judgements, 'additional judgement')} of {pairs} "
            "that they chose (asked_more in pairs.tsv)."
        )
    ]


def _scale_text(campaign: Campaign, min_relevant: int) -> str:
    rows = [
        (
            g["value"],
            g["name"],
            g.get("explanation", ""),
            "yes" if g["value"] >= min_relevant else "no",
        )
        for g in campaign.scale
    ]
    return "## Scale\n\n" + _format_rows(
        ("Grade", "Name", "Explanation", "Relevant on two grades"), rows
    )


def _removed_topics_text(campaign: Campaign) -> str:
    """Describe which topics were removed. Empty if none was."""
    removed = campaign.collection.topics.exclude(removed_reason="").order_by("position", "topic_id")
    rows = [(t.topic_id, t.removed_reason, t.same_as) for t in removed[:MAX_LISTED]]
    if not rows:
        return ""
    n = removed.count()
    said = (
        f"{n:,} topic{' was' if n == 1 else 's were'} removed with all "
        f"{'its' if n == 1 else 'their'} judgements"
    )
    more = (
        f"; the first {MAX_LISTED} are listed here, all of them in topics-removed.tsv"
        if n > MAX_LISTED
        else ""
    )
    return f"## Topics removed\n\n{said}{more}.\n\n" + _format_rows(
        ("Topic", "Reason", "Same as"), rows
    )


def _statistics_table(s: Mapping[str, Any], n_topics: int) -> str:
    depth = s["complete_depth"]
    rows = [
        (
            "Topics with judgements (of those with pairs)",
            number_words.format_count_of_total(s["topics"], n_topics),
        ),
        (
            "Documents in the collection",
            "not known" if s["documents"] is None else format_figure(s["documents"]),
        ),
        ("Judged pairs", format_figure(s["pairs"])),
        ("Labelled pairs", format_figure(s["labelled_pairs"])),
        ("Judgements", format_figure(s["judgements"])),
        ("Judgements per judged pair", format_figure(s["per_pair"], 2, "no counted judgements")),
        (
            "Judgements per labelled pair",
            format_figure(s["per_labelled_pair"], 2, "no pair has a label"),
        ),
        ("Annotators", format_figure(s["annotators"])),
        ("Judgements per annotator", format_figure(s["per_annotator"], 1, "no counted judgements")),
        (
            "Deepest complete rank of the pool",
            "not known"
            if depth is None
            else (format_figure(depth) if depth else "not even rank 1"),
        ),
        ("Relevant share of labels on two grades", format_share(s["relevant_share"])),
    ]
    if s["truncated_share"] is not None:
        rows.append(("Pairs shown with a shortened document", format_share(s["truncated_share"])))
    text = "## Statistics\n\n" + _format_rows(("", "All"), rows)
    text += "\n\nCounted judgements only, without adjudications."
    return text + "".join(
        f"\n\nNote: {markdown.escape_line(warning)}." for warning in s["warnings"]
    )


def _grades_table(campaign: Campaign, s: Mapping[str, Any]) -> str:
    names = {grade["value"]: grade["name"] for grade in campaign.scale}
    rows = [
        (
            names[grade],
            format_figure(row["n"]),
            format_share(row["share"]),
            format_figure(row["mean_seconds"], 1),
            format_figure(row["median_seconds"], 1),
        )
        for grade, row in s["grades"].items()
        if grade in names
    ]
    return "## Judgements by grade\n\n" + _format_rows(
        ("Grade", "Judgements", "Share", "Mean active seconds", "Median"), rows
    )


def _decisions_table(s: Mapping[str, Any]) -> str:
    rows = []
    for scale in ("graded", "binary"):
        total = sum(s[scale]["labels"].values())
        for label, n in s[scale]["labels"].items():
            cross = (s[scale]["cross"] or {}).get(label, {})
            said = (
                ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in cross.items())
                or "not by votes"
            )
            rows.append((scale, label, f"{n:,}", format_share(n / total if total else None), said))
    return "## Labels and how they were decided\n\n" + _format_rows(
        ("Scale", "Label", "Pairs", "Share", "Decided by"), rows
    )


def _agreement_table(agreement: Mapping[str, Any]) -> str:
    if "undefined" in agreement:
        return f"## Agreement\n\nUndefined: {markdown.escape_line(agreement['undefined'])}."
    kinds = (
        ("mean_kappa", "Cohen's kappa with the label, mean over annotators"),
        ("chance_floor", "chance-level agreement with the label"),
        ("mean_kappa_others", "Cohen's kappa with the others' label, mean"),
        ("mean_pairwise_kappa", "pairwise Cohen's kappa, mean"),
        ("alpha", "Krippendorff's alpha (ordinal; nominal on two grades)"),
        ("fleiss", "Fleiss' kappa"),
        ("percent", "agreeing pairs of judgements"),
    )
    graded, binary = agreement["graded"], agreement["binary"]
    rows = []
    for name, words in kinds:
        cells = [
            format_figure(scale[name], 3, scale["reasons"].get(name, ""))
            for scale in (graded, binary)
        ]
        if name == "alpha":
            cells = [
                _format_with_interval(cell, scale)
                for cell, scale in zip(cells, (graded, binary), strict=True)
            ]
        rows.append((words, *cells))
    said = describe_agreement_by_entry(agreement.get("by_entry", []))
    apart = (
        (
            "\n\nThe pool was judged most likely relevant first. Ordinal alpha of pairs "
            f"{said}. Only randomly drawn pairs are a sample of the pool."
        )
        if said
        else ""
    )
    return (
        "## Agreement\n\n"
        + _format_rows(("", "All grades (kappa linearly weighted)", "Two grades"), rows)
        + apart
    )


def _format_with_interval(cell: str, scale: Mapping[str, Any]) -> str:
    low, high = scale["alpha_ci"]
    if low is None or math.isnan(low):
        return (
            f"{cell} (no confidence interval: {scale['alpha_ci_reason']})"
            if scale.get("alpha_ci_reason")
            else cell
        )
    return f"{cell} (95% CI {low:.3f} to {high:.3f}, over {scale['alpha_ci_unit']})"


def _commands_text(campaign: Campaign, about: Mapping[str, Any], labels: Labels) -> str:
    n, least = labels.table.n_grades, labels.choices.min_judgements
    common = f"judgements.tsv --grades {n} --min-relevant {labels.min_relevant} --min-seconds 0 --min-judgements {least}"
    documents = about["collection"]["n_documents"]
    lines = [
        f"assay aggregate {common} --method {labels.choices.method} --labels graded --output again-qrels.txt",
        f"assay aggregate {common} --method {labels.choices.method} --labels binary --output again-qrels-binary.txt",
        f"assay judgements stats {common} --pool pairs.tsv{f' --n-documents {documents}' if documents else ''} --json",
        f"assay agreement {common} --json",
    ]
    if is_sampled(campaign) and read_stage_progress(campaign)[0]:
        lines.append("assay evaluate prels.txt RUN... --sampled")
    note = ""
    if labels.n_adjudicated:
        overrides = number_words.format_count(
            labels.n_adjudicated,
            "label of adjudications.tsv",
            "overrides",
            "override",
            plural="labels of adjudications.tsv",
        )
        note = f" {overrides} aggregated labels."
    if labels.n_known:
        known = number_words.format_count(labels.n_known, "label", "is", "are")
        note += (
            f" {known} marked {KNOWN_GRADE_COLUMN} in labels.tsv come from the gold grades of "
            "qualification.tsv, not from a command."
        )
    code = "\n".join(lines)
    return f"## Commands that reproduce the numbers\n\nRun them in the folder of this release.{note}\n\n```sh\n{code}\n```"
