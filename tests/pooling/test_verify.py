"""`manage.py verify` finds each kind of disagreement, and mends only what it may and only when
told."""

from __future__ import annotations

import os
from io import StringIO
from pathlib import Path

import pytest
from django.db.models import F

from analysis.judgements.labels import LabelChoices
from analysis.publishing import recipes
from analysis.publishing.release.parts import ReleasePlan
from annotation.models import Campaign, Judgement, Lease, Membership, Pair
from annotation.selectors.judging import check_invariants
from annotation.services.judging import scheduling
from pooling.models import DocumentFile, Qrels, Run
from pooling.platform import jobs
from tests.builders import judge, make_annotator, make_campaign, make_user
from tests.commands import call_command
from tests.databases import undone

pytestmark = pytest.mark.django_db


def verify(*options: str) -> tuple[int, list[str]]:
    out = StringIO()
    try:
        call_command("verify", *options, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


@pytest.fixture
def installation(full, settings, tmp_path) -> Path:
    """A collection with a file of each kind and a campaign that is judged. -> the folder of
    files"""
    settings.DATA_DIR = tmp_path
    campaign = make_campaign(
        collection=full, pool=full.pools.get(), manager=make_user("m", may_create=True)
    )
    ada = make_annotator(campaign, "ada")
    judge(ada, 2)
    judge(ada, 1)
    return Path(settings.MEDIA_ROOT)


def test_an_installation_that_agrees_is_left_alone(installation):
    assert verify() == (0, ["no problems"])
    assert verify("--fix") == (0, ["no problems"])


def test_counters_are_found_and_counted_anew_only_when_told(installation):
    pair = Pair.objects.filter(counted=1).order_by("pk").first()
    Pair.objects.filter(pk=pair.pk).update(counted=0, open_slots=pair.open_slots + 1)
    Membership.objects.filter(role="annotator").update(n_judged=7)
    for _ in range(2):  # looking changes nothing
        status, lines = verify()
        assert (status, len(lines)) == (1, 4)  # counted, started, the annotator's counter, the sum
        assert "0 counted, but 1 judgements count" in lines[0]
        assert "7 judged by the counter, 2 by the rows" in lines[2]
    status, lines = verify("--fix")
    assert (status, lines[-1]) == (0, "3 problems, 3 of them fixed")
    assert check_invariants(Campaign.objects.get()) == []
    assert verify() == (0, ["no problems"])


@pytest.mark.parametrize(
    ("model", "field"), [(Run, "columns"), (Qrels, "columns"), (DocumentFile, "file")]
)
def test_a_file_that_is_missing_or_has_another_content_is_found_and_never_mended(
    installation, model, field
):
    row = model.objects.order_by("pk").first()
    path = Path(getattr(row, field).path)
    content = path.read_bytes()
    path.write_bytes(content[:-40] + bytes(byte ^ 1 for byte in content[-40:]))
    status, [line, last] = verify("--fix")
    assert (status, last) == (1, "1 problem, 0 of them fixed")
    assert f"the content of {getattr(row, field).name} has changed" in line
    path.unlink()
    status, [line, _] = verify("--fix")
    assert (status, "is missing" in line) == (1, True)


def test_a_run_that_was_exchanged_for_another_is_found(installation):
    first, second = Run.objects.order_by("pk")[:2]
    Path(first.columns.path).write_bytes(Path(second.columns.path).read_bytes())
    status, [line, _] = verify()
    assert (status, f"({first}): the content of" in line) == (1, True)


def test_files_that_belong_to_nothing_are_put_aside_once_they_are_old_and_only_when_told(
    installation, tmp_path
):
    left = installation / "runs" / "left.npz"
    left.write_bytes(b"12345")
    assert verify("--fix") == (0, ["no problems"]), "it may belong to a job at work"
    os.utime(left, (1, 1))
    assert verify() == (
        1,
        ["WRONG  runs/left.npz (5 bytes) is not referenced", "1 problem, 0 of them fixed"],
    )
    assert left.exists()
    assert verify("--fix")[0] == 0
    assert not left.exists()
    assert (tmp_path / "put-aside" / "runs" / "left.npz").read_bytes() == b"12345"
    assert verify() == (0, ["no problems"])


def only(status_and_lines: tuple[int, list[str]]) -> str:
    status, [line, _] = status_and_lines
    assert status == 1
    return line


def test_a_release_whose_file_has_changed_is_found(installation):
    campaign = Campaign.objects.get()
    recipe = recipes.save_recipe(campaign, ReleasePlan("first", LabelChoices()), user=None)
    jobs.run_job(recipes.request_release(recipe, user=None, anyway=True).pk)
    assert verify() == (0, ["no problems"])
    path = Path(recipe.releases.get().file.path)
    path.write_bytes(path.read_bytes() + b"x")
    assert "has changed" in only(verify())


def test_leases_overlap_revisions_and_exclusion_are_looked_at(installation):
    """Each is broken in the rows themselves, past the services, and is found by its own
    sentence."""
    member = Membership.objects.get(role="annotator")
    first, second = Judgement.objects.order_by("pk")
    lease = scheduling.claim_pair(make_annotator(member.campaign, "bob"))
    assert lease is not None
    assert verify() == (0, ["no problems"])

    def found(rows, **changes) -> str:
        """What is said once the rows are changed so; they are as before afterwards."""
        with undone():
            rows.update(**changes)
            lines = verify()[1]
        return "\n".join(lines)

    assert "assigned 1 times, but 0 live leases" in found(
        Lease.objects.filter(pk=lease.pk), state="expired"
    )
    counted = Pair.objects.filter(pk=first.pair_id)
    assert "1 counted of 0 needed" in found(counted, needed=0, open_slots=-F("counted") - F("held"))
    assert "revisions 1, current 0" in found(Judgement.objects.filter(pk=first.pk), current=False)
    assert "revisions 1, current 1" in found(Judgement.objects.filter(pk=second.pk), revision=2)
    assert f"judgement {first.pk} counts without a grade" in found(
        Judgement.objects.filter(pk=first.pk), grade=None
    )
    assert "2 judgements of excluded annotators count" in found(
        Membership.objects.filter(pk=member.pk), status="excluded"
    )
