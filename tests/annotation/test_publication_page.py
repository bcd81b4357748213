"""The page Publication of a campaign."""

from __future__ import annotations

import html
import tomllib
from typing import Any

import pytest
from django.test import Client

from annotation.models import AuditEvent, Campaign
from tests.builders import make_campaign, make_user

pytestmark = pytest.mark.django_db
ADDRESS = "/campaigns/{}/settings/publication/"


def make_world() -> tuple[Campaign, Client]:
    manager = make_user("manager")
    campaign = make_campaign(manager=manager, state="open")
    client = Client()
    client.force_login(manager)
    return campaign, client


def posted(*authors: dict[str, str], **values: str) -> dict[str, str]:
    """Return the form as a browser sends it, with two empty rows of authors behind the others."""
    rows = [*authors, {}, {}]
    data = {"authors-TOTAL_FORMS": str(len(rows)), "authors-INITIAL_FORMS": "0", **values}
    for number, row in enumerate(rows):
        for name in ("name", "orcid", "affiliation"):
            data[f"authors-{number}-{name}"] = row.get(name, "")
    return data


def shown(answer: Any) -> str:
    return " ".join(html.unescape(answer.content.decode()).split())


ADA = {"name": "Lovelace, Ada", "orcid": "0000-0002-1825-0097", "affiliation": "U"}


def test_metadata_is_saved_with_an_audit_entry_and_shown_as_text_of_the_campaign_file():
    campaign, client = make_world()
    address = ADDRESS.format(campaign.slug)
    first = shown(client.get(address))
    assert "The judgements have no licence." in first
    assert "As text for the campaign file" not in first
    data = posted(ADA, {}, {"name": "Grace"}, title="Topics", license_judgements="CC-BY-4.0")
    assert client.post(address, data).status_code == 302
    campaign.refresh_from_db()
    assert [author["name"] for author in campaign.publication["authors"]] == [
        "Lovelace, Ada",
        "Grace",
    ]
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.subject) == ("changed settings", "publication")
    page = client.get(address).content.decode()
    text = html.unescape(page.split("<code>")[-1].split("</code>")[0])
    assert tomllib.loads(text) == {
        "campaign": {
            "publication": {
                "title": "Topics",
                "authors": [ADA, {"name": "Grace"}],
                "license_judgements": "CC-BY-4.0",
            }
        }
    }
    assert "The judgements have no licence." not in shown(client.get(address))


def test_an_unchanged_form_is_not_recorded():
    campaign, client = make_world()
    events = AuditEvent.objects.count()
    assert client.post(ADDRESS.format(campaign.slug), posted()).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.publication, AuditEvent.objects.count()) == ({}, events)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (posted(ADA | {"orcid": "0000-0002-1825-0098"}), "orcid 0000-0002-1825-0098 is wrong. Enter"),
        (posted({"affiliation": "U"}), "An author without a name. Enter a name."),
        (posted(doi="https://doi.org/10.1/x"), "Invalid value 'https://doi.org/10.1/x'. Enter a DOI"),
        (posted(license_topics="CC BY"), "Invalid value 'CC BY'. Enter an SPDX identifier"),
        (posted(title="a\0b"), "Null characters are not allowed."),
    ],
)  # fmt: skip
def test_an_invalid_value_is_refused_at_its_field_and_nothing_is_saved(data, error):
    campaign, client = make_world()
    answer = client.post(ADDRESS.format(campaign.slug), data)
    assert (answer.status_code, error in shown(answer)) == (400, True)
    campaign.refresh_from_db()
    assert campaign.publication == {}
