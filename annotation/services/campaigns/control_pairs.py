"""Gold and qualification pairs of a campaign, from qrels of its collection or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core.control_pairs import (
    format_grades,
    is_scale_uncertain,
    map_grades,
    split_known_pairs,
)
from annotation.core.scale import Scale
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.campaigns.lifecycle import update_campaign
from annotation.services.campaigns.pairs import set_pair_kind
from annotation.services.errors import CampaignError
from assay.formats.qrels import load_qrels
from pooling.models import Qrels

MAX_FROM_FILE = 1000
"""Maximum number of control pairs added at once, because each adds a row to the audit log."""
DEFAULT_PASS_SHARE = 0.7
"""Default share of qualification pairs that must be correct to pass."""


class GradesInDoubt(CampaignError):
    """Raised if grades may come from another scale than the campaign's, so that a mapping is
    needed. grades: ascending."""

    def __init__(self, grades: Iterable[int], scale: Scale) -> None:
        self.grades, self.scale = sorted(grades), scale
        says = _(
            "Known grades: %(given)s. Grades on the scale: %(scale)s. Choose a grade on the scale "
            "for each known grade."
        )
        super().__init__(
            says % {"given": format_grades(self.grades), "scale": format_grades(scale.values)}
        )


@dataclass(frozen=True)
class KnownPairsResult:
    """The number of changed pairs by kind, and the number of rows that match no ordinary pair of
    the campaign or have a grade outside its scale. bar: the default share to pass, if it was set.
    """

    gold: int
    qualification: int
    elsewhere: int
    bar: float

    def sentence(self) -> str:
        """Return the result as a sentence for the page."""
        gold = ngettext("%(n)s gold question", "%(n)s gold questions", self.gold) % {
            "n": f"{self.gold:,}"
        }
        tests = ngettext(
            "%(n)s qualification question", "%(n)s qualification questions", self.qualification
        ) % {"n": f"{self.qualification:,}"}
        said = [
            _("Selected %(gold)s and %(qualification)s.") % {"gold": gold, "qualification": tests}
        ]
        if self.elsewhere:
            said.append(
                ngettext(
                    "Skipped %(n)s row: its pair is not an ordinary pair of this campaign, or its "
                    "grade is not on the scale.",
                    "Skipped %(n)s rows: their pairs are not ordinary pairs of this campaign, or "
                    "their grades are not on the scale.",
                    self.elsewhere,
                )
                % {"n": f"{self.elsewhere:,}"}
            )
        if self.bar:
            said.append(
                _("The pass mark is %(share)s (see General).") % {"share": f"{100 * self.bar:g}%"}
            )
        return " ".join(said)


def qrels_to_rows(qrels: Qrels) -> list[dict[str, Any]]:
    """Return qrels as rows (topic, document, grade), as `read_gold_file` returns those of a file."""
    stored = load_qrels(qrels.columns.path)
    return [
        {"topic": topic, "document": document.decode("utf-8"), "grade": int(grade)}
        for number, topic in enumerate(stored.topics)
        for document, grade in zip(
            stored.documents[stored.rows(number)].tolist(),
            stored.grades[stored.rows(number)].tolist(),
            strict=True,
        )
    ]


def find_doubt(rows: Iterable[Mapping[str, Any]], scale: Scale) -> GradesInDoubt | None:
    """Return an error that asks for a mapping if the rows' grades may come from another scale,
    otherwise None."""
    given = {row["grade"] for row in rows if row.get("grade") is not None}
    return GradesInDoubt(given, scale) if is_scale_uncertain(given, scale) else None


def add_known_pairs(
    campaign: Campaign,
    rows: Sequence[dict[str, Any]],
    *,
    n_gold: int,
    n_qualification: int,
    actor: User | None,
    counts_as: Mapping[int, int | None] | None = None,
    replace: bool = False,
) -> KnownPairsResult:
    """Make ordinary pairs of the campaign gold or qualification pairs. Rows without a kind are
    drawn evenly over the grades.

    rows: topic, document, grade, and optionally kind and explanation. n_gold, n_qualification:
    numbers to draw from rows without a kind. counts_as: the campaign's grade for each grade of the
    rows, None to omit its rows. replace: first make existing pairs of the added kinds ordinary.

    Judged pairs do not become qualification pairs. If the campaign had no qualification test, the
    default share to pass is set. Raises GradesInDoubt if a mapping is needed, and CampaignError if
    no rows or too many rows match. In both cases nothing is changed.
    """
    n_given, rows = len(rows), _map_rows_to_scale(rows, campaign.grades, counts_as)
    with transaction.atomic():
        if replace:
            asked = {Pair.Kind.GOLD: n_gold, Pair.Kind.QUALIFICATION: n_qualification}
            kinds = {kind for kind, n in asked.items() if n} | {
                row["kind"] for row in rows if row.get("kind")
            }
            change_known_pairs(
                campaign,
                list(get_kept_pairs(campaign).filter(kind__in=kinds).values_list("pk", flat=True)),
                remove=True,
                actor=actor,
            )
        wanted, n_fits = _choose_known_pairs(
            campaign, rows, n_gold=n_gold, n_qualification=n_qualification
        )
        for pair, grade, kind, explanation in wanted:
            set_pair_kind(pair, kind, gold_grade=grade, explanation=explanation, actor=actor)
        campaign.refresh_from_db()
        kinds_made = [kind for _pair, _grade, kind, _explanation in wanted]
        n_taught = kinds_made.count(Pair.Kind.QUALIFICATION)
        sets_bar = bool(n_taught) and not campaign.qualification_pass
        if sets_bar:
            update_campaign(campaign, actor=actor, qualification_pass=DEFAULT_PASS_SHARE)
    return KnownPairsResult(
        kinds_made.count(Pair.Kind.GOLD),
        n_taught,
        n_given - n_fits,
        DEFAULT_PASS_SHARE if sets_bar else 0.0,
    )


def change_known_pairs(
    campaign: Campaign,
    ids: Sequence[int],
    *,
    remove: bool = False,
    grade: int | None = None,
    actor: User | None,
) -> int:
    """Make selected pairs ordinary, or change their known grade and keep kind and explanation.
    Returns the number of pairs. Raises CampaignError, and then changes nothing."""
    pairs = (
        campaign.pairs.select_related("campaign", "entry")
        .filter(pk__in=ids)
        .exclude(kind=Pair.Kind.NORMAL)
        .order_by("pk")
    )
    with transaction.atomic():
        for pair in pairs:
            if not remove and pair.kind == Pair.Kind.EVERYONE:
                raise CampaignError(
                    _(
                        "Calibration pairs have no known grade. Select only gold and "
                        "qualification questions."
                    )
                )
            kind, explanation = (
                (Pair.Kind.NORMAL, "") if remove else (pair.kind, pair.gold_explanation)
            )
            try:
                set_pair_kind(pair, kind, gold_grade=grade, explanation=explanation, actor=actor)
            except CampaignError as error:
                raise CampaignError(f"{pair.entry}: {error}") from None
    campaign.refresh_from_db()
    return len(pairs)


def _choose_known_pairs(
    campaign: Campaign, rows: Sequence[dict[str, Any]], *, n_gold: int, n_qualification: int
) -> tuple[list[tuple[Pair, int | None, str, str]], int]:
    """Return (pair, grade, kind, explanation) for all pairs to change, and the number of matching
    rows. Raises CampaignError if no rows or too many rows match."""
    pair_of = _get_ordinary_pairs(campaign, rows)
    grades = set(campaign.grades.values)
    fits = [
        row
        for row in rows
        if (row["topic"], row["document"]) in pair_of
        and (row.get("grade") in grades or row.get("kind") == "everyone")
    ]
    named = [row for row in fits if row.get("kind")]
    free = [(row["topic"], row["document"], row["grade"]) for row in fits if not row.get("kind")]
    unjudged = [pair for pair in free if not pair_of[pair[:2]].has_judgements]  # type: ignore[attr-defined]
    qualification, _none = split_known_pairs(
        unjudged, n_qualification=n_qualification, n_gold=0, seed=campaign.seed
    )
    taken = set(qualification)
    _none, gold = split_known_pairs(
        [pair for pair in free if pair not in taken],
        n_qualification=0,
        n_gold=n_gold,
        seed=campaign.seed,
    )
    wanted = [
        (row["topic"], row["document"], row.get("grade"), row["kind"], row.get("explanation", ""))
        for row in named
    ]
    wanted += [(*pair, Pair.Kind.QUALIFICATION, "") for pair in qualification] + [
        (*pair, Pair.Kind.GOLD, "") for pair in gold
    ]
    if not wanted:
        raise CampaignError(
            _(
                "No row matches an ordinary pair of this campaign with a grade on its scale. "
                "Check the topic IDs, document IDs and grades."
            )
        )
    if len(wanted) > MAX_FROM_FILE:
        says = _("The file has %(n)s control pairs. Import at most %(most)s at a time.")
        raise CampaignError(says % {"n": f"{len(wanted):,}", "most": f"{MAX_FROM_FILE:,}"})
    return [(pair_of[topic, document], *rest) for topic, document, *rest in wanted], len(fits)


def _map_rows_to_scale(
    rows: Sequence[dict[str, Any]], scale: Scale, counts_as: Mapping[int, int | None] | None
) -> Sequence[dict[str, Any]]:
    """Return the rows with grades of the scale. Raises GradesInDoubt, or CampaignError for a grade
    outside the scale."""
    doubt = find_doubt(rows, scale)
    if doubt is None:
        return rows
    if counts_as is None or not set(doubt.grades) <= set(counts_as):
        raise doubt
    if not {grade for grade in counts_as.values() if grade is not None} <= set(scale.values):
        raise CampaignError(_("The known grade must be on the scale."))
    return map_grades(rows, counts_as)


def _get_ordinary_pairs(
    campaign: Campaign, rows: Sequence[dict[str, Any]]
) -> dict[tuple[str, str], Pair]:
    """Return the ordinary pairs in the rows by topic and document ID, with has_judgements."""
    named = {(row["topic"], row["document"]) for row in rows}
    judged = set(campaign.pairs.filter(judgements__isnull=False).values_list("pk", flat=True))
    chosen: dict[tuple[str, str], Pair] = {}
    for pair in (
        get_kept_pairs(campaign)
        .filter(kind=Pair.Kind.NORMAL)
        .select_related("campaign", "entry__topic")
        .iterator(2000)
    ):
        key = (pair.entry.topic.topic_id, pair.entry.docno)
        if key in named:
            pair.has_judgements = pair.pk in judged  # type: ignore[attr-defined]
            chosen[key] = pair
    return chosen
