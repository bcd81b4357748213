"""The page on which managers adjudicate one pair after another."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from analysis.dashboard import ranking_effects
from analysis.dashboard.annotators import AnnotatorSummary, list_annotators
from analysis.dashboard.label_list import DECISION_WORDS, find_queue, list_pairs
from analysis.judgements.live import CampaignSnapshot, get_snapshot
from annotation.models import Campaign, Judgement, Pair
from annotation.permissions import get_managed_campaign
from annotation.selectors.guidelines import get_newest_guideline, render_guideline
from annotation.selectors.judging import render_pair_for_manager
from annotation.services.errors import CampaignError
from annotation.services.judging import submission
from assay.campaigns.flags import RANDOM_LIKE_FLAGS, AnnotatorFlag, sort_flags
from pooling.permissions import SignedInRequest
from pooling.platform.page_files import render_page

SAVED_LABEL_KEY = "saved_label"
"""Session key of the pair adjudicated last, kept until the next page has reported it."""


@dataclass(frozen=True)
class Opinion:
    """One annotator's judgement of the pair, with evidence of the annotator's reliability.

    passages: marked texts. annotator: None for LLM judges and former members. doubt: flag of an
    annotator whose judgements look random.
    """

    judgement: Judgement
    seconds: float | None
    passages: list[str]
    annotator: AnnotatorSummary | None
    doubt: AnnotatorFlag | None


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def pair(request: SignedInRequest, slug: str, pair_id: int) -> HttpResponse:
    """Show one pair as annotators read it, next to their judgements, for adjudication.

    A POST adjudicates the pair and continues with the next one, or withdraws the adjudicated label.
    The query parameters are those of the list of pairs. They select the queue, by default the
    disputed pairs. After the last pair, the user returns to the list.
    """
    campaign = get_managed_campaign(request, slug)
    pair = get_object_or_404(
        Pair.objects.select_related(
            "entry__topic", "entry__document", "campaign", "adjudicated_by"
        ),
        campaign=campaign,
        pk=pair_id,
    )
    if request.method == "POST":
        return _adjudicate(request, campaign, pair)
    live = get_snapshot(campaign)
    effects = ranking_effects.get_effects(campaign)
    queue = find_queue(request, campaign, live, pair.pk, effects=effects)
    row = next((row for row in list_pairs(campaign, live) if row.pair == pair.pk), None)
    opinions = get_opinions(campaign, live, pair)
    to_read = render_pair_for_manager(pair) if pair.entry.document else None
    if to_read:
        to_read["spans"] = [span for one in opinions for span in one.judgement.spans]
    guideline = get_newest_guideline(campaign)
    context = {
        "campaign": campaign,
        "tab": "judgements",
        "pair": pair,
        "opinions": opinions,
        "row": row,
        "decided": DECISION_WORDS.get(row.decision, "") if row else "",
        "to_read": to_read,
        "saved": pop_saved_label(request, campaign),
        "queue": queue,
        "asked": request.GET.urlencode(),
        "scale": [
            (grade, round(8 * place / max(1, len(campaign.scale) - 1)))
            for place, grade in enumerate(campaign.scale)
        ],
        "guideline": render_guideline(guideline) if guideline else "",
    }
    return render_page(request, "analysis/pair.html", context)


def _adjudicate(request: SignedInRequest, campaign: Campaign, pair: Pair) -> HttpResponse:
    before = SavedLabel.from_pair(pair)
    given = request.POST.get("grade", "")
    grade = int(given) if given.isascii() and given.isdigit() and len(given) <= 3 else None
    try:
        if grade is None and "withdraw" not in request.POST:
            raise CampaignError(_("Choose a grade."))
        submission.adjudicate_pair(
            pair, grade, reason=request.POST.get("reason", "").strip(), actor=request.user
        )
    except CampaignError as error:
        messages.error(request, str(error))
    else:
        if grade is not None and "undo" not in request.POST:
            request.session[SAVED_LABEL_KEY] = before.as_kept(campaign)
            return redirect(_next_url(request, campaign, pair))
        messages.success(
            request,
            _("The label is unchanged.")
            if "undo" in request.POST
            else _("Your label has been withdrawn."),
        )
    return redirect(request.get_full_path())


def _next_url(request: SignedInRequest, campaign: Campaign, pair: Pair) -> str:
    """Return the address of the next pair to adjudicate. Without a next pair, or if this pair is
    not in the queue, return that of the list."""
    effects = ranking_effects.get_effects(campaign)
    queue = find_queue(request, campaign, get_snapshot(campaign), pair.pk, effects=effects)
    if queue.following is None:
        view = "adjudicated" if queue.place is None else queue.view
        return f"{reverse('campaign-judgements', args=[campaign.slug])}?view={view}"
    asked = f"?{request.GET.urlencode()}" if request.GET else ""
    return reverse("campaign-pair", args=[campaign.slug, queue.following]) + asked


def get_opinions(campaign: Campaign, live: CampaignSnapshot, pair: Pair) -> list[Opinion]:
    """Return the current judgements of the pair, highest grade first."""
    people = {person.membership.pk: person for person in list_annotators(campaign, live=live)}
    text = pair.entry.document.text or "" if pair.entry.document else ""
    opinions = []
    for judgement in pair.judgements.filter(current=True).select_related("membership"):
        person = people.get(judgement.membership_id)
        flags = sort_flags(person.flags) if person else []
        opinions.append(
            Opinion(
                judgement,
                None if judgement.active_ms is None else judgement.active_ms / 1000,
                [text[start:end] for start, end in judgement.spans],
                person,
                next((flag for flag in flags if flag.name in RANDOM_LIKE_FLAGS), None),
            )
        )
    return sorted(
        opinions,
        key=lambda one: (
            one.judgement.grade is None,
            -(one.judgement.grade or 0),
            one.judgement.membership.pseudonym,
        ),
    )


@dataclass(frozen=True)
class SavedLabel:
    """The state of a pair before its adjudication, kept for Undo."""

    pair: int
    grade: int | None
    reason: str

    @classmethod
    def from_pair(cls, pair: Pair) -> SavedLabel:
        return cls(pair.pk, pair.adjudicated_grade, pair.adjudicated_reason)

    def as_kept(self, campaign: Campaign) -> dict[str, Any]:
        return {"campaign": campaign.pk, **asdict(self)}


def pop_saved_label(request: SignedInRequest, campaign: Campaign) -> dict[str, Any] | None:
    """Return the pair that the manager has just adjudicated, with its previous state for Undo. It
    is returned only once."""
    kept = request.session.get(SAVED_LABEL_KEY)
    if not kept or kept["campaign"] != campaign.pk or request.headers.get("HX-Request"):
        return None
    del request.session[SAVED_LABEL_KEY]
    pair = (
        Pair.objects.select_related("entry__topic", "entry__document")
        .filter(campaign=campaign, pk=kept["pair"])
        .first()
    )
    if pair is None or pair.adjudicated_grade is None:
        return None
    fields = (
        {"withdraw": "1"}
        if kept["grade"] is None
        else {"grade": kept["grade"], "reason": kept["reason"]}
    )
    return {"pair": pair, "grade": pair.adjudicated_grade, "fields": {**fields, "undo": "1"}}
