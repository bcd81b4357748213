"""Reading of stored campaigns for commands that otherwise read files. Imported only if --campaign
is given."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from django.db import DatabaseError
from django.db.models import Model, QuerySet

from analysis.commandline.database import database_error_message
from analysis.judgements.agreement_by_entry import (
    compute_agreement_by_entry as compute_agreement_by_entry,
)
from analysis.judgements.campaign_sample import NotEstimable, read_campaign_sample
from analysis.judgements.campaign_sample import is_sampled as is_sampled
from analysis.judgements.labels import (
    LabelChoices,
    LabelReference,
    make_campaign_qrels,
    make_labels,
)
from analysis.judgements.rows import (
    EXCLUDED,
    EXTRA,
    NO_GRADE,
    TOO_FAST,
    read_pool_ranks,
    read_rows,
    rows_to_label_table,
)
from analysis.publishing.contents import iterate_raw_judgements
from annotation.models import Campaign
from annotation.selectors.pairs import get_kept_pairs
from assay.analyses.shared.counted_judgements import CountedJudgements, check_min_relevant
from assay.analyses.shared.judges import get_annotator_types
from assay.analyses.shared.only_topics import read_topic_filter, topic_row_mask
from assay.cli.base import BadInput, FileCommand
from assay.column_types import QrelsColumns, RunColumns
from assay.formats.exports import write_raw_judgements
from assay.formats.prel import SampledQrels
from assay.formats.qrels import read_qrels, write_qrels
from assay.labels.labels import DroppedCounts, LabelTable
from assay.labels.overlap import Contradiction
from assay.measures.packing import TopicDocumentPairs
from assay.precision import rescore_by_order
from pooling.models import Collection, Run
from pooling.services.matching import count_documents as count_documents
from pooling.services.runs import load_rankings

Row = TypeVar("Row", bound=Model)


def first_or_bad_input(rows: QuerySet[Row]) -> Row | None:
    """Return the first row of the query, None if it is empty. Raises BadInput if the database
    cannot be read."""
    try:
        return rows.first()
    except DatabaseError as error:
        raise BadInput(database_error_message(error)) from None


def get_campaign(slug: str) -> Campaign:
    campaign = first_or_bad_input(
        Campaign.objects.select_related("collection", "pool").filter(slug=slug)
    )
    if campaign is None:
        raise BadInput(f"there is no campaign with the slug {slug!r}")
    if campaign.is_preferences:
        raise BadInput(f"this analysis needs grades, but campaign {slug!r} collects preferences")
    return campaign


def run_loaders(campaign: Campaign) -> dict[str, Callable[[], RunColumns]]:
    return {row.tag: run_loader(row) for row in campaign.collection.runs.all()}


def run_loader(row: Run) -> Callable[[], RunColumns]:
    return lambda: rescore_by_order(load_rankings(row))


def get_collection(slug: str) -> Collection:
    collection = first_or_bad_input(Collection.objects.filter(slug=slug))
    if collection is None:
        raise BadInput(f"there is no collection with the slug {slug!r}")
    return collection


def export_judgements_text(campaign: Campaign) -> str:
    """Return a campaign's individual judgements in the file format of a release, without
    annotators' notes."""
    out = io.StringIO(newline="")
    write_raw_judgements(iterate_raw_judgements(campaign, notes=False), out)
    return out.getvalue()


def label_loader(campaign: Campaign, options: dict[str, Any]) -> Callable[[], QrelsColumns]:
    """Return a function that loads the labels as `export qrels` writes them.

    Raises BadInput if LLM judges and human annotators are mixed. The function raises it if no pair
    has a label.
    """
    judges = get_annotator_types(options)

    def load() -> QrelsColumns:
        out = io.StringIO()
        write_qrels(
            make_campaign_qrels(
                campaign,
                str(
                    LabelReference(
                        options["labels"], LabelChoices(method=options["method"], judges=judges)
                    )
                ),
                campaign.slug,
            ),
            out,
        )
        if not out.getvalue():
            raise BadInput(
                f"no pair of the campaign {campaign.slug} has a label yet, so there are no qrels"
            )
        return read_qrels(io.BytesIO(out.getvalue().encode()), name=campaign.slug)

    return load


def read_label_judgements(options: Mapping[str, Any]) -> LabelTable:
    """Return the judgements from which `label_loader` makes labels, converted to the requested
    scale."""
    campaign = get_campaign(options["campaign"])
    made = make_labels(
        campaign, LabelChoices(method=options["method"], judges=get_annotator_types(options))
    )
    return made.table.binarise(made.min_relevant) if options["labels"] == "binary" else made.table


def prel_loader(campaign: Campaign, options: Mapping[str, Any]) -> Callable[[], SampledQrels]:
    """Return a function that loads the labels of a sampled pool in the format of its export. That
    function raises BadInput if nothing can be estimated yet."""
    choices = LabelChoices(method=options["method"], judges=get_annotator_types(options))

    def load() -> SampledQrels:
        try:
            sample = read_campaign_sample(campaign, choices)
        except NotEstimable as error:
            raise BadInput(str(error)) from None
        return sample.prel(options["labels"], campaign.slug)

    return load


def naive_estimate_refusal(slug: str) -> str:
    """Return why values that treat unjudged pairs as not relevant are refused for a campaign on a
    sampled pool."""
    return (
        f"the pool of {slug} is sampled, and this measure would treat unsampled pairs as "
        f"not relevant. `evaluate --campaign {slug}` estimates HT-nDCG@k, HT-P@k and "
        "xinfAP with confidence intervals"
    )


def read_counted_judgements(
    command: FileCommand, slug: str, options: Mapping[str, Any]
) -> CountedJudgements:
    """Return the campaign's counted judgements, without those of excluded annotators and too-fast
    ones. --min-seconds and --no-gold leave out more."""
    campaign = get_campaign(slug)
    n_grades = campaign.grades.size
    if options["grades"] not in (None, n_grades):
        raise BadInput(
            f"--grades {options['grades']} does not match the campaign {slug}, expected {n_grades}"
        )
    min_relevant = check_min_relevant(options["min_relevant"] or campaign.min_relevant, n_grades)
    rows = read_rows(campaign, judges=get_annotator_types(options))
    only = read_topic_filter(command, options, rows.topics, f"the judgements of {slug}")
    rows = rows.where(
        (rows.grade != NO_GRADE)
        & (rows.status != EXTRA)
        & topic_row_mask(rows.topics, rows.topic, only)
    )
    slow_enough = ~(rows.active < (options["min_seconds"] or 0))
    wanted = (rows.gold == NO_GRADE) | (not options["no_gold"])
    table = rows_to_label_table(rows, n_grades=n_grades, only=slow_enough & wanted)
    dropped = DroppedCounts(
        repeated=0,  # older revisions are skipped
        too_fast=int(((rows.status == TOO_FAST) | (rows.counts & ~slow_enough)).sum()),
        excluded=int((rows.status == EXCLUDED).sum()),
        gold=int((rows.counts & slow_enough & ~wanted).sum()),
        emptied_pairs=len(np.unique(rows.pair)) - table.n_pairs,
    )
    return CountedJudgements(table, dropped, min_relevant, campaign, only)


def read_pool_top(slug: str, top: int) -> TopicDocumentPairs | None:
    """Return the pairs of the campaign's pool that some run ranks at `top` or better. None if the
    campaign has no pool."""
    campaign = get_campaign(slug)
    if campaign.pool is None:
        return None
    pairs = [
        (topic, document) for topic, document, rank in read_pool_ranks(campaign) if rank <= top
    ]
    topics = sorted({topic for topic, _ in pairs})
    place = {topic: i for i, topic in enumerate(topics)}
    documents = np.array([document.encode() for _, document in pairs], dtype="S" if pairs else "S1")
    return TopicDocumentPairs(
        topics, np.array([place[topic] for topic, _ in pairs], np.int64), documents
    )


def add_document_texts(slug: str, contradicting: list[Contradiction]) -> list[dict[str, Any]]:
    """Add the query and the document's title and text to each entry. Title and text are None if the
    document is not stored."""
    campaign = get_campaign(slug)
    wanted = {(pair.topic, pair.document) for pair in contradicting}
    columns = (
        "entry__topic__topic_id",
        "entry__docno",
        "entry__topic__text",
        "entry__document__title",
        "entry__document__text",
    )
    rows = (
        get_kept_pairs(campaign)
        .filter(entry__topic__topic_id__in={topic for topic, _ in wanted})
        .values_list(*columns)
    )
    texts = {
        (topic, document): rest
        for topic, document, *rest in rows.iterator()
        if (topic, document) in wanted
    }
    return [
        pair._asdict()
        | dict(zip(("query", "title", "text"), texts[pair.topic, pair.document], strict=True))
        for pair in contradicting
    ]
