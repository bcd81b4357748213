"""Which system is better? Page, API, report, study, command and library give one answer in the same
words."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

import assay
from analysis.judgements.live import get_snapshot
from analysis.models import Report
from analysis.systems import answers, reports
from analysis.systems.kinds import KINDS
from annotation.models import Campaign
from assay.measures.measures import parse_measure
from tests.analysis.commands.judged_file import run
from tests.analysis.commands.ranked_files import printed
from tests.analysis.systems.builders import run_texts, small_campaign, small_collection, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(settings, tmp_path: Path) -> Campaign:
    settings.MEDIA_ROOT = tmp_path / "media"
    campaign = small_campaign(small_collection())
    campaign.judgements_per_pair = 1  # one judgement makes a label everywhere
    campaign.save()
    return campaign


def report_words(campaign: Campaign, measure: str) -> str:
    runs = list(campaign.collection.runs.order_by("tag").values_list("pk", flat=True))
    options = {"measures": measure, "min_relevant": campaign.min_relevant}
    parameters = {"runs": runs, "qrels": ["campaign:graded:majority"], "options": options}
    user = campaign.created_by
    row = reports.request_report(
        KINDS["compare_systems"],
        collection=campaign.collection,
        campaign=campaign,
        parameters=parameters,
        seed=0,
        user=user,
    )
    assert work_off(row.job).state == "done"
    result = Report.objects.get(pk=row.pk).result
    [table] = [table for table in KINDS["compare_systems"].tables(result) if table.key == "scores"]
    assert table.note.startswith(result[measure]["verdict"])
    return result[measure]["verdict"]


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_the_same_question_has_the_same_answer_word_for_word(
    campaign, client, tmp_path, measure
) -> None:
    live = get_snapshot(campaign, fresh=0.0)
    _, job = answers.get_newest_answer(campaign, live, parse_measure(measure))
    assert work_off(job).state == "done"
    client.force_login(campaign.created_by)
    page = html.unescape(
        client.get(
            reverse("campaign-systems", args=[campaign.slug]) + f"?measure={measure}"
        ).content.decode()
    )
    api = APIClient()
    api.force_authenticate(campaign.created_by)
    said = {
        "API": api.get(f"/api/v1/campaigns/{campaign.slug}/systems?measure={measure}").json()[
            "answer"
        ]["words"]
    }
    level = f"--min-relevant={campaign.min_relevant}"
    said["command"] = run(
        "compare_systems", "--campaign", campaign.slug, "--measures", measure, level
    )[measure]["verdict"]
    text, _ = printed("compare_systems", "--campaign", campaign.slug, "--measures", measure, level)
    said["command, printed"] = text.partition("\n")[0]
    qrels = tmp_path / "qrels.txt"
    run("export_qrels", "--campaign", campaign.slug, "--output", str(qrels))
    paths = []
    for tag, content in run_texts().items():
        (tmp_path / tag).write_text(content)
        paths.append(str(tmp_path / tag))
    said["library"] = assay.compare(str(qrels), paths, measure, min_relevant=campaign.min_relevant)[
        measure
    ]["verdict"]
    said["report"] = report_words(campaign, measure)
    settings = {
        "qrels": str(qrels),
        "runs": paths,
        "measures": measure,
        "min_relevant": campaign.min_relevant,
    }
    (tmp_path / "study.toml").write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    )
    run("study", "comparison", str(tmp_path / "study.toml"), "--output", str(tmp_path / "study"))
    study = json.loads((tmp_path / "study" / "study.json").read_text(encoding="utf-8"))
    said["study"] = study["parts"]["scores"]["values"][measure]["verdict"]
    said["study, report.md"] = next(
        line
        for line in (tmp_path / "study" / "report.md").read_text(encoding="utf-8").splitlines()
        if " leads by " in line
    )
    assert "After Holm correction" in said["API"]
    assert said["API"] in page
    assert said == dict.fromkeys(said, said["API"])
