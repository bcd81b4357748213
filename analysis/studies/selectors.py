"""Studies that are kept, as pages and API show them. Each is a row of reports whose file is the
study's folder as a zip."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.files.storage import default_storage
from django.db.models import QuerySet
from django.http import Http404

from analysis.models import Report
from analysis.studies.folder import ABOUT
from analysis.systems.selectors import my_rows

ZIP = "study.zip"


def my_studies(request_or_user: Any) -> QuerySet[Report]:
    """Those of campaigns and of collections that the person manages."""
    return my_rows(request_or_user).filter(kind__startswith=Report.STUDY)


def visible_study(request_or_user: Any, pk: int) -> Report:
    """404 for everybody who may not see it."""
    report = my_studies(request_or_user).filter(pk=pk).first()
    if report is None:
        raise Http404("No such study.")
    return report


@contextmanager
def opened(row: Report) -> Iterator[zipfile.ZipFile]:
    """The folder. Http404 while it is not made."""
    if ZIP not in row.files:
        raise Http404("The study is not made yet.")
    with default_storage.open(row.files[ZIP], "rb") as file, zipfile.ZipFile(file) as archive:
        yield archive


def file_of(row: Report, name: str) -> bytes:
    """One file of the folder. Http404 for a name that it does not hold."""
    with opened(row) as archive:
        try:
            return archive.read(name)
        except KeyError:
            raise Http404("No such file in this study.") from None


def about_study(row: Report) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(file_of(row, ABOUT))
    return described


def body_of(row: Report) -> str:
    """What `report.html` says, without its frame, its heading and the links to single files, which
    the page has once."""
    text = file_of(row, "report.html").decode()
    inner = text.partition("<main>")[2].rpartition("</main>")[0]
    return re.sub(r"<h1>.*?</h1>", "", inner, count=1, flags=re.DOTALL)
