"""Write releases.

with open(path, "wb") as out:
    write_release(campaign, ReleasePlan("first", LabelChoices()), out)
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO

import numpy as np
from django.db.models import Max
from django.utils.translation import gettext as _

from analysis.judgements.agreement_by_entry import compute_agreement_by_entry
from analysis.judgements.labels import LabelChoices, Labels, make_labels
from analysis.judgements.rows import read_pool_ranks
from analysis.publishing.contents import iterate_raw_judgements
from analysis.publishing.release import datasheet
from analysis.publishing.release.parts import (
    FORMAT,
    SHARED_SETTINGS,
    VERSION,
    ReleaseContent,
    ReleasePlan,
    last_part_writers,
    part_writers,
)
from analysis.publishing.zips import write_zip
from annotation.models import Campaign, Judgement
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.errors import CampaignError
from assay.analyses.shared.json_values import annotator_json, scale_json, statistics_json
from assay.campaigns.statistics import compute_campaign_statistics
from assay.formats.exports import RAW_COLUMNS, format_raw_cells, format_time
from assay.formats.qrels import write_qrels
from assay.labels.agreement.report import make_agreement_report
from assay.version import program_version
from pooling.platform.snapshot import snapshot
from pooling.services.matching import count_documents

DIGESTED_COLUMNS = (
    "qid",
    "docid",
    "annotator",
    "revision",
    "grade",
    "cannot_judge_reason",
    "spans",
    "judged_at",
    "excluded",
)
"""Columns of judgements.tsv in the content digest. They must never change, because digests are
compared across versions."""


def write_release(
    campaign: Campaign,
    plan: ReleasePlan,
    out: BinaryIO,
    *,
    step: Callable[[str], object] = lambda name: None,
) -> dict[str, Any]:
    """Write a release as a zip file from one snapshot.

    Returns as_of and content_sha256 (docs/how-to/publish.md) and the counts of pairs, judgements,
    adjudicated and parts. Raises CampaignError if an ID is not allowed in qrels.
    """
    with snapshot():
        content = collect_release_content(
            Campaign.objects.select_related("collection", "pool").get(pk=campaign.pk), plan
        )
        files, last = part_writers(content), last_part_writers(content)
        with _refuse_invalid_ids():
            write_zip(out, files, last=last, step=step)
    made = content.labels
    counts = {
        "pairs": len(made.rows),
        "judgements": len(made.table),
        "adjudicated": made.n_adjudicated,
        "parts": len(files) + len(last),
    }
    return {
        "as_of": content.about["as_of"],
        "content_sha256": content.about["content_sha256"],
        **counts,
    }


@contextmanager
def _refuse_invalid_ids() -> Iterator[None]:
    """Raise CampaignError if a topic or document ID is not allowed in qrels."""
    try:
        yield
    except ValueError as error:
        raise CampaignError(
            _("The release can't be built: %(error)s.") % {"error": error}
        ) from error


def collect_release_content(campaign: Campaign, plan: ReleasePlan) -> ReleaseContent:
    made = make_labels(campaign, plan.choices)
    content = ReleaseContent(
        campaign=campaign,
        plan=plan,
        labels=made,
        statistics=release_statistics(campaign, plan, made),
        agreement=release_agreement(campaign, plan, made),
        about=describe_campaign(campaign, plan, made),
    )
    return replace(content, sheet=datasheet.write_datasheet(content))


def content_digest(campaign: Campaign, choices: LabelChoices, labels: Labels) -> str:
    """Return the SHA-256 digest of the judgements and labels, as defined in docs/how-to/publish.md."""
    places = [RAW_COLUMNS.index(name) for name in DIGESTED_COLUMNS]
    cells = map(format_raw_cells, iterate_raw_judgements(campaign, choices, notes=False))
    digest = hashlib.sha256(
        "".join(sorted("\t".join(row[place] for place in places) + "\n" for row in cells)).encode()
    )
    for grades in ("graded", "binary"):
        text = io.StringIO()
        with _refuse_invalid_ids():
            write_qrels(labels.qrels(grades), text)
        digest.update(text.getvalue().encode())
    return digest.hexdigest()


def newest_judgement_time(campaign: Campaign) -> datetime | None:
    """Return the time of the campaign's newest judgement or adjudication, None if there is none."""
    pairs = get_kept_pairs(campaign)
    judged = Judgement.objects.filter(pair__in=pairs).aggregate(at=Max("judged_at"))["at"]
    ruled = pairs.exclude(adjudicated_grade=None).aggregate(at=Max("adjudicated_at"))["at"]
    return max((at for at in (judged, ruled) if at is not None), default=None)


def format_release_time(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


def describe_campaign(campaign: Campaign, plan: ReleasePlan, labels: Labels) -> dict[str, Any]:
    """Return the content of campaign.json: what an installation needs to recreate the campaign."""
    pool = campaign.pool
    settings = {name: getattr(campaign, name) for name in SHARED_SETTINGS}
    if not campaign.further_questions:  # releases of one question are as in earlier versions
        del settings["further_questions"]
    return {
        "format": FORMAT,
        "version": VERSION,
        "software": program_version(),
        "as_of": format_time(newest_judgement_time(campaign)) or None,
        "content_sha256": content_digest(campaign, plan.choices, labels),
        "campaign": {
            "slug": campaign.slug,
            "state": campaign.state,
            "simulated": campaign.simulated,
            "seed": campaign.seed,
            "least_priority": campaign.least_priority,
            "opened_at": format_release_time(campaign.opened_at),
            "closed_at": format_release_time(campaign.closed_at),
            "settings": {
                name: format_release_time(value) if isinstance(value, datetime) else value
                for name, value in settings.items()
            },
        },
        "collection": {
            "slug": campaign.collection.slug,
            "name": campaign.collection.name,
            "description": campaign.collection.description,
            "n_documents": count_documents(campaign.collection),
        },
        "pool": None
        if pool is None
        else {
            **{
                name: getattr(pool, name)
                for name in ("name", "kind", "words", "depth", "parameters", "source", "seed")
            },
            "pairs": pool.n_pairs,
            "created_at": format_release_time(pool.created_at),
        },
        "guidelines": [
            {"number": g.number, "note": g.note, "written_at": format_release_time(g.created_at)}
            for g in campaign.guidelines.all()
        ],
        "recipe": plan.as_json(),
        "labels": {
            "pairs": len(labels.rows),
            "min_relevant": labels.min_relevant,
            "judgements": len(labels.table),
            "adjudicated": labels.n_adjudicated,
            "known": labels.n_known,
        },
    }


def release_statistics(campaign: Campaign, plan: ReleasePlan, labels: Labels) -> dict[str, Any]:
    """Return the campaign statistics with the keys of `judgements stats`, and the numbers of labels
    by decision with the keys of `aggregate`."""
    numbers = compute_campaign_statistics(
        labels.table,
        min_relevant=labels.min_relevant,
        min_judgements=plan.choices.min_judgements,
        documents=count_documents(campaign.collection),
        pool=read_pool_ranks(campaign),
    )
    shares = {
        name: {
            "labels": part.labels(),
            "decisions": part.decisions(),
            "cross": part.count_labels_by_decision(),
        }
        for name, part in (("graded", labels.graded), ("binary", labels.binary))
    }
    return {
        **statistics_json(numbers),
        "min_relevant": labels.min_relevant,
        "truncated_share": compute_truncated_share(campaign),
        **shares,
    }


def compute_truncated_share(campaign: Campaign) -> float | None:
    """Return the share of pairs whose stored text was truncated for judging. None if no text is
    truncated or none is stored."""
    if not campaign.truncate_words:
        return None
    stored = get_kept_pairs(campaign).filter(entry__document__isnull=False)
    n = stored.count()
    return (
        stored.filter(entry__document__n_words__gt=campaign.truncate_words).count() / n
        if n
        else None
    )


def release_agreement(campaign: Campaign, plan: ReleasePlan, labels: Labels) -> dict[str, Any]:
    """Compute agreement for a release, with the keys of `agreement --campaign` and its default
    options."""
    if not len(labels.table):
        return {"undefined": "no counted judgements"}
    report = make_agreement_report(
        labels.table,
        min_relevant=labels.min_relevant,
        rng=np.random.default_rng(0),
        min_common=10,
        min_judgements=plan.choices.min_judgements,
    )
    apart = compute_agreement_by_entry(campaign, labels.table)
    return {
        "graded": scale_json(report.graded),
        "binary": scale_json(report.binary),
        "annotators": {person.name: annotator_json(person) for person in report.annotators},
        "pairs": report.n_pairs,
        "labelled_pairs": report.n_labelled,
        "judgements": report.n_judgements,
        "min_relevant": labels.min_relevant,
        "seed": 0,
        **({"by_entry": apart} if apart else {}),
    }
