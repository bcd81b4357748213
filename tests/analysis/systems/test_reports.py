"""A stored report is what the command says on the exported files."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from analysis.models import Report
from analysis.systems import reports
from analysis.systems.files_zip import stream_archive
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from pooling.models import Collection
from tests.analysis.systems.builders import by_command, small_campaign, small_collection, work_off

pytestmark = pytest.mark.django_db

CAMPAIGN = "campaign:graded:majority"
ASKED: list[tuple[str, int, list[str], dict[str, Any]]] = [
    (
        "evaluate",
        5,
        ["judged, old", CAMPAIGN],
        {"measures": "AP nDCG@5 Judged@5", "per_topic": True},
    ),
    (
        "compare_rankings",
        5,
        [CAMPAIGN, "judged, old", "clicks A"],
        {"measures": "AP RR@10", "bootstrap": 40},
    ),
    (
        "label_overlap",
        0,
        ["campaign:binary:majority", "clicks A", "clicks B"],
        {"top": 3, "min_relevant": 1},
    ),
    ("compare_runs", 2, ["judged, old"], {"cutoff": 10, "min_relevant": 2, "alpha": 0.1}),
    (
        "compare_systems",
        4,
        ["judged, old"],
        {"measures": "AP RR", "correction": "max", "permutations": 300, "alpha": 0.1},
    ),
    (
        "compare_systems",
        3,
        [CAMPAIGN],
        {"measures": "AP", "against": "sys.1", "correction": "holm"},
    ),
    ("plan_study", 5, ["judged, old"], {"measures": "AP", "width": 0.1, "power": 0.9}),
    (
        "plan_study",
        4,
        [CAMPAIGN],
        {"measures": "AP nDCG@5", "judgements": True, "label_trials": 6, "min_relevant": 2},
    ),
    (
        "leaderboard",
        5,
        ["judged, old"],
        {"min_relevant": 2, "highlight": "bert", "correction": "holm"},
    ),
    ("bootstrap", 4, ["judged, old"], {"measures": "AP RR@10", "trials": 300}),
    ("bootstrap", 4, ["judged, old", "clicks A"], {"measures": "AP", "trials": 130}),
    (
        "bootstrap",
        4,
        [CAMPAIGN],
        {"measures": "AP", "trials": 130, "judgements": True, "label_trials": 6},
    ),
    ("split_half", 5, ["judged, old"], {"measures": "AP", "splits": 12}),
    ("submissions", 5, ["judged, old", "clicks A"], {"measure": "AP", "limit": 1}),
    (
        "stability",
        5,
        ["judged, old"],
        {"element": "assessments", "overlaps": "20:100:40", "pairs": 4, "measures": "AP nDCG"},
    ),
    ("stability", 4, [CAMPAIGN], {"element": "topics", "pairs": 3, "measures": "AP"}),
    ("reusability", 5, ["judged, old"], {"depth": 3, "by_group": True, "measures": "AP"}),
    ("unjudged", 5, ["judged, old"], {"unpooled_run": "sys.3", "against": "sys.1", "judge": 5}),
]


def make_world() -> Campaign:
    return small_campaign(small_collection())


@pytest.fixture
def campaign(world: Campaign) -> Campaign:
    return world


def ask(
    kind: str,
    n_runs: int,
    qrels: list[str],
    options: dict[str, Any],
    campaign: Campaign,
    *,
    seed: int = 7,
) -> Report:
    collection: Collection = campaign.collection
    ids = {row.name: f"imported:{row.pk}" for row in collection.qrels.all()}
    return reports.request_report(
        KINDS[kind],
        collection=collection,
        campaign=campaign,
        parameters={
            "runs": list(collection.runs.values_list("pk", flat=True)[:n_runs]),
            "qrels": [ids.get(q, q) for q in qrels],
            "options": options,
        },
        seed=seed,
        user=campaign.collection.managers.get(),
    )


def done(report: Report) -> Report:
    assert report.job is not None
    job = work_off(report.job)
    assert job.state == "done", job.message
    report.refresh_from_db()
    return report


def unpacked(report: Report, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(b"".join(stream_archive(report)))) as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.parametrize(
    ("kind", "n_runs", "qrels", "options"),
    ASKED,
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_the_stored_result_is_the_commands_answer_on_the_exported_files(
    campaign, tmp_path, kind, n_runs, qrels, options
) -> None:
    report = done(ask(kind, n_runs, qrels, options, campaign))
    folder = unpacked(report, tmp_path / "exported")
    assert by_command(report.command, folder) == report.result
    assert report.result
    assert report.chunks.count() == 0
    assert len(report.input_digest) == 64
    assert report.code_version


def test_every_kind_is_held_to_its_command() -> None:
    assert {kind for kind, *_ in ASKED} == set(KINDS) - {
        "compare_llm_judges"
    }  # asks for a sampled pool: test_llm_kind.py
