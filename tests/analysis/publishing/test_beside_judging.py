"""A large import waits, or is wanted all the same, while people judge on SQLite, which has one
writer."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Campaign, Judgement
from annotation.services.campaigns import lifecycle
from annotation.services.judging import import_guard
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.commands.judged_file import ROWS, refused, run, written
from tests.annotation.test_campaign_pages import client_of
from tests.builders import judge, make_annotator, make_campaign, make_user

pytestmark = pytest.mark.django_db
BOX = "Import while annotators are judging"


@pytest.fixture
def judged(monkeypatch) -> Judgement:
    """Somebody has judged just now; the file of `written` counts as large."""
    if not import_guard.has_one_writer():
        pytest.skip("on PostgreSQL nobody waits for an import")
    monkeypatch.setattr(import_guard, "LARGE_LINES", 10)
    return judge(make_annotator(make_campaign()), 2)


def zipped(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for n, part in enumerate((text[: len(text) // 2], text[len(text) // 2 :])):
            archive.writestr(f"part{n}.tsv", part)
    return out.getvalue()


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode()), zipped])
def test_a_file_is_large_by_its_lines_and_bytes_however_it_is_packed_and_can_then_be_read_from_its_begin(
    pack, monkeypatch
):
    file = io.BytesIO(pack("a,b\n" * 100))
    for lines, n_bytes, large in (
        (100, 10_000, True),
        (101, 10_000, False),
        (1000, 400, True),
        (1000, 401, False),
    ):
        monkeypatch.setattr(import_guard, "LARGE_LINES", lines)
        monkeypatch.setattr(import_guard, "LARGE_BYTES", n_bytes)
        assert import_guard.is_large_file(file) == large
        assert file.tell() == 0


def ends_too_early() -> bytes:
    """A zip archive whose list gives its last file more bytes than the archive has."""
    data = bytearray(zipped("a,b\n" * 100))
    listed = data.rindex(b"PK\x01\x02")
    data[listed + 10 : listed + 12] = struct.pack("<H", zipfile.ZIP_STORED)
    data[listed + 20 : listed + 28] = struct.pack("<LL", 1 << 20, 1 << 20)
    return bytes(data)


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04 nothing", gzip.compress(b"a\n" * 99, mtime=0)[:20], ends_too_early()]
)
def test_what_cannot_be_read_is_left_to_its_reader(data, tmp_path):
    (tmp_path / "a").write_bytes(data)
    assert not import_guard.is_large_file(str(tmp_path / "a"))
    assert not import_guard.is_large_file(str(tmp_path / "absent"))


def test_people_judge_who_sent_something_to_an_open_campaign_within_two_minutes():
    judgement = judge(make_annotator(make_campaign()), 2)
    assert import_guard.is_judging_active()
    rows = Judgement.objects.filter(pk=judgement.pk)
    rows.update(judged_at=timezone.now() - timedelta(seconds=110))
    assert import_guard.is_judging_active()
    rows.update(judged_at=timezone.now() - timedelta(seconds=130))
    assert not import_guard.is_judging_active()
    rows.update(judged_at=timezone.now())
    lifecycle.close_campaign(Campaign.objects.get(), actor=None)
    assert not import_guard.is_judging_active()


def test_the_commands_refuse_a_large_file_with_the_reason_and_do_it_when_told_to(judged, tmp_path):
    path, release = written(tmp_path, ROWS), str(tmp_path / "release.zip")
    status, out, err = refused("import_judgements", path)
    assert (status, out, Campaign.objects.count()) == (2, "", 1)
    assert (
        "Annotators are judging, and with an SQLite database their judgements would have to wait while judgements.csv is imported"
        in err
    )
    assert "after 2 minutes without judgements. To import it now, add --force" in err
    slug = run("import_judgements", path, "--force")["campaign"]
    run("export_campaign", "--force", "--campaign", slug, "--output", release)
    assert "add --force" in refused("import_campaign", release)[2]
    assert run("import_campaign", release, "--force")["campaign"] == f"{slug}-2"


def test_a_small_file_or_one_while_nobody_judges_is_imported(judged, tmp_path, monkeypatch):
    path = written(tmp_path, ROWS)
    monkeypatch.setattr(import_guard, "LARGE_LINES", 100)
    run("import_judgements", path)
    monkeypatch.setattr(import_guard, "LARGE_LINES", 10)
    Judgement.objects.filter(pk=judged.pk).update(
        judged_at=timezone.now() - import_guard.RECENT_PERIOD
    )
    run("import_judgements", path)


def posted(path: str, **more: Any) -> Any:
    client = client_of(make_user(may_create=True))
    file = SimpleUploadedFile("raw.csv", Path(path).read_bytes())
    return client.post(
        "/import-campaign/", {"release": file, "scale": "4", "min_relevant": "2", **more}
    )


def test_the_page_says_why_it_does_not_take_a_large_file_and_takes_it_with_a_tick(judged, tmp_path):
    path = written(tmp_path, ROWS)
    page = posted(path)
    assert (page.status_code, Job.objects.count()) == (400, 0)
    assert (
        "Annotators are judging, and with an SQLite database their judgements would have to wait while raw.csv is imported"
        in page.content.decode()
    )
    assert f"To import it now, select “{BOX}”." in page.content.decode()
    assert BOX in page.content.decode().split("To import it now, select")[1], (
        "the box that the sentence speaks of"
    )
    assert posted(path, anyway="on").status_code == 302
    jobs.run_job(Job.objects.get().pk)
    assert Job.objects.get().state == Job.State.DONE


def test_a_job_that_comes_to_a_large_file_while_people_judge_says_why_it_does_not_do_it(
    judged, tmp_path
):
    Judgement.objects.filter(pk=judged.pk).update(
        judged_at=timezone.now() - import_guard.RECENT_PERIOD
    )
    assert posted(written(tmp_path, ROWS)).status_code == 302
    Judgement.objects.filter(pk=judged.pk).update(judged_at=timezone.now())
    job = Job.objects.get()
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, Campaign.objects.count()) == (Job.State.FAILED, 1)
    assert job.message.startswith("Annotators are judging, and with an SQLite database")
    assert not default_storage.exists(job.parameters["stored"])


def test_where_nobody_waits_the_page_has_no_box(monkeypatch):
    monkeypatch.setattr(import_guard, "has_one_writer", lambda: False)
    assert (
        BOX not in client_of(make_user(may_create=True)).get("/import-campaign/").content.decode()
    )
