"""Format numbers and times on the pages of collections, pools and jobs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext as _
from django.utils.translation import npgettext_lazy

from assay.number_words import format_count, format_count_of_total
from pooling.platform.sentences import as_sentence
from pooling.selectors.jobs import JobView

register = template.Library()
register.filter("sentence", as_sentence)
DURATIONS: dict[str, Any] = {
    "year": npgettext_lazy("in or ago", "%(num)s year", "%(num)s years", "num"),
    "month": npgettext_lazy("in or ago", "%(num)s month", "%(num)s months", "num"),
    "week": npgettext_lazy("in or ago", "%(num)s week", "%(num)s weeks", "num"),
    "day": npgettext_lazy("in or ago", "%(num)s day", "%(num)s days", "num"),
    "hour": npgettext_lazy("in or ago", "%(num)s hour", "%(num)s hours", "num"),
    "minute": npgettext_lazy("in or ago", "%(num)s minute", "%(num)s minutes", "num"),
}
"""Units of durations after "in" or before "ago". Django's translations are in the nominative, such
as "in 3 Tage"."""


@register.filter
def percent(share: float | None) -> str:
    """Format a share as a percentage: 0.347 -> 35%. An undefined share is a dash."""
    return "–" if share is None else f"{100 * share:.0f}%"


@register.filter
def amount(value: Any) -> Any:
    """Format a boolean as yes or no, an integer with thousands separators, and a fraction with
    one decimal. Other values are unchanged."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return intcomma(value)
    if isinstance(value, float):
        return intcomma(int(value)) if value.is_integer() else f"{value:,.1f}"
    return value


register.filter("some_of", format_count_of_total)
register.filter("counted", format_count)


@register.filter
def rate(per_second: float) -> str:
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.1f}"


@register.filter
def duration(seconds: float) -> str:
    """Format a duration: 0.4 -> 0.4 s; 75 -> 1 min 15 s; 7300 -> 2 h 1 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@register.simple_tag
def job_line(work: JobView) -> str:
    """Format a job's progress, for example 1,200 of 3,000 topics · 1.2 MB · 800 topics/s · 1.5 s,
    with its message while it runs."""
    job, parts = work.job, []
    if job.progress:
        parts.append(
            f"{format_part_or_all(intcomma(job.progress), work.active and job.total and intcomma(job.total))} {job.unit}"
        )
    if job.n_bytes:
        parts.append(
            format_part_or_all(
                filesizeformat(job.n_bytes), work.active and work.size and filesizeformat(work.size)
            )
        )
    if work.rows_per_second and work.seconds and work.seconds > 0.5:
        parts.append(f"{rate(work.rows_per_second)} {job.unit}/s")
    if work.seconds:
        parts.append(duration(work.seconds))
    if job.state == job.State.QUEUED:
        parts = ["Waiting for the background worker"]
    return " · ".join([*parts, job.message] if work.active and job.message else parts)


def format_part_or_all(done: str, whole: str | int | None | bool) -> str:
    return f"{done} of {whole}" if whole else done


@register.filter
def ago(moment: datetime) -> str:
    """Format a past time: just now; 5 minutes ago. Never 0 minutes."""
    return (
        _("just now")
        if timezone.now() - moment < timedelta(minutes=1)
        else _("%(time)s ago") % {"time": timesince(moment, time_strings=DURATIONS)}
    )


@register.filter
def ahead(moment: datetime) -> str:
    """Format a future time: in less than a minute; in 5 minutes."""
    return (
        _("in less than a minute")
        if moment - timezone.now() < timedelta(minutes=1)
        else _("in %(time)s") % {"time": timeuntil(moment, time_strings=DURATIONS)}
    )


@register.filter
def get(mapping: dict[str, Any], key: Any) -> Any:
    """Return mapping[key], or None without the key."""
    return mapping.get(str(key)) if isinstance(mapping, dict) else None
