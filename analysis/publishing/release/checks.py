"""Checks for what readers and reviewers of a release will miss, before or after it is built.

for finding in find_missing(read_campaign_facts(campaign, plan)): ...
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from django.db.models import Count, F, Q

from analysis.judgements.labels import Labels, make_labels
from analysis.publishing.release.metadata import read_publication
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.reading import ReleaseFile, open_release
from annotation.core.publication import Publication, ReleaseFinding
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.errors import CampaignError
from assay.formats.delimited import FileProblems
from assay.labels.annotator_types import AnnotatorType
from assay.labels.disputes import find_disputed
from assay.number_words import format_count

Grades = dict[tuple[str, str], list[int]]
"""The grades that enter labels, by topic ID and document ID."""
MAX_GRADE = 999


@dataclass(frozen=True)
class ReleaseFacts:
    """What a release contains, as far as checks need it.

    documents: whether it contains document texts. n_pairs: pairs to judge, without qualification
    pairs. n_few: those with fewer judgements than planned. n_judged_twice: pairs with two or more
    judgements. n_disputed: disputed pairs (assay.labels.disputes) without an adjudicated or known
    grade. n_documents, n_without_text: documents of the pairs, and those whose text is missing; both 0
    without document texts.
    """

    publication: Publication
    documents: bool
    n_labels: int
    n_pairs: int
    n_few: int
    n_judged_twice: int
    n_disputed: int
    n_documents: int
    n_without_text: int
    has_guidelines: bool
    is_closed: bool
    is_simulated: bool


class IncompleteRelease(CampaignError):
    """An unconfirmed release would lack a label, a licence or an author."""

    def __init__(self, findings: Iterable[ReleaseFinding]) -> None:
        super().__init__(" ".join(finding.problem for finding in findings))


def refuse_incomplete(campaign: Campaign, plan: ReleasePlan) -> None:
    """Raise IncompleteRelease if the release would lack something required."""
    findings = find_missing(read_campaign_facts(campaign, plan))
    if required := [finding for finding in findings if finding.required]:
        raise IncompleteRelease(required)


def find_missing(facts: ReleaseFacts) -> list[ReleaseFinding]:
    """Return what readers of a release will miss, required items first."""
    findings = [
        *_check_judgements(facts),
        *_check_texts(facts),
        *facts.publication.find_missing(documents=facts.documents),
    ]
    return sorted(findings, key=lambda finding: not finding.required)


def _check_judgements(facts: ReleaseFacts) -> Iterator[ReleaseFinding]:
    if not facts.n_labels:
        yield ReleaseFinding(
            "labels",
            True,
            "No pair has a label.",
            "Collect more judgements, or require fewer judgements per label.",
        )
    if facts.n_few:
        yield ReleaseFinding(
            "few_judgements",
            False,
            f"{facts.n_few:,} of {format_count(facts.n_pairs, 'pair')} have fewer judgements "
            "than planned.",
            "Finish judging, or give the reason under Known limits.",
        )
    if not facts.n_judged_twice:
        yield ReleaseFinding(
            "overlap",
            False,
            "No pair has two judgements, so agreement is undefined.",
            "Let two annotators judge some of the pairs.",
        )
    if facts.n_disputed:
        yield ReleaseFinding(
            "disputed",
            False,
            f"Disputed pairs without adjudication: {facts.n_disputed:,}.",
            "Adjudicate them on the page Judgements, or give the reason under Known limits.",
        )
    if facts.is_simulated:
        yield ReleaseFinding(
            "simulated",
            False,
            "The release contains simulated judgements.",
            "Leave out simulated annotators, or state it in the title.",
        )
    if not facts.is_closed:
        yield ReleaseFinding(
            "open",
            False,
            "The campaign is not closed. Later judgements may change labels.",
            "Close the campaign, or give each release its own version.",
        )


def _check_texts(facts: ReleaseFacts) -> Iterator[ReleaseFinding]:
    if not facts.has_guidelines:
        yield ReleaseFinding(
            "guidelines",
            False,
            "There are no guidelines. Readers do not know what the grades mean.",
            "Write guidelines on the page Guidelines.",
        )
    if facts.n_without_text:
        yield ReleaseFinding(
            "document_texts",
            False,
            f"{facts.n_without_text:,} of {format_count(facts.n_documents, 'document')} have no "
            "text.",
            "Import their texts, or leave document texts out of the release.",
        )


def read_campaign_facts(
    campaign: Campaign, plan: ReleasePlan, *, labels: Labels | None = None
) -> ReleaseFacts:
    """Return the facts of the release that would be built from a campaign now. labels: the labels, if
    the caller has them."""
    if labels is None:  # the method does not change which pairs have a label
        labels = make_labels(campaign, replace(plan.choices, method="majority"))
    pairs = get_kept_pairs(campaign)
    to_judge = pairs.exclude(kind=Pair.Kind.QUALIFICATION).aggregate(
        n=Count("pk"), few=Count("pk", filter=Q(counted__lt=F("needed")))
    )
    known = set(
        pairs.exclude(gold_grade=None).values_list("entry__topic__topic_id", "entry__docno")
    )
    table = labels.table
    disputed = np.flatnonzero(find_disputed(table.counts)[1])
    settled = known | labels.rulings.keys()
    documents = pairs.order_by().values("entry__docno").distinct()
    without_text = documents.filter(entry__document=None).count() if plan.documents else 0
    return ReleaseFacts(
        publication=read_publication(campaign),
        documents=plan.documents,
        n_labels=labels.n_labels,
        n_pairs=to_judge["n"],
        n_few=to_judge["few"],
        n_judged_twice=int((table.judgements_per_pair >= 2).sum()),
        n_disputed=sum(table.pair_ids(pair) not in settled for pair in disputed.tolist()),
        n_documents=documents.count() if plan.documents else 0,
        n_without_text=without_text,
        has_guidelines=campaign.guidelines.exclude(text="").exists(),
        is_closed=campaign.state == Campaign.State.CLOSED,
        is_simulated=campaign.simulated and AnnotatorType.SIMULATED in plan.choices.judges,
    )


def read_release_facts(path: str | Path) -> ReleaseFacts:
    """Return the facts of a release file. Raises FormatError if it is not a valid release."""
    with open_release(path, name=Path(path).name) as release:
        campaign = release.about["campaign"]
        publication = _read_release_publication(release)
        pairs, n_few = _read_pairs(release)
        grades, is_simulated = _read_grades(release)
        settled = {
            (cells["topic"], cells["document"])
            for part in ("gold.tsv", "adjudications.tsv")
            for cells in _read_cells(release, part)
        }
        has_texts = release.has("documents.jsonl")
        documents = {document for _, document in pairs}
        texts = (
            {str(row.get("_id")) for _, row in release.objects("documents.jsonl")}
            if has_texts
            else documents
        )
        return ReleaseFacts(
            publication=publication,
            documents=has_texts,
            n_labels=len(release.text("qrels.txt").splitlines()),
            n_pairs=len(pairs),
            n_few=n_few,
            n_judged_twice=sum(len(given) >= 2 for given in grades.values()),
            n_disputed=_count_disputed(grades, settled),
            n_documents=len(documents) if has_texts else 0,
            n_without_text=len(documents - texts),
            has_guidelines=any(text.strip() for _, text in release.guidelines()),
            is_closed=campaign.get("state") == Campaign.State.CLOSED,
            is_simulated=is_simulated,
        )


def _read_release_publication(release: ReleaseFile) -> Publication:
    values = release.about["campaign"]["settings"].get("publication", {})
    try:
        return Publication.read(values)
    except ValueError as error:
        raise release.wrong(
            str(error).rstrip("."), "publication metadata", part="campaign.json"
        ) from None


def _read_cells(
    release: ReleaseFile, part: str, *, quoting: bool = False
) -> Iterator[dict[str, str]]:
    """Yield the rows of a release's table as dictionaries by column. Raises FormatError with all
    problems at the end."""
    problems = FileProblems(f"{release.name}/{part}")
    for _, cells in release.rows(part, problems, quoting=quoting):
        yield cells
    problems.raise_if_any()


def _read_pairs(release: ReleaseFile) -> tuple[set[tuple[str, str]], int]:
    """Return a release's pairs to judge, and how many of them have fewer judgements than
    planned."""
    rows = list(_read_cells(release, "pairs.tsv"))
    pairs = {(cells["topic"], cells["document"]) for cells in rows}
    try:
        return pairs, sum(int(cells["judgements"]) < int(cells["needed"]) for cells in rows)
    except ValueError:
        raise release.wrong(
            "a number of judgements is missing", "whole numbers", part="pairs.tsv"
        ) from None


def _read_grades(release: ReleaseFile) -> tuple[Grades, bool]:
    """Return the grades that enter labels in a release, and whether simulated annotators gave some
    of them."""
    simulated = {
        row.pseudonym
        for row in release.annotators()
        if row.annotator_type == AnnotatorType.SIMULATED
    }
    grades: Grades = defaultdict(list)
    is_simulated = False
    for cells in _read_cells(release, "judgements.tsv", quoting=True):
        if cells["excluded"] == "1" or not cells["grade"]:
            continue
        if not cells["grade"].isdecimal() or int(cells["grade"]) > MAX_GRADE:
            raise release.wrong(
                f"the grade {cells['grade'][:20]!r}",
                f"a grade from 0 to {MAX_GRADE}",
                part="judgements.tsv",
            )
        grades[cells["qid"], cells["docid"]].append(int(cells["grade"]))
        is_simulated |= cells["annotator"] in simulated
    return grades, is_simulated


def _count_disputed(grades: Grades, settled: set[tuple[str, str]]) -> int:
    """Return the number of disputed pairs without an adjudicated or known grade."""
    if not grades:
        return 0
    n_grades = 1 + max(max(given) for given in grades.values())
    counts = np.array([np.bincount(given, minlength=n_grades) for given in grades.values()])
    disputed = find_disputed(counts)[1]
    return sum(d and pair not in settled for pair, d in zip(grades, disputed, strict=True))
