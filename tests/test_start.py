"""What a web process imports before it answers, and what it must not import while somebody
judges."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation

HEAVY = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "celery",
    "kombu",
    "matplotlib",
    "sklearn",
    "pandas",
)
IMPORTED = f"import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"


@pytest.mark.parametrize("program", ["import config.wsgi", "import django; django.setup()"])
def test_neither_the_web_process_nor_a_command_imports_what_only_figures_and_workers_need(
    program: str, tmp_path: Path
) -> None:
    start = "import os; os.environ.update(DJANGO_SETTINGS_MODULE='config.settings')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{start}; {program}; {IMPORTED}"],
        cwd=ROOT,
        env={"ASSAY_DATA_DIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


JUDGED = """
import sys, uuid, config.wsgi
from django.test import Client
from tests.builders import make_annotator, make_campaign
from annotation.models import Judgement
campaign = make_campaign()
client = Client(SERVER_NAME="127.0.0.1")
client.force_login(make_annotator(campaign).user)
ask = lambda path, **body: client.post(f"/api/v1/judging/{campaign.slug}/{path}", body, content_type="application/json")
before = set(sys.modules)
assert client.get(f"/judge/{campaign.slug}/").status_code == 200
assert client.get(f"/api/v1/judging/{campaign.slug}/setup").status_code == 200
lease = ask("leases", want=1, held=[]).json()["pairs"][0]["lease"]
judged = ask("judgements", key=str(uuid.uuid4()), lease=lease, grade=1, want=1, held=[], cannot_reason="", note="", spans=[], active_ms=4000,
             idle_ms=0, hidden_ms=0, wall_ms=4500, guideline_version=1, device="keyboard")
assert (judged.status_code, Judgement.objects.count()) == (200, 1), judged.content
own = ("pooling", "annotation", "analysis", "config", "scipy", "celery", "kombu", "numpy")
print("late:", sorted(name for name in set(sys.modules) - before if name.split(".")[0] in own and "templatetags" not in name))
"""


@pytest.mark.slow  # an installation of its own: here all modules are imported already
def test_the_first_judgement_imports_no_module_of_ours_or_of_the_numerics(tmp_path: Path) -> None:
    assay = Installation(tmp_path, prepared=True)
    done = assay.run(JUDGED)
    assert "late: []" in done, done
