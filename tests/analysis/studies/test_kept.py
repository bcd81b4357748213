"""A study on a page and by the API is the folder that the command writes."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from analysis.models import Report
from analysis.studies.forms import StudyForm
from analysis.studies.inputs import StudyInputs
from analysis.studies.papers import STUDY_NAMES, get_study
from analysis.studies.sources import write_campaign_inputs
from annotation.models import Campaign
from pooling.platform.jobs import Refused
from tests.analysis.commands.judged_file import run
from tests.analysis.systems.builders import small_campaign, small_collection, work_off
from tests.builders import make_user

pytestmark = pytest.mark.django_db


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


@pytest.fixture
def owner(campaign, client):
    found = campaign.collection.managers.get()
    client.force_login(found)
    return found


def sent(form: StudyForm, **changes: Any) -> dict[str, Any]:
    """What a browser sends of the form as it stands."""
    begun = {name: form[name].initial for name in form.fields if name not in form.uploads}
    return {
        name: value for name, value in begun.items() if value not in (None, False, "")
    } | changes


def made(
    client, name: str, *, campaign: Campaign, of_collection: bool = False, **changes: Any
) -> Report:
    collection = campaign.collection
    form = StudyForm(
        study=get_study(name), collection=collection, campaign=None if of_collection else campaign
    )
    address, slug = (
        ("collection-study-new", collection.slug)
        if of_collection
        else ("campaign-study-new", campaign.slug)
    )
    answer = client.post(reverse(address, args=[slug, name]), sent(form, **changes))
    assert answer.status_code == 302, answer.context["form"].errors
    return finished(Report.objects.latest("pk"))


def finished(row: Report) -> Report:
    assert row.job is not None
    job = work_off(row.job)
    assert job.state == "done", job.message
    row.refresh_from_db()
    return row


def packed(client, row: Report) -> dict[str, bytes]:
    content = b"".join(client.get(reverse("study-zip", args=[row.pk])).streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def folder(path: Path) -> dict[str, bytes]:
    return {
        file.relative_to(path).as_posix(): file.read_bytes()
        for file in path.rglob("*")
        if file.is_file()
    }


@pytest.mark.long
@pytest.mark.parametrize("name", STUDY_NAMES)
def test_of_a_campaign_the_zip_holds_the_same_bytes_as_the_folder_of_the_command(
    campaign, owner, client, tmp_path, name
) -> None:
    few = {
        "stability": {"pairs": 2, "overlaps": "50:100:50", "measures": "AP"},
        "leaderboard": {"trials": 20, "splits": 3},
    }.get(name, {})
    row = made(client, name, campaign=campaign, **few)
    files = packed(client, row)
    if not few:
        run("study", name, "--campaign", campaign.slug, "--output", str(tmp_path / "typed"))
        assert folder(tmp_path / "typed") == files
    about = json.loads(files["study.json"])
    assert about["parameters"]["min_relevant"] == campaign.min_relevant
    place = tmp_path / "unpacked"
    for path, content in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    here = Path.cwd()
    os.chdir(place)
    try:
        run(*row.command.split()[1:], "--output", "again")  # as the page says it
    finally:
        os.chdir(here)
    assert folder(place / "again") == files
    assert {"report.html", "report.md", "study.json", "inputs/study.toml"} <= set(files)
    page = client.get(reverse("study", args=[row.pk])).content.decode()
    for title, reason in json.loads(files["study.json"])["left_out"].items():
        assert reason.partition("`")[0] in page, title


@pytest.mark.long
def test_choices_options_and_files_go_into_the_toml_file(campaign, owner, client) -> None:
    runs = list(campaign.collection.runs.order_by("tag"))[1:4]
    judged = campaign.collection.qrels.get(name="judged, old")
    groups = SimpleUploadedFile(
        "bands.tsv", "".join(f"t{t}\t{'Head' if t < 4 else 'Tail'}\n" for t in range(1, 9)).encode()
    )
    row = made(
        client,
        "comparison",
        campaign=campaign,
        runs=[one.pk for one in runs],
        qrels=f"imported:{judged.pk}",
        measures="AP",
        against="sys.2",
        correction="holm",
        seed=5,
        title="Three of ours",
        topic_groups=groups,
    )
    files = packed(client, row)
    assert sorted(name for name in files if name.startswith("inputs/runs/")) == [
        f"inputs/runs/{one.tag}.run.gz" for one in runs
    ]
    about = json.loads(files["study.json"])
    assert (about["title"], about["seed"], about["left_out"]) == ("Three of ours", 5, {})
    assert about["parameters"]["min_relevant"] is None  # these qrels are not the campaign's
    assert (
        about["parameters"] | {"measures": "AP", "against": "sys.2", "correction": "holm"}
        == about["parameters"]
    )
    assert "inputs/given/topic_groups/bands.tsv" in files
    assert "tables/scores-Tail.csv" in files
    page = client.get(reverse("study", args=[row.pk]))
    text = page.content.decode()
    assert "Three of ours" in text
    assert 'role="img"' in text  # the pictures of the folder stand in the page
    table = client.get(reverse("study-file", args=[row.pk, "tables/scores-Tail.csv"]))
    assert table.content == files["tables/scores-Tail.csv"]
    assert table["Content-Disposition"] == 'attachment; filename="scores-Tail.csv"'
    assert client.get(reverse("study-file", args=[row.pk, "tables/none.csv"])).status_code == 404
    client.post(reverse("study-again", args=[row.pk]))
    assert finished(Report.objects.latest("pk")).input_digest == row.input_digest


@pytest.mark.long
def test_of_a_collection_qrels_and_clicks_are_chosen(campaign, owner, client, tmp_path) -> None:
    row = made(client, "comparison", campaign=campaign, of_collection=True, measures="AP")
    assert row.campaign is None
    files = packed(client, row)
    assert "inputs/qrels/judged-old.qrels" in files  # the only ones that do not come from clicks
    run(
        "study",
        "comparison",
        "--collection",
        campaign.collection.slug,
        "--output",
        str(tmp_path / "typed"),
    )
    inputs = {
        name: content
        for name, content in folder(tmp_path / "typed").items()
        if name.startswith("inputs/") and ".toml" not in name
    }
    assert inputs == {
        name: content
        for name, content in files.items()
        if name.startswith("inputs/") and ".toml" not in name
    }
    boards = made(
        client,
        "leaderboard",
        campaign=campaign,
        of_collection=True,
        trials=20,
        splits=3,
        measures="AP",
    )
    assert set(json.loads(packed(client, boards)["study.json"])["parts"]) >= {"certainty", "halves"}


@pytest.mark.long
def test_finished_studies_are_listed_with_the_reports_of_all_campaigns(
    campaign, owner, client
) -> None:
    row = made(client, "comparison", campaign=campaign, measures="AP", title="Ours, compared")
    for query in ("", "?kind=study-"):
        page = client.get(reverse("analyses") + query).content.decode()
        assert f'href="{reverse("study", args=[row.pk])}">Ours, compared' in page
    assert (
        "Ours, compared" not in client.get(reverse("analyses") + "?kind=evaluate").content.decode()
    )


def test_judged_qrels_are_never_taken_for_clicks(campaign, owner, client, tmp_path) -> None:
    judged = campaign.collection.qrels.get(name="judged, old")
    campaign.collection.qrels.exclude(pk=judged.pk).delete()
    row = made(client, "tripjudge", campaign=campaign)
    assert not [name for name in packed(client, row) if name.startswith("inputs/clicks")]
    form = StudyForm(
        study=get_study("tripjudge"), collection=campaign.collection, campaign=campaign
    )
    assert "clicks" not in form.fields or form.fields["clicks"].choices == []
    with pytest.raises(Refused, match="judged, old contains judgements"):
        write_campaign_inputs(
            get_study("tripjudge"),
            campaign.slug,
            tmp_path,
            StudyInputs(clicks=[f"imported:{judged.pk}"]),
        )


def test_what_a_study_does_not_take_is_refused_at_the_form(campaign, owner, client) -> None:
    form = StudyForm(
        study=get_study("leaderboard"), collection=campaign.collection, campaign=campaign
    )
    address = reverse("campaign-study-new", args=[campaign.slug, "leaderboard"])
    answer = client.post(address, sent(form, institutions="no sign of equality"))
    assert answer.status_code == 400
    assert "expected name = words" in answer.content.decode()
    assert client.post(address, sent(form, trials=0)).status_code == 400
    assert (
        client.get(reverse("campaign-study-new", args=[campaign.slug, "nonsense"])).status_code
        == 404
    )
    assert Report.objects.count() == 0


def test_a_study_of_which_nothing_can_be_made_says_why(settings, tmp_path, client) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    campaign = small_campaign(small_collection(slug="bare"), judged=False)
    client.force_login(campaign.collection.managers.get())
    form = StudyForm(
        study=get_study("comparison"), collection=campaign.collection, campaign=campaign
    )
    client.post(reverse("campaign-study-new", args=[campaign.slug, "comparison"]), sent(form))
    row = Report.objects.get()
    assert row.job is not None
    job = work_off(row.job)
    assert (job.state, "needs `qrels`" in job.message) == ("failed", True)
    assert "needs `qrels`" in client.get(reverse("study", args=[row.pk])).content.decode()
    assert client.get(reverse("study-zip", args=[row.pk])).status_code == 404


@pytest.mark.long
def test_the_api_asks_lists_hands_out_and_deletes_like_reports(
    campaign, owner, client, settings, django_capture_on_commit_callbacks
) -> None:
    asked = {
        "name": "comparison",
        "campaign": campaign.slug,
        "options": {"measures": "AP", "seed": 3},
        "qrels": ["campaign:binary:majority"],
    }
    answer = client.post("/api/v1/studies/", asked, content_type="application/json")
    assert answer.status_code == 202, answer.json()
    row = Report.objects.get()
    assert answer.json()["state"] == "queued"
    assert client.get(f"/api/v1/studies/{row.pk}/study.zip").status_code == 404  # not made yet
    finished(row)
    one = client.get(f"/api/v1/studies/{row.pk}/").json()
    assert (one["name"], one["state"], one["seed"], one["campaign"]) == (
        "comparison",
        "done",
        3,
        campaign.slug,
    )
    assert one["result"]["left_out"] == {
        "groups": "needs `topic_groups`: a file of topics and their groups"
    }
    content = b"".join(client.get(f"/api/v1/studies/{row.pk}/study.zip").streaming_content)
    assert content == b"".join(client.get(reverse("study-zip", args=[row.pk])).streaming_content)
    assert campaign.audit.filter(action="exported", subject__startswith="study ").count() == 2
    assert [found["id"] for found in client.get("/api/v1/studies/").json()["results"]] == [row.pk]
    assert client.get("/api/v1/reports/").json()["results"] == []
    assert client.get(f"/api/v1/reports/{row.pk}/").status_code == 404
    for wrong, status in (
        ({"options": {"measure": "AP"}}, 400),
        ({"options": {"trials": 0}}, 400),
        ({"options": {"judgements": "x"}}, 400),
        ({"qrels": ["imported:999"]}, 409),
        ({"name": "nonsense"}, 400),
        ({"files": {"measures": {"x": "y"}}}, 400),
        ({"runs": [10**6]}, 409),
    ):
        assert (
            client.post(
                "/api/v1/studies/", asked | wrong, content_type="application/json"
            ).status_code
            == status
        ), wrong
    client.force_login(make_user("stranger"))
    assert client.get(f"/api/v1/studies/{row.pk}/").status_code == 404
    assert client.get(reverse("study", args=[row.pk])).status_code == 404
    assert client.get("/api/v1/studies/").json()["results"] == []
    client.force_login(owner)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.delete(f"/api/v1/studies/{row.pk}/").status_code == 204
    assert not list(Path(settings.MEDIA_ROOT).rglob("*study.zip"))
