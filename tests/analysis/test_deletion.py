"""A collection takes the files of its reports with it, once it is really gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.models import Report
from analysis.systems import figures, reports
from analysis.systems.kinds import KINDS
from pooling.models import Collection
from pooling.platform.jobs import Refused
from pooling.services.collections import delete_collection
from tests.analysis.systems.builders import small_campaign, small_collection, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    monkeypatch.setattr(figures, "render_figures", lambda kind, result: {"one.svg": b"<svg/>"})
    return tmp_path / "files"


def evaluated(collection: Collection) -> Report:
    parameters = {
        "runs": [collection.runs.first().pk],
        "qrels": [f"imported:{collection.qrels.first().pk}"],
        "options": {},
    }
    report = reports.request_report(
        KINDS["evaluate"],
        collection=collection,
        campaign=None,
        parameters=parameters,
        seed=1,
        user=None,
    )
    work_off(report.job)
    report.refresh_from_db()
    return report


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_deleting_a_collection_deletes_its_reports_files_after_the_commit_and_nobody_elses(
    root, django_capture_on_commit_callbacks
):
    other = small_collection(slug="other")
    evaluated(other)
    kept = files(root)
    gone = small_collection(slug="gone")
    report = evaluated(gone)
    assert set(report.files) == {"result.json", "one.svg"}
    with django_capture_on_commit_callbacks(execute=True):
        delete_collection(gone)
        assert set(report.files.values()) <= files(root)
    assert files(root) == kept


def test_a_collection_that_stays_keeps_them(root, django_capture_on_commit_callbacks):
    collection = small_collection()
    evaluated(collection)
    small_campaign(collection, judged=False)
    before = files(root)
    with django_capture_on_commit_callbacks(execute=True), pytest.raises(Refused):
        delete_collection(collection)
    assert files(root) == before
