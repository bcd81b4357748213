"""The export page and its files: who may, what arrives, and that it is in the audit log; the same
in the API and the commands."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from analysis.judgements import live
from analysis.models import Recipe, Release
from analysis.publishing.exports import available_exports
from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from annotation.models import AuditEvent, Judgement
from annotation.services.campaigns import lifecycle
from annotation.services.judging import submission
from annotation.services.people.tokens import create_api_token
from pooling.models import Job
from pooling.platform import jobs
from tests.analysis.commands.judged_file import refused, run
from tests.analysis.publishing.exported import (
    BINARY,
    GRADED,
    START,
    examples_campaign,
    judged,
    pair_of,
)
from tests.analysis.real_campaign import store_run
from tests.annotation.test_campaign_pages import client_of, manager_of
from tests.builders import make_annotator, make_campaign, make_user
from tests.commands import call_command

pytestmark = pytest.mark.django_db
PAGES = ["export/", "export/files/qrels", "export/files/judgements"]
ACTIONS = ["export/recipes/", "export/recipes/1/"]
API = ["exports/", "exports/qrels", "recipes/"]


@pytest.fixture
def campaign():
    return examples_campaign()


def content(response) -> str:
    return b"".join(response.streaming_content).decode()


@pytest.mark.parametrize("page", PAGES)
class TestWhoMaySeePages:
    def test_the_anonymous_are_sent_to_sign_in(self, page):
        address = f"/campaigns/{make_campaign().slug}/{page}"
        assert Client().get(address).url == f"/sign-in?next={address}"

    def test_strangers_and_managers_of_other_campaigns_find_nothing(self, page):
        address = f"/campaigns/{make_campaign().slug}/{page}"
        assert client_of(make_user()).get(address).status_code == 404
        assert manager_of(make_campaign()).get(address).status_code == 404

    def test_annotators_are_refused(self, page):
        campaign = make_campaign()
        assert (
            client_of(make_annotator(campaign).user)
            .get(f"/campaigns/{campaign.slug}/{page}")
            .status_code
            == 403
        )

    def test_managers_may_and_cannot_post(self, page):
        campaign = make_campaign()
        assert manager_of(campaign).get(f"/campaigns/{campaign.slug}/{page}").status_code == 200
        assert manager_of(campaign).post(f"/campaigns/{campaign.slug}/{page}").status_code == 405


@pytest.mark.parametrize("page", [*ACTIONS, "export/difference", "export/releases/1.zip"])
def test_recipes_and_releases_ask_the_same_permissions(page):
    campaign = make_campaign()
    address = f"/campaigns/{campaign.slug}/{page}"
    call = "post" if page in ACTIONS else "get"
    assert getattr(Client(), call)(address).url == f"/sign-in?next={address}"
    assert getattr(client_of(make_user()), call)(address).status_code == 404
    assert getattr(manager_of(make_campaign()), call)(address).status_code == 404
    assert getattr(client_of(make_annotator(campaign).user), call)(address).status_code == 403


def test_only_who_may_make_campaigns_may_import_one():
    assert Client().get("/import-campaign/").url == "/sign-in?next=/import-campaign/"
    assert client_of(make_user()).get("/import-campaign/").status_code == 403
    assert client_of(make_user()).post("/import-campaign/").status_code == 403
    assert client_of(make_user(may_create=True)).get("/import-campaign/").status_code == 200


def test_the_import_checks_the_person_before_it_reads_a_body_and_then_the_token_against_forged_requests():
    stranger, creator = Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)
    assert stranger.post("/import-campaign/").url == "/sign-in?next=/import-campaign/"
    creator.force_login(make_user(may_create=True))
    assert creator.post("/import-campaign/").status_code == 403
    creator.cookies["csrftoken"] = "a" * 32
    assert (
        creator.post("/import-campaign/", headers={"X-CSRFToken": "a" * 32}).status_code == 400
    ), "the form lacks its file"


@pytest.mark.parametrize("address", API)
def test_the_api_asks_the_same_permissions(address):
    campaign = make_campaign()
    path = f"/api/v1/campaigns/{campaign.slug}/{address}"
    assert Client().get(path).status_code in (401, 403)
    assert client_of(make_user()).get(path).status_code == 404
    assert client_of(make_annotator(campaign).user).get(path).status_code == 403
    assert manager_of(campaign).get(path).status_code == 200


def test_each_file_arrives_under_its_name_and_leaves_a_row_in_the_audit_trail(campaign):
    client = manager_of(campaign)
    for export in available_exports(campaign).values():
        response = client.get(f"/campaigns/{campaign.slug}/export/files/{export.name}")
        assert response.status_code == 200
        assert (
            response["Content-Disposition"]
            == f'attachment; filename="{campaign.slug}-{export.file}"'
        )
    assert AuditEvent.objects.filter(campaign=campaign, action="exported").count() == len(
        available_exports(campaign)
    )


def test_qrels_follow_the_choices_in_the_address(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/export/files/qrels"
    assert content(client.get(address)) == GRADED
    assert content(client.get(address, {"min_judgements": 5})) == "t2 0 d3 1\n"
    assert content(client.get(f"/campaigns/{campaign.slug}/export/files/qrels-binary")) == BINARY


def test_choices_that_are_none_come_back_as_the_page_with_the_reason(campaign):
    response = manager_of(campaign).get(
        f"/campaigns/{campaign.slug}/export/files/qrels", {"method": "magic", "min_judgements": 0}
    )
    assert response.status_code == 400
    assert set(response.context["form"].errors) == {"method", "min_judgements"}
    assert (
        manager_of(campaign).get(f"/campaigns/{campaign.slug}/export/files/nothing").status_code
        == 404
    )


def test_the_page_carries_the_choices_into_the_links_of_files_that_heed_them(campaign):
    page = (
        manager_of(campaign)
        .get(
            f"/campaigns/{campaign.slug}/export/", {"method": "median", "exclude": ["A001", "A002"]}
        )
        .content.decode()
    )
    assert "export/files/qrels?method=median&amp;exclude=A001&amp;exclude=A002" in page
    assert 'export/files/topics"' in page


def test_the_page_asks_no_more_questions_when_there_are_more_annotators(
    campaign, django_assert_max_num_queries
):
    client = manager_of(campaign)
    for _ in range(5):
        make_annotator(campaign)
    with django_assert_max_num_queries(28):
        client.get(f"/campaigns/{campaign.slug}/export/")


def test_a_token_fetches_the_same_bytes_from_the_api(campaign):
    token = create_api_token(user=campaign.memberships.get(role="manager").user, name="script")
    client = Client(headers={"Authorization": f"Token {token}"})
    path = f"/api/v1/campaigns/{campaign.slug}/exports/"
    assert [row["name"] for row in client.get(path).json()] == list(available_exports(campaign))
    assert content(client.get(path + "qrels")) == GRADED
    wrong = client.get(path + "qrels", {"method": "magic"})
    sentence = "Select a valid choice. magic is not one of the available choices."
    assert (wrong.status_code, wrong.json()["detail"], wrong.json()["errors"]) == (
        400,
        f"method: {sentence}",
        {"method": [sentence]},
    )
    assert client.get(path + "nothing").status_code == 404


def test_the_commands_write_the_same_bytes(campaign, tmp_path):
    file = tmp_path / "q.txt"
    result = run("export_qrels", "--campaign", campaign.slug, "--output", str(file))
    assert file.read_text() == GRADED
    assert (result["pairs"], result["labels"], result["judgements"]) == (
        6,
        {"0": 2, "1": 2, "2": 2},
        18,
    )
    out = io.StringIO()
    call_command("export_qrels", "--campaign", campaign.slug, "--labels", "binary", stdout=out)
    assert out.getvalue() == BINARY
    run("export_judgements", "--campaign", campaign.slug, "--output", str(tmp_path / "j.tsv"))
    run("aggregate", str(tmp_path / "j.tsv"), "--output", str(file))
    assert file.read_text() == GRADED


def test_the_commands_refuse_what_is_not_there(campaign):
    assert refused("export_qrels", "--campaign", "nowhere")[0] == 2
    status, out, err = refused(
        "export_qrels", "--campaign", campaign.slug, "--min-relevant", "9", "--exclude", "Zoe"
    )
    assert (status, out) == (2, "")
    assert "one of 1, 2, 3" in err
    assert "Zoe" in err


def recipe_data(name: str, **changes) -> dict[str, object]:
    data = {
        "name": name,
        "method": "majority",
        "min_judgements": 2,
        "min_relevant": 2,
        "min_seconds": 0,
    } | changes
    return {f"recipe-{key}": value for key, value in data.items()}


def test_a_manager_writes_recipes_compares_them_builds_a_release_and_downloads_it(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/export/"
    assert client.post(address + "recipes/", recipe_data("usual")).status_code == 302
    assert (
        client.post(
            address + "recipes/", recipe_data("strict", min_judgements=5, exclude=["A001"])
        ).status_code
        == 302
    )
    again = client.post(address + "recipes/", recipe_data("usual"))
    assert again.status_code == 400
    assert "A recipe with this name already exists" in again.content.decode()
    usual, strict = Recipe.objects.get(name="usual"), Recipe.objects.get(name="strict")
    assert (strict.choices["min_judgements"], strict.choices["exclude"]) == (5, ["A001"])
    page = client.get(
        address + "difference", {"first": usual.pk, "second": strict.pk}
    ).content.decode()
    assert "Different labels" not in page  # the second one labels nothing otherwise, but less
    assert "Pairs labelled by one recipe (" in page
    assert re.search(rf'href="/campaigns/{campaign.slug}/pairs/\d+/"', page)
    assert (
        client.get(address + "difference", {"first": usual.pk, "second": usual.pk}).url == address
    )
    client.post(f"{address}recipes/{usual.pk}/", {"action": "build", "anyway": "1"})
    job = Job.objects.get(kind="build release")
    waits = client.get(address).content.decode()
    assert "Waiting for the background worker" in waits
    assert f'id="fresh" hx-get="{address}"' in " ".join(
        waits.split()
    )  # what is fetched anew when the job ends
    jobs.run_job(job.pk)
    release = Release.objects.get()
    page = client.get(address).content.decode()
    assert release.digest[:12] in page
    assert f"{release.content_digest[:12]}</code>" in page
    response = client.get(f"{address}releases/{release.pk}.zip")
    assert f"{campaign.slug}-release-{release.digest[:12]}.zip" in response["Content-Disposition"]
    assert hashlib.sha256(b"".join(response.streaming_content)).hexdigest() == release.digest
    client.post(f"{address}recipes/{usual.pk}/", {"action": "delete"})
    client.post(f"{address}recipes/{strict.pk}/", {"action": "delete"})
    assert [recipe.name for recipe in Recipe.objects.all()] == ["usual"]  # it has a release
    other = manager_of(make_campaign())
    assert (
        other.get(f"/campaigns/{campaign.slug}/export/releases/{release.pk}.zip").status_code == 404
    )
    release.file.delete(save=False)


def test_the_page_of_two_recipes_says_how_both_rank_the_systems_and_follows_an_adjudication(
    campaign,
):
    client = manager_of(campaign)
    first, second = (
        Recipe.objects.create(campaign=campaign, name=name, choices={"method": name})
        for name in ("majority", "median")
    )
    address = f"/campaigns/{campaign.slug}/export/difference?first={first.pk}&second={second.pk}"

    def page() -> str:
        content = client.get(address).content.decode()
        for job in Job.objects.filter(kind="compare recipes", state=Job.State.QUEUED):
            assert f'id="job-{job.pk}"' in content  # which tells the page when it is done
            jobs.run_job(job.pk)
            content = client.get(address).content.decode()
        return content

    assert "Undefined: a ranking needs at least two runs." in page()
    for tag, better in (("a", "d1"), ("b", "d2")):
        store_run(
            campaign.collection,
            tag,
            {"t1": {"d1": 1.0, "d3": 2.0, better: 3.0}, "t2": {better: 1.0}},
        )
    Job.objects.update(finished_at="2026-01-01T00:00:00Z")
    content = page()
    assert content.count("<td>all grades</td>") == content.count("<td>two grades</td>") == 2
    assert "Different labels" in content
    assert "1.000" in content
    assert "Based on 18 judgements." in content
    judged(
        make_annotator(campaign),
        pair_of(campaign, "t1", "d1"),
        2,
        now=START + timedelta(days=9),
        active_ms=20_000,
    )
    live._snapshots.clear()  # read again although that was done a moment ago
    assert "Based on 18 judgements. Newer judgements exist." in page()
    lines = (
        client.get(address.replace("difference?", "difference.csv?")).content.decode().splitlines()
    )
    assert lines[0].startswith("topic,document,first_grade,")
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["t1", "d3"]
    ]  # the only pair that differs
    assert lines[1].split(",")[2] != lines[1].split(",")[5]
    submission.adjudicate_pair(
        pair_of(campaign, "t1", "d3"), 2, reason="clear", actor=None
    )  # the only pair that differed
    Job.objects.update(finished_at="2026-01-01T00:00:00Z")
    assert "Both recipes give every pair the same label" in page()
    assert Job.objects.filter(kind="compare recipes").count() == 3


def test_one_press_saves_the_recipe_and_builds_its_release(campaign):
    client, address = manager_of(campaign), f"/campaigns/{campaign.slug}/export/"
    citable = {"license_judgements": "CC0-1.0", "authors": [{"name": "Ada"}]}
    lifecycle.update_campaign(campaign, actor=None, publication=citable)
    answer = client.post(address + "recipes/", recipe_data("public") | {"action": "build"})
    assert answer.url == f"{address}#releases"
    jobs.run_job(Job.objects.get(kind="build release").pk)
    release = Release.objects.get()
    assert release.recipe.name == "public"
    assert f"{address}releases/{release.pk}.zip" in client.get(address).content.decode()
    release.file.delete(save=False)


def test_the_page_begins_with_the_two_files_that_everyone_wants(campaign):
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/export/")
    assert [file["name"] for file in page.context["main_files"]] == [
        f"{campaign.slug}-qrels.txt",
        f"{campaign.slug}-qrels-binary.txt",
    ]
    n_relevant = BINARY.count(" 1\n")
    text = html.unescape(page.content.decode())
    assert f"{len(GRADED.splitlines())} labels are ready to download." in text
    assert f"{n_relevant} of {len(BINARY.splitlines())} labels are relevant" in text
    others = [file["export"].name for _, files in page.context["groups"] for file in files]
    assert sorted([*others, "qrels", "qrels-binary"]) == sorted(available_exports(campaign))


def test_without_labels_the_page_says_so():
    campaign = make_campaign()
    page = manager_of(campaign).get(f"/campaigns/{campaign.slug}/export/").content.decode()
    assert "There are no labels yet." in page


def test_a_release_of_one_campaign_is_not_found_under_another(campaign):
    theirs = make_campaign()
    recipe = Recipe.objects.create(campaign=campaign, name="x")
    release = Release.objects.create(recipe=recipe, digest="0" * 64)
    assert (
        manager_of(theirs)
        .get(f"/campaigns/{theirs.slug}/export/releases/{release.pk}.zip")
        .status_code
        == 404
    )
    assert (
        manager_of(theirs).post(f"/campaigns/{theirs.slug}/export/recipes/{recipe.pk}/").status_code
        == 404
    )
    assert (
        manager_of(theirs)
        .get(f"/api/v1/campaigns/{theirs.slug}/releases/{release.pk}.zip")
        .status_code
        == 404
    )


def test_the_api_makes_a_recipe_and_builds_its_release(campaign):
    client, path = manager_of(campaign), f"/api/v1/campaigns/{campaign.slug}/"
    made = client.post(
        path + "recipes/", {"name": "usual", "method": "median"}, content_type="application/json"
    )
    assert (made.status_code, made.json()["method"]) == (201, "median")
    assert (
        client.post(
            path + "recipes/", {"name": "x", "min_relevant": 9}, content_type="application/json"
        ).status_code
        == 409
    )
    job = client.post(f"{path}recipes/{made.json()['id']}/build?anyway=true")
    assert job.status_code == 202
    jobs.run_job(job.json()["id"])
    (recipe,) = client.get(path + "recipes/").json()
    (release,) = recipe["releases"]
    file = b"".join(client.get(f"{path}releases/{release['id']}.zip").streaming_content)
    assert hashlib.sha256(file).hexdigest() == release["sha256"]
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        assert (
            json.loads(archive.read("campaign.json"))["content_sha256"] == release["content_sha256"]
        )
    Release.objects.get().file.delete(save=False)


def test_an_uploaded_release_becomes_a_campaign_and_what_is_none_says_why(campaign):
    out = io.BytesIO()
    write_release(campaign, ReleasePlan(), out)
    user = make_user(may_create=True)
    client = client_of(user)
    for data, state in ((out.getvalue(), Job.State.DONE), (b"PK nothing", Job.State.FAILED)):
        response = client.post(
            "/import-campaign/", {"release": SimpleUploadedFile("release.zip", data)}
        )
        job = Job.objects.latest("pk")
        assert response.url == f"/jobs/{job.pk}/"
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert job.state == state
        assert not default_storage.exists(job.parameters["stored"])
    assert "damaged" in job.report["problems"][0]["problem"]
    made = user.memberships.get().campaign
    assert made.slug == f"{campaign.slug}-2"
    page = client.get(
        f"/jobs/{Job.objects.filter(state=Job.State.DONE).latest('pk').pk}/"
    ).content.decode()
    assert f'href="/campaigns/{made.slug}/"' in page  # the way on from the import
    assert (
        f"A collection called {made.collection.name} already exists ({campaign.collection.slug})"
        in page
    )
    assert f"was imported into a new one, {made.collection.slug}" in page
    assert client.post("/import-campaign/", {}).status_code == 400


def test_uploaded_judgements_become_a_campaign_and_a_wrong_line_is_told():
    user = make_user(may_create=True)
    client = client_of(user)
    good = b"topic,document,annotator,grade\nq,d,anna,2\nq,d,bob,1\n"
    for data, state in (
        (good, Job.State.DONE),
        (good.replace(b"bob,1", b"bob,7"), Job.State.FAILED),
    ):
        given = {
            "release": SimpleUploadedFile("raw.csv", data),
            "name": "Elsewhere",
            "scale": "3",
            "min_relevant": "1",
        }
        client.post("/import-campaign/", given)
        job = Job.objects.latest("pk")
        jobs.run_job(job.pk)
        job.refresh_from_db()
        assert job.state == state
        assert not default_storage.exists(job.parameters["stored"])
    assert job.report["problems"][0]["line"] == 3
    made = user.memberships.get().campaign
    assert (made.name, made.state, made.min_relevant, len(made.scale)) == (
        "Elsewhere",
        "closed",
        1,
        3,
    )
    assert sorted(Judgement.objects.values_list("membership__pseudonym", "grade")) == [
        ("A001", 2),
        ("A002", 1),
    ]
    wrong = {"release": SimpleUploadedFile("raw.csv", good), "scale": "2", "min_relevant": "2"}
    assert client.post("/import-campaign/", wrong).status_code == 400
