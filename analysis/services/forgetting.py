"""What goes with a deleted campaign outside the database: files of reports and releases, and the figures kept for its pages."""

from __future__ import annotations

from collections.abc import Callable

from django.core.files.storage import default_storage

from analysis.models import Release, Report
from analysis.selectors.shared import folder
from annotation.models import Campaign


def forget_campaign(campaign: Campaign) -> Callable[[], None]:
    """Looks up the names now, and returns what removes the files."""
    names = [name for files in Report.objects.filter(campaign=campaign).values_list("files", flat=True) for name in files.values()]
    names += [name for name in Release.objects.filter(recipe__campaign=campaign).values_list("file", flat=True) if name]
    kept = list(folder().glob(f"{campaign.pk}-*"))

    def remove() -> None:
        for name in names:
            default_storage.delete(name)
        for path in kept:
            path.unlink(missing_ok=True)

    return remove
