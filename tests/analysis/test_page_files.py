"""Every picture and table of a manager's page as a file."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from analysis.systems import reports
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from pooling.models import Job
from tests.analysis.systems.builders import small_campaign, small_collection, work_off


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def linked(page: str) -> list[tuple[str, str]]:
    """(format, address) of the links in the download menus of charts and tables."""
    menus = re.findall(r'<details class="menu part-files">(.*?)</details>', page)
    return [
        (words, unescape(address))
        for links in menus
        for address, words in re.findall(r'<a href="([^"]*)"[^>]*>(\w+)</a>', links)
    ]


def n_parts_with_files(client: Client, address: str, name: str) -> int:
    """Return how many charts and tables of a page have files, after checking that every chart has."""
    page = client.get(address).content.decode()
    figures = re.findall(r'<figure class="figure">.*?</figure>', page, re.DOTALL)
    n_pictures = sum('class="picture"' in figure for figure in figures)
    links = linked(page)
    formats = [words for words, _ in links]
    assert formats.count("SVG") == formats.count("PNG") == n_pictures, name
    assert formats.count("CSV") == formats.count("LaTeX") >= n_pictures, name
    for words, link in links:  # drawing is tried once, below
        if words in ("CSV", "LaTeX"):
            text = client.get(link).content.decode()
            assert text.count("\n") > 1 if words == "CSV" else r"\bottomrule" in text, (name, link)
    return formats.count("CSV")


@pytest.mark.long
@pytest.mark.django_db
def test_pages_of_one_person_pair_run_pool_and_report_have_their_files_too(campaign, client):
    client.force_login(campaign.created_by)
    collection, slug = campaign.collection, campaign.slug
    judged = campaign.pairs.filter(judgements__status="counted").first()
    asked = reports.request_report(
        KINDS["evaluate"],
        collection=collection,
        campaign=campaign,
        parameters={
            "runs": list(collection.runs.values_list("pk", flat=True)),
            "qrels": ["campaign:graded:majority"],
            "options": {},
        },
        seed=1,
        user=campaign.created_by,
    )
    work_off(asked.job)
    found = {
        name: n_parts_with_files(client, reverse(name, args=arguments), name)
        for name, arguments in {
            "campaign-person": [slug, judged.judgements.first().membership.pseudonym],
            "campaign-pair": [slug, judged.pk],
            "run": [collection.slug, collection.runs.first().pk],
            "pool": [collection.slug, campaign.pool_id],
            "report": [asked.pk],
        }.items()
    }
    assert min(found["campaign-person"], found["report"]) > 1, found


@pytest.mark.long
@pytest.mark.django_db
def test_every_chart_of_every_page_of_a_campaign_has_its_files(campaign, client):
    """All pages of a campaign and of a collection that need nothing but its address."""
    client.force_login(campaign.created_by)
    seen: dict[str, int] = {}
    for _ in range(2):  # the second time with what the worker has computed meanwhile
        for name in {
            name
            for name in get_resolver().reverse_dict
            if isinstance(name, str) and name.startswith(("campaign", "collection"))
        }:
            if get_resolver().reverse_dict.getlist(name)[0][0][0][1] != ["slug"]:
                continue
            slug = campaign.slug if name.startswith("campaign") else campaign.collection.slug
            answer = client.get(reverse(name, args=[slug]))
            if (
                answer.status_code != 200
                or answer.streaming
                or not answer.headers["Content-Type"].startswith("text/html")
            ):
                continue
            seen[name] = n_parts_with_files(client, reverse(name, args=[slug]), name)
        for job in Job.objects.filter(state=Job.State.QUEUED):
            work_off(job)
    filled = {name for name, n in seen.items() if n}
    assert {
        "campaign",
        "campaign-systems",
        "campaign-agreement",
        "campaign-people",
        "campaign-judgements",
        "collection-runs",
    } <= filled


@pytest.mark.django_db
def test_a_picture_comes_as_svg_and_png_with_the_measure_of_the_page(
    campaign, client, real_pictures
):
    client.force_login(campaign.created_by)
    address = reverse("campaign-systems", args=[campaign.slug]) + "?measure=AP"
    client.get(address)
    work_off(Job.objects.get(kind="systems answer"))
    links = linked(client.get(address).content.decode())
    svg, png = (next(link for words, link in links if words == wanted) for wanted in ("SVG", "PNG"))
    assert "measure=AP" in svg
    drawn = client.get(svg)
    assert drawn.headers["Content-Type"] == "image/svg+xml"
    assert drawn.headers["Content-Disposition"] == 'attachment; filename="mean-ap-by-run.svg"'
    assert ElementTree.fromstring(drawn.content).tag.endswith("svg")
    assert b"mean AP" in drawn.content
    assert client.get(png).content.startswith(b"\x89PNG")


@pytest.mark.django_db
def test_a_table_comes_as_csv_and_latex_with_the_rows_of_the_page(campaign, client):
    client.force_login(campaign.created_by)
    address = reverse("campaign-people", args=[campaign.slug])
    links = linked(client.get(address).content.decode())
    text = client.get(next(link for words, link in links if words == "CSV"))
    assert text.headers["Content-Disposition"].startswith('attachment; filename="')
    rows = list(csv.reader(io.StringIO(text.content.decode())))
    assert {row[0].split()[0] for row in rows[1:]} == set(
        campaign.memberships.filter(role="annotator").values_list("pseudonym", flat=True)
    )
    latex = client.get(next(link for words, link in links if words == "LaTeX"))
    assert latex.headers["Content-Type"].startswith("application/x-tex")
    assert r"\toprule" in latex.content.decode()


@pytest.mark.django_db
def test_what_is_not_on_the_page_is_said_not_to_be(campaign, client):
    client.force_login(campaign.created_by)
    address = reverse("campaign-people", args=[campaign.slug])
    for query in (
        "?part=picture-99&format=svg",
        "?part=table-1&format=png",
        "?part=table-1",
        "?part=table-1&format=exe",
    ):
        assert client.get(address + query).status_code == 404, query
    client.logout()
    assert client.get(address + "?part=table-1&format=csv").status_code == 302
