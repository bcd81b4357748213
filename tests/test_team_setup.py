"""docs/how-to/set-up-for-a-team.md: its commands and files lead to a campaign that an invited
annotator can judge in."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from annotation.models import Campaign, Membership
from annotation.services.judging import scheduling
from assay.cli.command_list import COMMAND_MODULES
from tests.analysis.dashboard.test_pages import manager_of
from tests.builders import PASSWORD
from tests.documented import block

PAGE = "how-to/set-up-for-a-team.md"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("own_storage"),
]


@pytest.fixture
def own_storage(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = settings.DATA_DIR = tmp_path / "data"


def run_documented(first_words: str) -> list[str]:
    """Run the commands of the block that begins with these words. -> what each printed"""
    printed = []
    for line in block(PAGE, first_words).splitlines():
        words = shlex.split(line)[1:]
        name = next(name for n in (2, 1) if (name := " ".join(words[:n])) in COMMAND_MODULES)
        out = io.StringIO()
        call_command(COMMAND_MODULES[name], *words[len(name.split()) :], stdout=out)
        printed.append(out.getvalue())
    return printed


def test_the_page_leads_from_nothing_to_an_invited_annotator(tmp_path, monkeypatch):
    links = run_documented("assay account create")
    assert all(link.startswith("https://assay.example.org/sign-in/link/") for link in links)
    assert User.objects.get(username="ada").is_superuser
    subprocess.run(["bash", "-e", "-c", block(PAGE, "mkdir first")], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path / "first")
    run_documented("assay campaign apply")
    campaign = Campaign.objects.get(slug="first")
    assert (campaign.state, campaign.n_pairs, campaign.created_by.username) == ("open", 4, "grace")
    page = manager_of(campaign).get("/campaigns/first/invitations/").content.decode()
    [address] = set(re.findall(r"http://testserver(/join/[\w-]+)", page))
    annotator = Client()
    assert annotator.get(address).status_code == 200
    annotator.post(address, {"username": "kay", "email": "kay@example.org", "password": PASSWORD})
    member = Membership.objects.select_related("campaign").get(user__username="kay")
    assert annotator.get("/judge/first/").status_code == 200
    Membership.objects.filter(pk=member.pk).update(guideline_read=1)
    member.refresh_from_db()
    assert scheduling.claim_pair(member) is not None
