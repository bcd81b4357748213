"""Inputs that a user adds to a study of stored data: values, files, and selected runs and qrels."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from analysis.studies.settings import check_values, keys_by_name
from analysis.studies.study import Study
from assay.file_paths import make_path
from pooling.platform.jobs import MalformedRequest

GIVEN_FOLDER = "given"
COLLECTION_KEYS = frozenset({"documents", "texts", "order", "runs", "qrels", "clicks"})
"""Keys that a collection supplies."""
CAMPAIGN_KEYS = COLLECTION_KEYS | {
    "judgements",
    "labels",
    "binary_labels",
    "pool",
    "scale",
    "min_relevant",
    "min_seconds",
    "grades",
    "simulated",
}
"""Keys that a campaign supplies."""


@dataclass(frozen=True)
class StudyInputs:
    """Inputs that a user selects or uploads for a study.

    values: for keys that are not files, with the types of TOML. files: content by path in FOLDER.
    uploads: paths of the uploaded files by key (for a key with a single file, the last counts).
    runs: IDs, all of the collection if None. qrels, clicks: references, the default of the source
    if empty.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    uploads: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    runs: Sequence[int] | None = None
    qrels: Sequence[str] = ()
    clicks: Sequence[str] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the inputs as JSON values, without the contents of files."""
        return {
            "values": dict(self.values),
            "uploads": {key: list(paths) for key, paths in self.uploads.items()},
            "runs": None if self.runs is None else list(self.runs),
            "qrels": list(self.qrels),
            "clicks": None if self.clicks is None else list(self.clicks),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any], files: Mapping[str, bytes]) -> StudyInputs:
        return cls(
            kept["values"], kept["uploads"], files, kept["runs"], kept["qrels"], kept["clicks"]
        )


def supplied_keys(study: Study, *, by_campaign: bool) -> frozenset[str]:
    """Return the keys of the study's TOML file that the campaign or collection supplies."""
    if not by_campaign:
        return COLLECTION_KEYS
    if "scale" not in keys_by_name(study):  # the user chooses the minimum relevant grade
        return CAMPAIGN_KEYS - {"min_relevant"}
    return CAMPAIGN_KEYS


def uploaded_keys(study: Study, *, by_campaign: bool) -> dict[str, bool]:
    """Return the keys of files that only the user can supply, each with whether it takes several
    files."""
    return {
        name: key.kind != "file"
        for name, key in keys_by_name(study).items()
        if key.kind in ("file", "files", "named")
        and name not in supplied_keys(study, by_campaign=by_campaign)
    }


def value_keys(study: Study, *, by_campaign: bool) -> list[str]:
    """Return the keys that only the user can supply and that are not files."""
    return [
        name
        for name, key in keys_by_name(study).items()
        if key.kind not in ("file", "files", "named")
        and name not in supplied_keys(study, by_campaign=by_campaign)
    ]


def store_uploads(
    uploads: Mapping[str, Sequence[tuple[str, bytes]]],
) -> tuple[dict[str, list[str]], dict[str, bytes]]:
    """Assign paths to uploaded files. Returns paths by key and content by path. uploads: (file
    name, content) by key."""
    taken: set[str] = set()
    paths: dict[str, list[str]] = {}
    files: dict[str, bytes] = {}
    for key, named in uploads.items():
        for name, content in named:
            bare, suffix = split_suffix(name)
            path = make_path(posixpath.join(GIVEN_FOLDER, key), bare, suffix, taken)
            paths.setdefault(key, []).append(path)
            files[path] = content
    return paths, files


def split_suffix(name: str) -> tuple[str, str]:
    """Split `board.csv.gz` into (`board`, `.csv.gz`), because readers depend on the suffix."""
    last = re.split(r"[/\\]", name)[-1]
    suffix = re.search(r"((\.[A-Za-z]\w{0,7}){1,2})$", last)
    return (last[: suffix.start()], suffix[1]) if suffix and suffix.start() else (last, "")


def check_inputs(study: Study, given: StudyInputs, *, by_campaign: bool) -> None:
    """Raise Refused for keys of a study that it does not have or that the source supplies, and
    FormatError for invalid values."""
    known = set(value_keys(study, by_campaign=by_campaign))
    if unknown := sorted(set(given.values) - known):
        says = _("Unknown option for the study %(study)s: %(names)s. Choose from %(known)s.")
        raise MalformedRequest(
            says
            % {"names": ", ".join(unknown), "study": study.name, "known": ", ".join(sorted(known))}
        )
    files = uploaded_keys(study, by_campaign=by_campaign)
    if unknown := sorted(set(given.uploads) - set(files)):
        says = _("The study %(study)s does not accept the file %(names)s. It accepts %(known)s.")
        raise MalformedRequest(
            says
            % {
                "names": ", ".join(unknown),
                "study": study.name,
                "known": ", ".join(sorted(files)) or _("none"),
            }
        )
    check_values(study, given.values)
