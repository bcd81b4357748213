"""The paged list of stored reports and studies. It can be searched by title and user, and filtered
by kind and state."""

from __future__ import annotations

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.models import Report
from analysis.systems.kinds import KINDS
from pooling.models import Job
from pooling.platform.listing import ListPage, RowFilter

STATE_CHOICES = [
    ("done", gettext_lazy("done")),
    ("at-work", gettext_lazy("in progress")),
    ("ended", gettext_lazy("failed or cancelled")),
]
STATE_EXPRESSION = Case(
    When(finished_at__isnull=False, then=Value("done")), default=F("job__state")
)


def filter_by_state(reports: QuerySet[Report], state: str) -> QuerySet[Report]:
    """Filter a list of reports and studies by state, one of STATES."""
    if state == "done":
        return reports.filter(finished_at__isnull=False)
    at_work = Q(job__state__in=Job.ACTIVE)
    return reports.filter(at_work if state == "at-work" else ~at_work, finished_at=None)


def filter_by_kind(reports: QuerySet[Report], kind: str) -> QuerySet[Report]:
    return (
        reports.filter(kind__startswith=kind) if kind == Report.STUDY else reports.filter(kind=kind)
    )


def reports_page(
    request: HttpRequest, reports: QuerySet[Report], *, everywhere: bool = False
) -> ListPage:
    """Return a page of reports and studies, newest first. everywhere: whether the list covers all
    campaigns and collections."""
    kinds = [
        *((kind.name, kind.title) for kind in KINDS.values()),
        (Report.STUDY, _("Paper study")),
    ]
    whose = ("campaign__name", "collection__name") if everywhere else ()
    return ListPage(
        request,
        reports.select_related("job", "created_by", "campaign", "collection").defer("result"),
        search=("title", "created_by__username", *whose),
        sort={
            "title": "title",
            "of": ("collection__name", "campaign__name"),
            "state": STATE_EXPRESSION,
            "made": "created_at",
        },
        choices=[
            RowFilter("kind", _("Analysis"), kinds, filter_by_kind),
            RowFilter("state", _("Status"), STATE_CHOICES, filter_by_state),
        ],
        default="-made",
        per_page=15,
        part="reports",
        wide=True,
    )
