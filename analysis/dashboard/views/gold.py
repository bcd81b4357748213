"""Pages of gold questions, calibration pairs and qualification tests: selection, explanations and
results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from analysis.judgements.live import get_snapshot
from annotation.forms_campaign_creation import KnownPairsForm
from annotation.models import Campaign, Judgement, Membership, Pair
from annotation.permissions import get_managed_campaign
from annotation.selectors.pairs import get_kept_pairs, get_special_pairs
from annotation.selectors.qualification import (
    QualificationScore,
    correct_answer_filter,
    get_known_scores,
    get_single_key_warnings,
)
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.control_pairs import change_known_pairs
from annotation.services.errors import CampaignError
from assay.labels.aggregation.majority import majority
from assay.natural_order import natural_sort_key
from pooling.permissions import SignedInRequest
from pooling.platform.listing import ListPage, RowFilter
from pooling.platform.page_files import render_page
from pooling.platform.requests import parse_row_id

MOST_PROPOSALS, PER_PAGE = 12, 10
TYPE_CHOICES = [
    (
        Pair.Kind.GOLD,
        gettext_lazy("Gold"),
        gettext_lazy("Pairs with a known grade, mixed unmarked into each annotator's sequence."),
    ),
    (
        Pair.Kind.EVERYONE,
        gettext_lazy("Calibration"),
        gettext_lazy("Pairs that every annotator judges, to compare annotators on the same pairs."),
    ),
    (
        Pair.Kind.QUALIFICATION,
        gettext_lazy("Qualification"),
        gettext_lazy(
            "Pairs with a known grade and an explanation, judged before the first real pair. "
            "They are not judged again. The known grade becomes their label and is marked in exports."
        ),
    ),
    (Pair.Kind.NORMAL, gettext_lazy("Ordinary"), gettext_lazy("No longer a control pair.")),
]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, slug: str) -> HttpResponse:
    campaign = get_managed_campaign(request, slug)
    if request.method == "POST" and "chosen" in request.POST.get("action", ""):
        _update_chosen_pairs(request, campaign)
        return redirect(request.get_full_path())
    if request.method == "POST":
        pair = get_object_or_404(
            Pair.objects.select_related("campaign", "entry"),
            campaign=campaign,
            pk=parse_row_id(request.POST.get("pair")),
        )
        try:
            lifecycle.set_pair_kind(
                pair,
                request.POST.get("kind", ""),
                gold_grade=read_grade(request),
                explanation=request.POST.get("explanation", "").strip(),
                actor=request.user,
            )
        except CampaignError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("Saved."))
        return redirect(request.get_full_path())
    query = request.GET.get("q", "").strip()
    scores = get_known_scores(campaign)
    context = {
        "campaign": campaign,
        "tab": "gold",
        "kinds": TYPE_CHOICES,
        "known_form": KnownPairsForm(campaign.collection, initial={"n_gold": 20}),
        "known": known_pairs_page(request, campaign),
        "results": results_page(request, campaign, scores),
        "answers": sum_gold_scores(scores),
        "n_qualification": get_special_pairs(campaign, Pair.Kind.QUALIFICATION).count(),
        "proposals": propose_gold_pairs(campaign),
        "query": query,
        "single_key": get_single_key_warnings(campaign),
        "found": ListPage(
            request,
            search_pairs(campaign, query),
            per_page=PER_PAGE,
            prefix="found-",
            part="search",
        )
        if query
        else None,
    }
    return render_page(request, "analysis/gold.html", context)


def read_grade(request: HttpRequest) -> int | None:
    """Return the grade entered in the form, or None."""
    grade = request.POST.get("grade", "")
    return int(grade) if grade.isascii() and grade.isdigit() and len(grade) <= 3 else None


def _update_chosen_pairs(request: SignedInRequest, campaign: Campaign) -> None:
    """Remove the selected control pairs, or change their known grade."""
    if request.POST.get("all"):  # the pairs on all pages of the filtered list
        ids = list(known_pairs_page(request, campaign).fitting.values_list("pk", flat=True))
    else:
        ids = [parse_row_id(one) for one in request.POST.getlist("known")]
    grade = read_grade(request)
    try:
        if not ids:
            raise CampaignError(_("Select pairs first."))
        if request.POST["action"] == "remove-chosen":
            n = change_known_pairs(campaign, ids, remove=True, actor=request.user)
            says = ngettext(
                "%(n)s pair is no longer a control pair.",
                "%(n)s pairs are no longer control pairs.",
                n,
            ) % {"n": f"{n:,}"}
        elif grade is None:
            raise CampaignError(_("Choose a grade."))
        else:
            n = change_known_pairs(campaign, ids, grade=grade, actor=request.user)
            says = ngettext(
                "Changed the grade of %(n)s pair.", "Changed the grade of %(n)s pairs.", n
            ) % {"n": f"{n:,}"}
    except CampaignError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, says)


def known_pairs_page(request: HttpRequest, campaign: Campaign) -> ListPage:
    """Show the list of control pairs."""
    kinds = [(value.value, name) for value, name, _ in TYPE_CHOICES if value != Pair.Kind.NORMAL]
    shown = ListPage(
        request,
        list_known_pairs(campaign),
        search=(
            "=entry__topic__topic_id",
            "entry__topic__text",
            "entry__docno",
            "entry__document__title",
        ),
        sort={
            "topic": (
                Length("entry__topic__topic_id"),
                "entry__topic__topic_id",
                "position",
            ),  # natural order: 2 before 10
            "document": "entry__docno",
            "judged": "n_judged",
            "right": "n_right",
            "exact": "n_exact",
            "kind": ("kind", "position"),
            "grade": ("gold_grade", "position"),
        },
        choices=[RowFilter("kind", _("Type"), kinds, lambda rows, value: rows.filter(kind=value))],
        per_page=PER_PAGE,
        prefix="known-",
        part="known",
    )
    names: Mapping[int | None, str] = dict(enumerate(campaign.grades.names))
    rows: list[Any] = list(shown)
    for pair in rows:
        pair.grade_name = names.get(pair.gold_grade, "")
    shown.show(rows)
    return shown


def sum_gold_scores(scores: Mapping[int, Mapping[str, QualificationScore]]) -> QualificationScore:
    """Sum the scores of all annotators on gold questions."""
    gold = [one["gold"] for one in scores.values() if "gold" in one]
    return QualificationScore(
        sum(one.right for one in gold),
        sum(one.exact for one in gold),
        sum(one.judged for one in gold),
        gold[0].total if gold else 0,
    )


def results_page(
    request: HttpRequest,
    campaign: Campaign,
    scores: Mapping[int, Mapping[str, QualificationScore]],
) -> ListPage:
    """List annotators who have judged control pairs, with their scores in the qualification test
    and on gold questions."""
    members = campaign.memberships.filter(role=Membership.Role.ANNOTATOR, pk__in=scores).order_by(
        "pseudonym"
    )
    return ListPage(
        request,
        [(m, scores[m.pk].get("qualification"), scores[m.pk].get("gold")) for m in members],
        search=lambda row: row[0].pseudonym,
        sort={
            "name": lambda row: natural_sort_key(row[0].pseudonym),
            "qualification": lambda row: row[1].share if row[1] else None,
            "passed": lambda row: row[0].qualified_at,
            "right": lambda row: row[2].right if row[2] else None,
            "exact": lambda row: row[2].exact if row[2] else None,
            "judged": lambda row: row[2].judged if row[2] else None,
        },
        default="name",
        prefix="result-",
        part="results",
    )


def list_known_pairs(campaign: Campaign) -> QuerySet[Pair]:
    """Return the control pairs, each with the number of annotators who judged it, who were correct
    by the campaign's rule, and who gave the exact grade."""
    judged = Q(judgements__current=True) & ~Q(judgements__status=Judgement.Status.TOO_FAST)
    ids = list(get_kept_pairs(campaign).exclude(kind=Pair.Kind.NORMAL).values_list("pk", flat=True))
    pairs = Pair.objects.filter(pk__in=ids).select_related("entry__topic", "entry__document")
    right = judged & correct_answer_filter(campaign, grade="judgements__grade", gold="gold_grade")
    exact = judged & Q(judgements__grade=F("gold_grade"))
    counted = pairs.annotate(
        n_judged=Count("judgements", filter=judged),
        n_right=Count("judgements", filter=right),
        n_exact=Count("judgements", filter=exact),
    )
    return counted.order_by("kind", "position")


def propose_gold_pairs(campaign: Campaign) -> list[Pair]:
    """Propose gold questions: ordinary pairs on which at least three annotators agree, a few per
    grade."""
    live = get_snapshot(campaign)
    table = live.table(campaign.grades.size)
    labels = majority(table, min_judgements=min(3, campaign.judgements_per_pair))
    ordinary = live.pairs.normal[live.table_pairs]
    wanted: dict[int, int] = {}
    per_grade = max(1, MOST_PROPOSALS // len(campaign.scale))
    for grade in campaign.grades.values:
        unanimous = ((labels.decision == 0) & (labels.label == grade) & ordinary).nonzero()[0][
            :per_grade
        ]
        wanted |= {int(live.pairs.ids[live.table_pairs[pair]]): grade for pair in unanimous}
    normal_pairs = (
        get_kept_pairs(campaign)
        .filter(pk__in=list(wanted), kind=Pair.Kind.NORMAL)
        .select_related("entry__topic", "entry__document")
    )
    # each pair gets the proposed grade below
    pairs: list[Any] = sorted(normal_pairs, key=lambda pair: (wanted[pair.pk], pair.position))
    names = dict(enumerate(campaign.grades.names))
    for pair in pairs:
        pair.proposed = wanted[pair.pk]
        pair.proposed_name = names[wanted[pair.pk]]
    return pairs


def search_pairs(campaign: Campaign, query: str) -> QuerySet[Pair]:
    """Find the campaign's pairs by topic ID, words of the topic, or document ID."""
    match = (
        Q(entry__topic__topic_id=query)
        | Q(entry__topic__text__icontains=query)
        | Q(entry__docno__icontains=query)
    )
    return (
        get_kept_pairs(campaign)
        .filter(match)
        .select_related("entry__topic", "entry__document")
        .order_by("position")
    )
