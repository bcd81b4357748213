"""Gold and qualification pairs of a campaign from qrels of its collection, or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core.known_pairs import parted
from annotation.models import Campaign, Pair
from annotation.selectors.pairs import kept_pairs
from annotation.services.campaigns import update_campaign
from annotation.services.errors import CampaignError
from annotation.services.pairs import set_kind
from pooling.formats.qrels import load_qrels
from pooling.models import Qrels

MOST_FROM_A_FILE = 1000
"""Known pairs that are set at once: each is a row of the audit trail."""
USUAL_BAR = 0.7
"""Share of qualification pairs to get right where nobody has said one."""


@dataclass(frozen=True)
class KnownPairsTaken:
    """How many pairs have become what, and how many rows are of no ordinary pair of the campaign or of another grade than it has."""

    gold: int
    qualification: int
    elsewhere: int
    bar: float

    def sentence(self) -> str:
        """In words for the page."""
        gold = ngettext("%(n)s gold pair", "%(n)s gold pairs", self.gold) % {"n": f"{self.gold:,}"}
        tests = ngettext("%(n)s qualification pair", "%(n)s qualification pairs", self.qualification) % {"n": f"{self.qualification:,}"}
        said = _("%(gold)s and %(qualification)s are chosen") % {"gold": gold, "qualification": tests}
        if self.elsewhere:
            passed_over = _("%(n)s rows were passed over: not an ordinary pair of this campaign, or a grade that the scale has not")
            said += "; " + passed_over % {"n": f"{self.elsewhere:,}"}
        bar = _("%(share)s of the qualification pairs have to be right (Rules).") % {"share": f"{100 * self.bar:g} %"} if self.bar else ""
        return f"{said}. {bar}".strip()


def rows_of_qrels(qrels: Qrels) -> list[dict[str, Any]]:
    """Rows topic, document, grade, as `read_gold` gives those of a file."""
    stored = load_qrels(qrels.columns.path)
    return [
        {"topic": topic, "document": document.decode("utf-8"), "grade": int(grade)}
        for number, topic in enumerate(stored.topics)
        for document, grade in zip(stored.documents[stored.rows(number)].tolist(), stored.grades[stored.rows(number)].tolist(), strict=True)
    ]


def take_known_pairs(campaign: Campaign, rows: Sequence[dict[str, Any]], *, n_gold: int, n_qualification: int, actor: User | None) -> KnownPairsTaken:
    """Make ordinary pairs of the campaign gold and qualification as the rows say; rows without a kind are drawn evenly over the grades.

    rows: topic, document, grade, and perhaps kind and explanation. n_gold, n_qualification: of those without a kind. Pairs that somebody
    has judged do not become qualification pairs. A campaign that had no qualification gets the usual share to get right. CampaignError
    where no row fits, or too many do; then nothing is changed.
    """
    pair_of = _ordinary(campaign, rows)
    grades = set(campaign.grades.values)
    fits = [row for row in rows if (row["topic"], row["document"]) in pair_of and (row.get("grade") in grades or row.get("kind") == "everyone")]
    named = [row for row in fits if row.get("kind")]
    free = [(row["topic"], row["document"], row["grade"]) for row in fits if not row.get("kind")]
    unjudged = [pair for pair in free if not pair_of[pair[:2]].has_judgements]  # type: ignore[attr-defined]
    qualification, _none = parted(unjudged, n_qualification=n_qualification, n_gold=0, seed=campaign.seed)
    taken = set(qualification)
    _none, gold = parted([pair for pair in free if pair not in taken], n_qualification=0, n_gold=n_gold, seed=campaign.seed)
    wanted = [(row["topic"], row["document"], row.get("grade"), row["kind"], row.get("explanation", "")) for row in named]
    wanted += [(*pair, Pair.Kind.QUALIFICATION, "") for pair in qualification] + [(*pair, Pair.Kind.GOLD, "") for pair in gold]
    if not wanted:
        raise CampaignError(_("No row is an ordinary pair of this campaign with a grade of its scale: do the ids and grades belong together?"))
    if len(wanted) > MOST_FROM_A_FILE:
        says = _("%(n)s known pairs at once are too many, at most %(most)s: leave the others out.")
        raise CampaignError(says % {"n": f"{len(wanted):,}", "most": f"{MOST_FROM_A_FILE:,}"})
    with transaction.atomic():
        for topic, document, grade, kind, explanation in wanted:
            set_kind(pair_of[topic, document], kind, gold_grade=grade, explanation=explanation, actor=actor)
        campaign.refresh_from_db()
        n_taught = sum(kind == Pair.Kind.QUALIFICATION for *_, kind, _ in wanted)
        sets_bar = bool(n_taught) and not campaign.qualification_pass
        if sets_bar:
            update_campaign(campaign, actor=actor, qualification_pass=USUAL_BAR)
    n_gold_made = sum(kind == Pair.Kind.GOLD for *_, kind, _ in wanted)
    return KnownPairsTaken(n_gold_made, n_taught, len(rows) - len(fits), USUAL_BAR if sets_bar else 0.0)


def _ordinary(campaign: Campaign, rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], Pair]:
    """The ordinary pairs that rows name, by topic and document, with has_judgements."""
    named = {(row["topic"], row["document"]) for row in rows}
    judged = set(campaign.pairs.filter(judgements__isnull=False).values_list("pk", flat=True))
    chosen: dict[tuple[str, str], Pair] = {}
    for pair in kept_pairs(campaign).filter(kind=Pair.Kind.NORMAL).select_related("campaign", "entry__topic").iterator(2000):
        key = (pair.entry.topic.topic_id, pair.entry.docno)
        if key in named:
            pair.has_judgements = pair.pk in judged  # type: ignore[attr-defined]
            chosen[key] = pair
    return chosen
