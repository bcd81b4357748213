"""Deletion of a campaign's files outside the database: reports and releases."""

from __future__ import annotations

from collections.abc import Callable

from analysis.models import Release, Report
from analysis.systems.reports import delete_files
from analysis.systems.selectors import list_report_files
from annotation.models import Campaign


def prepare_file_deletion(campaign: Campaign) -> Callable[[], None]:
    """Look up the names of a campaign's files now, and return a function that deletes them
    later."""
    names = list_report_files(Report.objects.filter(campaign=campaign))
    names += Release.objects.filter(recipe__campaign=campaign).values_list("file", flat=True)
    return lambda: delete_files(names)
