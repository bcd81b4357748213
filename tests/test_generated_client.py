"""The API's document is true enough for a program to be made of it: docs/how-to/campaign_by_client.py uses
nothing but a generated client."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.installation import Installation

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "docs" / "how-to" / "campaign_by_client.py"
PEOPLE = """
from django.test import Client
from annotation.services.people import tokens
for name in ("boss", "ada", "bob"):
    print(tokens.create_api_token(user=make_user(name, may_create=name == "boss"), name="script"))
client = Client()
client.force_login(User.objects.get(username="boss"))
print(client.cookies["sessionid"].value)
"""
QRELS = "q1 0 d1 3\nq1 0 d2 1\nq2 0 d3 0\nq2 0 d4 2\n"
"""Both annotators give each pair the grade that the script has for it."""


@pytest.mark.long
@pytest.mark.timeout(900)  # it starts an installation, a generator and two scripts
def test_a_script_with_a_generated_client_makes_judges_and_exports_a_campaign_whose_qrels_are_those_of_the_page(
    tmp_path,
):
    schema = tmp_path / "schema.yml"
    with Installation(tmp_path / "data", prepared=True) as assay:
        manager, ada, bob, session = assay.run(PEOPLE).split()
        asking = urllib.request.Request(
            assay.url + "/api/schema", headers={"Authorization": f"Token {manager}"}
        )
        schema.write_bytes(urllib.request.urlopen(asking, timeout=120).read())
        program = [sys.executable, "-c", "from openapi_python_client.cli import app; app()"]
        made = subprocess.run(
            [
                *program,
                "generate",
                "--path",
                str(schema),
                "--meta",
                "none",
                "--output-path",
                tmp_path / "assay_client",
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        shutil.copy(SCRIPT, tmp_path)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASSAY_", "DJANGO_", "PYTHON"))
        }
        asked = subprocess.run(
            [sys.executable, SCRIPT.name, assay.url, manager, f"ada={ada}", f"bob={bob}"],
            cwd=tmp_path,
            env=kept,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert asked.returncode == 0, asked.stderr
        assert asked.stderr.splitlines()[-3:] == [
            "ada judged 4 pairs",
            "bob judged 4 pairs",
            "8 of 8 judgements",
        ]
        assert asked.stdout == QRELS
        page = urllib.request.Request(
            assay.url + "/campaigns/by-client/export/files/qrels",
            headers={"Cookie": f"sessionid={session}"},
        )
        assert urllib.request.urlopen(page, timeout=120).read().decode() == QRELS


@pytest.mark.parametrize("word", ["requests", "urllib", "django", "annotation", "pooling"])
def test_the_script_imports_nothing_but_the_client_and_the_standard_library(word):
    imports = [
        line
        for line in SCRIPT.read_text(encoding="utf-8").splitlines()
        if line.startswith(("import ", "from "))
    ]
    assert imports
    assert not [line for line in imports if line.split()[1].startswith(word)]
