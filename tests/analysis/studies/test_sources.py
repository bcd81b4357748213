"""A campaign and a release as the files of a study: the same numbers as the campaign's own
commands."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from analysis.publishing.release.parts import ReleasePlan
from analysis.publishing.release.writing import write_release
from analysis.studies.papers import get_study
from analysis.studies.settings import keys_by_name, read_settings
from analysis.studies.sources import write_campaign_inputs, write_release_inputs
from analysis.studies.study import Study, setting
from annotation.services.people import participation
from assay.formats.errors import FormatError
from tests.analysis.commands.judged_file import run
from tests.analysis.publishing.exported import BINARY, GRADED, examples_campaign, with_everything
from tests.analysis.studies.made import table

pytestmark = pytest.mark.django_db
EVERYTHING = Study(
    "everything",
    "Everything",
    "nobody",
    "All inputs.",
    tuple(
        setting(name, kind, "")
        for name, kind in {
            "judgements": "file",
            "scale": "whole",
            "min_relevant": "whole",
            "min_seconds": "number",
            "grades": "names",
            "labels": "file",
            "binary_labels": "file",
            "documents": "whole",
            "pool": "file",
            "texts": "file",
            "runs": "files",
            "qrels": "file",
            "clicks": "named",
        }.items()
    ),
    (),
)


def test_the_judgements_of_a_campaign_give_its_labels(tmp_path: Path) -> None:
    campaign = with_everything(examples_campaign(min_active_seconds=1))
    path = write_campaign_inputs(EVERYTHING, campaign.slug, tmp_path / "inputs")
    settings = read_settings(path, EVERYTHING)
    assert (settings.values["scale"], settings.values["min_relevant"]) == (4, 2)
    assert (tmp_path / "inputs" / settings.values["labels"]).read_text(encoding="utf-8") == GRADED
    assert (tmp_path / "inputs" / settings.values["binary_labels"]).read_text(
        encoding="utf-8"
    ) == BINARY
    there = run("aggregate", "--campaign", campaign.slug)
    here = run(
        "aggregate",
        settings.path("judgements.tsv"),
        f"--min-seconds={settings.values['min_seconds']:g}",
    )
    for key in ("pairs", "graded", "binary", "judgements"):
        assert here[key] == there[key]


@pytest.mark.long
def test_what_annotators_said_is_the_survey_of_a_study_of_the_campaign_and_of_its_release(
    tmp_path: Path,
) -> None:
    campaign = examples_campaign()
    for number, score in enumerate(("GOOD", "VERY_GOOD", "GOOD"), 1):
        participation.save_feedback(
            campaign.memberships.get(pseudonym=f"A00{number}"), score=score, text="Words"
        )
    with (tmp_path / "release.zip").open("wb") as out:
        write_release(campaign, ReleasePlan(), out)
    for name, source in (
        ("of-campaign", ("--campaign", campaign.slug)),
        ("of-release", (str(tmp_path / "release.zip"),)),
    ):
        run("study", "tripjudge", *source, "--output", str(tmp_path / name))
        rows = [(row["answer"], row["n"]) for row in table(tmp_path / name, "survey")]
        assert rows == [
            ("Good", "2"),
            ("Very good", "1"),
        ]  # what somebody wrote is no count


def test_a_release_is_read_as_a_file_and_as_a_folder(tmp_path: Path) -> None:
    campaign = with_everything(examples_campaign())
    with (tmp_path / "release.zip").open("wb") as out:
        write_release(campaign, ReleasePlan(), out)
    with zipfile.ZipFile(tmp_path / "release.zip") as release:
        release.extractall(tmp_path / "unpacked")
    texts = []
    for number, source in enumerate(("release.zip", "unpacked")):
        folder = tmp_path / f"inputs-{number}" / "inputs"
        folder.parent.mkdir()
        settings = read_settings(
            write_release_inputs(EVERYTHING, str(tmp_path / source), folder), EVERYTHING
        )
        texts.append({name: settings.values[name] for name in keys_by_name(EVERYTHING)})
        assert (folder / "qrels.txt").read_text(encoding="utf-8") == GRADED
    assert texts[0] == texts[1]
    names = ("Not relevant", "Related", "Partly answers", "Fully answers")
    assert texts[0]["grades"] == {str(grade): name for grade, name in enumerate(names)}
    (tmp_path / "unpacked" / "judgements.tsv").write_text("changed", encoding="utf-8")
    with pytest.raises(FormatError, match="the checksum differs"):
        write_release_inputs(
            EVERYTHING, str(tmp_path / "unpacked"), tmp_path / "inputs-0" / "again"
        )


def test_a_study_of_a_campaign_without_runs_says_so(tmp_path: Path) -> None:
    from tests.analysis.commands.judged_file import refused

    campaign = examples_campaign()
    status, _, err = refused(
        "study", "comparison", "--campaign", campaign.slug, "--output", str(tmp_path / "out")
    )
    assert status == 2
    assert "needs `runs`" in err
    assert not (tmp_path / "out").exists()
    assert get_study("comparison").name == "comparison"
