"""Queries for stored studies, for pages and API. Each is a `Report` whose file is the study's
folder as a zip file."""

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
from analysis.systems.selectors import visible_rows

ZIP_NAME = "study.zip"

SECTION_PATTERN = re.compile(r"<section([^>]*)><h2>(.*?)</h2>(.*?)</section>", re.DOTALL)
FOLDED_SECTION = r"<section\1><details><summary><h2>\2</h2></summary>\3</details></section>"


def visible_studies(request_or_user: Any) -> QuerySet[Report]:
    """Return the studies of the campaigns and collections that the user manages."""
    return visible_rows(request_or_user).filter(kind__startswith=Report.STUDY)


def get_visible_study(request_or_user: Any, pk: int) -> Report:
    """Return the study with this ID. Raises Http404 for users who may not see it."""
    report = visible_studies(request_or_user).filter(pk=pk).first()
    if report is None:
        raise Http404("Study not found.")
    return report


@contextmanager
def open_study_zip(row: Report) -> Iterator[zipfile.ZipFile]:
    """Open the zip file of a study. Raises Http404 if the study has not been made yet."""
    if ZIP_NAME not in row.files:
        raise Http404("The study is not finished yet.")
    with default_storage.open(row.files[ZIP_NAME], "rb") as file, zipfile.ZipFile(file) as archive:
        yield archive


def read_study_file(row: Report, name: str) -> bytes:
    """Return one file of a study's folder. Raises Http404 for an unknown name."""
    with open_study_zip(row) as archive:
        try:
            return archive.read(name)
        except KeyError:
            raise Http404("File not found in this study.") from None


def describe_study(row: Report) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(read_study_file(row, ABOUT))
    return described


def report_body(row: Report) -> str:
    """Return the body of a study's `report.html` for a page that shows the heading itself. Sections
    after the first are folded."""
    text = read_study_file(row, "report.html").decode()
    inner = text.partition("<main>")[2].rpartition("</main>")[0]
    body = re.sub(r"<h1>.*?</h1>", "", inner, count=1, flags=re.DOTALL)
    first, end, rest = body.partition("</section>")
    folded = first + end + SECTION_PATTERN.sub(FOLDED_SECTION, rest)
    return folded.replace("<pre>", '<pre tabindex="0">')
