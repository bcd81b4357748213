"""Creation of a study's folder from its TOML file, for the command and the background worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from analysis.studies.folder import write_study_folder
from analysis.studies.settings import read_settings
from analysis.studies.study import PartLeftOut, Study
from analysis.studies.study_context import StudyContext
from analysis.studies.study_creation import make_study
from assay.cli.base import BadInput


def make_folder(
    study: Study,
    path: str,
    target: Path,
    *,
    scratch: Path,
    inputs: Path | None = None,
    seed: int | None = None,
    replace: bool = False,
    processes: int = 1,
    step: Callable[[str], object] = lambda title: None,
) -> dict[str, Any]:
    """Make the study of the TOML file `path` in the folder `target`. Returns the command's result.

    scratch: an empty folder. inputs: the folder of the TOML file, if it is copied into the study.
    step: called with the title of each part before it is made. Raises FormatError, and BadInput if
    no part can be made.
    """
    settings = read_settings(path, study)
    again = f"assay study {study.name} {'study.toml' if inputs is None else 'inputs/study.toml'}"
    if seed is not None:
        settings.values["seed"] = seed
        again += f" --seed={seed}"
    work = scratch / "work"
    work.mkdir()
    try:
        made = make_study(
            study,
            settings,
            StudyContext(settings, scratch=str(work), processes=processes),
            command=again,
            step=step,
        )
    except PartLeftOut as reason:
        raise BadInput(str(reason)) from None
    return write_study_folder(made, target, inputs=inputs, replace=replace)
