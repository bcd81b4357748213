"""The parts of a release: everything that others need to trust, use and rebuild a campaign's labels, and nobody's name.

    with open(path, "wb") as out:
        write_archive(campaign, Plan("first", Choices()), out)

What is in it depends on the data and the recipe only; no clock, no row number, no user is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import IO, Any, BinaryIO

import numpy as np

from analysis.core.agreement.report import agreement_report
from analysis.core.campaign import campaign_statistics
from analysis.results import annotator_json, scale_json, statistics_json
from analysis.selectors.exports import Choices, Labels, labels, pool_lines, raw_judgements
from analysis.selectors.judgements import pool_ranks
from analysis.services import datasheet, exports
from analysis.services.zips import Part, write_zip
from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.services.campaigns import SETTINGS
from annotation.services.errors import CampaignError
from pooling.commandline import jsonable
from pooling.formats.exports import write_raw_judgements
from pooling.formats.qrels import write_qrels

FORMAT, VERSION = "assay campaign archive", 1
SOFTWARE = "0.1.0"
PRIVATE = {"completion_code", "completion_url", "thanks_text"}
"""Settings that concern the people of this campaign only."""
SUMS = "SHA256SUMS"
PAIR_COLUMNS = ("topic", "document", "best_rank", "priority", "kind", "needed", "judgements")
ANNOTATOR_COLUMNS = ("annotator", "standing", "reason", "simulated", "counted", "judgements")
GOLD_COLUMNS = ("topic", "document", "grade", "explanation")


@dataclass(frozen=True)
class Plan:
    """What a recipe asks for. documents: the pool's texts, too. notes: what annotators wrote, too."""

    name: str = "default"
    choices: Choices = field(default_factory=Choices)
    documents: bool = False
    notes: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, **self.choices.as_json(), "documents": self.documents, "notes": self.notes}


def write_archive(campaign: Campaign, plan: Plan, out: BinaryIO, *, step: Callable[[str], object] = lambda name: None) -> dict[str, Any]:
    """The release as a zip file. -> figures: pairs, judgements. CampaignError where an id cannot stand in qrels."""
    made = labels(campaign, plan.choices)
    statistics = statistics_of(campaign, plan, made)
    agreement = agreement_of(plan, made)
    about = about_campaign(campaign, plan, made)
    sheet = datasheet.write(campaign, about=about, statistics=statistics, agreement=agreement, made=made)
    parts: dict[str, Part] = {
        "datasheet.md": lambda text: text.write(sheet),
        "campaign.json": lambda text: text.write(plain(about)),
        "statistics.json": lambda text: text.write(plain(statistics)),
        "agreement.json": lambda text: text.write(plain(agreement)),
        "qrels.txt": lambda text: write_qrels(made.qrels("graded"), text),
        "qrels-binary.txt": lambda text: write_qrels(made.qrels("binary"), text),
        "labels.tsv": lambda text: exports.write_label_rows(made, text),
        "judgements.tsv": lambda text: write_raw_judgements(raw_judgements(campaign, plan.choices, notes=plan.notes), text),
        "excluded.tsv": lambda text: write_raw_judgements(
            (row for row in raw_judgements(campaign, plan.choices, notes=plan.notes) if row.excluded), text
        ),
        "adjudications.tsv": lambda text: exports.write_adjudications(campaign, exports.Wanted(), text),
        "annotators.tsv": partial(_annotators, campaign),
        "pairs.tsv": partial(_pairs, campaign, qualification=False),
        "qualification.tsv": partial(_pairs, campaign, qualification=True),
        "gold.tsv": partial(_gold, campaign),
        "pool.tsv": lambda text: text.writelines(pool_lines(campaign)),
        "topics.tsv": lambda text: text.write(exports.kept_table(campaign.collection)),
        "topics-removed.tsv": lambda text: text.write(exports.removed_table(campaign.collection)),
        "topics.jsonl": partial(_topics, campaign),
    }
    for version in campaign.guidelines.all():
        parts[f"guidelines/v{version.number}.md"] = partial(_say, version.text)
    if plan.documents:
        parts["documents.jsonl"] = lambda text: exports.write_documents(campaign, text, whole=True)
    try:
        write_zip(out, parts, sums=SUMS, step=step)
    except ValueError as error:
        raise CampaignError(f"This release cannot be built: {error}.") from error
    return {"pairs": len(made.rows), "judgements": len(made.table), "adjudicated": made.n_adjudicated, "parts": len(parts) + 1}


def plain(value: Any) -> str:
    return json.dumps(jsonable(value), ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"


def _say(what: str, text: IO[str]) -> None:
    text.write(what)


def moment(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


def about_campaign(campaign: Campaign, plan: Plan, made: Labels) -> dict[str, Any]:
    """What an installation needs to make the campaign again."""
    pool = campaign.pool
    settings = {name: getattr(campaign, name) for name in SETTINGS - PRIVATE}
    return {
        "format": FORMAT,
        "version": VERSION,
        "software": SOFTWARE,
        "campaign": {
            "slug": campaign.slug,
            "state": campaign.state,
            "simulated": campaign.simulated,
            "seed": campaign.seed,
            "opened_at": moment(campaign.opened_at),
            "closed_at": moment(campaign.closed_at),
            "settings": {name: moment(value) if isinstance(value, datetime) else value for name, value in settings.items()},
        },
        "collection": {
            "slug": campaign.collection.slug,
            "name": campaign.collection.name,
            "description": campaign.collection.description,
            "n_documents": campaign.collection.n_documents,
        },
        "pool": None
        if pool is None
        else {"name": pool.name, "depth": pool.depth, "seed": pool.seed, "pairs": pool.n_pairs, "created_at": moment(pool.created_at)},
        "guidelines": [{"number": g.number, "note": g.note, "written_at": moment(g.created_at)} for g in campaign.guidelines.all()],
        "recipe": plan.as_json(),
        "labels": {"pairs": len(made.rows), "threshold": made.threshold, "judgements": len(made.table), "adjudicated": made.n_adjudicated},
    }


def statistics_of(campaign: Campaign, plan: Plan, made: Labels) -> dict[str, Any]:
    """Table 1, with the keys of `campaign_stats`; and the labels by decision, with those of `aggregate`."""
    found = campaign_statistics(
        made.table,
        threshold=made.threshold,
        min_judgements=plan.choices.min_judgements,
        documents=campaign.collection.n_documents,
        pool=pool_ranks(campaign),
    )
    shares = {
        name: {"labels": part.labels(), "decisions": part.decisions(), "cross": part.cross()}
        for name, part in (("graded", made.graded), ("binary", made.binary))
    }
    return {**statistics_json(found), "threshold": made.threshold, "truncated_share": truncated_share(campaign), **shares}


def truncated_share(campaign: Campaign) -> float | None:
    """Share of the pairs with a stored text whose text was cut for judging; None where nothing is cut or no text is stored."""
    if not campaign.truncate_words:
        return None
    stored = campaign.pairs.filter(entry__document__isnull=False)
    n = stored.count()
    return stored.filter(entry__document__n_words__gt=campaign.truncate_words).count() / n if n else None


def agreement_of(plan: Plan, made: Labels) -> dict[str, Any]:
    """With the keys of `agreement` at its defaults."""
    if not len(made.table):
        return {"undefined": "no judgement counts"}
    report = agreement_report(
        made.table, threshold=made.threshold, rng=np.random.default_rng(0), min_common=10, min_judgements=plan.choices.min_judgements
    )
    return {
        "graded": scale_json(report.graded),
        "binary": scale_json(report.binary),
        "annotators": {person.name: annotator_json(person) for person in report.annotators},
        "pairs": report.n_pairs,
        "labelled_pairs": report.n_labelled,
        "judgements": report.n_judgements,
        "threshold": made.threshold,
        "seed": 0,
    }


def _table(text: IO[str], columns: tuple[str, ...], rows: Any) -> None:
    text.write("\t".join(columns) + "\n")
    text.writelines("\t".join(" ".join(str("" if cell is None else cell).split()) for cell in row) + "\n" for row in rows)


def _annotators(campaign: Campaign, text: IO[str]) -> None:
    people = campaign.memberships.filter(role=Membership.Role.ANNOTATOR)
    current = Judgement.objects.filter(membership__in=people, current=True)
    all_of: dict[int, int] = {}
    counted: dict[int, int] = {}
    for member, standing in current.values_list("membership_id", "standing"):
        all_of[member] = all_of.get(member, 0) + 1
        counted[member] = counted.get(member, 0) + (standing == Judgement.Standing.COUNTED)
    rows = sorted((m.pseudonym, m.standing, m.standing_reason, int(m.simulated), counted.get(m.pk, 0), all_of.get(m.pk, 0)) for m in people)
    _table(text, ANNOTATOR_COLUMNS, rows)


def _pairs(campaign: Campaign, text: IO[str], *, qualification: bool) -> None:
    kinds = campaign.pairs.filter(kind=Pair.Kind.QUALIFICATION) if qualification else campaign.pairs.exclude(kind=Pair.Kind.QUALIFICATION)
    wanted = ("entry__topic__topic_id", "entry__docno", "entry__best_rank", "priority", "kind", "needed", "counted")
    _table(text, PAIR_COLUMNS, kinds.order_by("position", "pk").values_list(*wanted))


def _gold(campaign: Campaign, text: IO[str]) -> None:
    gold = campaign.pairs.filter(gold_grade__isnull=False)
    wanted = ("entry__topic__topic_id", "entry__docno", "gold_grade", "gold_explanation")
    _table(text, GOLD_COLUMNS, sorted(gold.values_list(*wanted)))


def _topics(campaign: Campaign, text: IO[str]) -> None:
    """Kept and removed, in order, with all their texts."""
    for t in campaign.collection.topics.order_by("position", "topic_id"):
        row = {
            "id": t.topic_id, "text": t.text, "description": t.description, "narrative": t.narrative, "fields": t.fields,
            "position": t.position, "proposal": t.proposal, "same_as": t.same_as, "removed_reason": t.removed_reason,
        }  # fmt: skip
        text.write(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n")
