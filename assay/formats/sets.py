"""Recognise sets of files by name (a BEIR folder or FiRA's files), and read FiRA's campaign
settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from assay.formats.archives import safe_name
from assay.formats.delimited import DelimitedTable, FileProblems, normalise_names
from assay.formats.streams import Source

PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
BEIR, FIRA = "BEIR folder", "FiRA set"
FILE_ROLES = {
    "corpus.jsonl": (BEIR, "documents"),
    "queries.jsonl": (BEIR, "topics"),
    "documents.tsv": (FIRA, "documents"),
    "queries.tsv": (FIRA, "topics"),
    "judgement-pairs.tsv": (FIRA, "pairs"),
    "config.tsv": (FIRA, "settings"),
}
REQUIRED_FILES = {
    BEIR: {"documents": "corpus.jsonl", "topics": "queries.jsonl"},
    FIRA: {"topics": "queries.tsv", "pairs": "judgement-pairs.tsv"},
}


class SetRole(NamedTuple):
    """The role of a file in a set of files, such as a BEIR folder.

    role: topics, documents, qrels, pairs or settings. name: the name shown in messages.
    """

    form: str
    role: str
    name: str


def find_role(path: str) -> SetRole | None:
    """Return the role of a file by the last parts of its path, such as `corpus.jsonl` and
    `qrels/test.tsv`, or None. Compressed files are recognised under the same names."""
    name = safe_name(path)
    bare = name.lower()
    for suffix in PACKED_SUFFIXES:
        bare = bare.removesuffix(suffix)
    if bare in FILE_ROLES:
        return SetRole(*FILE_ROLES[bare], name)
    folder = PurePosixPath(path.replace("\\", "/")).parent.name.lower()
    if folder == "qrels" and bare.endswith(".tsv") and not bare.startswith("."):
        return SetRole(BEIR, "qrels", f"qrels/{name}")
    return None


def missing_files(form: str, roles: Collection[str]) -> list[str]:
    """Return the required files that a set of this form lacks."""
    return [name for role, name in REQUIRED_FILES[form].items() if role not in roles]


FIRA_SETTINGS = {
    "annotation_target_per_user": "target_per_annotator",
    "annotation_target_per_judgement_pair": "judgements_per_pair",
    "judgement_mode": "spans",
    "rotate_document_text": "rotate_text",
}
FIRA_MODES = {"PLAIN_RELEVANCE_SCORING": "off", "SCORING_AND_SELECT_SPANS": "required"}


def read_fira_config(
    path: Source, *, name: str | None = None, max_bytes: int | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Read FiRA's config.tsv, one header and one row, as campaign settings.

    Returns (settings, columns without a counterpart). Raises FormatError for other than one row, a
    wrong number of columns, a number below 1, another mode, or a flag other than true and false.
    """
    table = DelimitedTable(path, name=name, delimiter="\t", quoting=False, max_bytes=max_bytes)
    mistakes = FileProblems(table.name)
    names = normalise_names(table.first.cells)
    rows = list(table)
    if len(rows) != 1:
        mistakes.add(table.first.line, f"{len(rows)} rows below the header", "one row of settings")
    elif len(rows[0].cells) != len(names):
        mistakes.add(
            rows[0].line,
            f"{len(rows[0].cells)} columns",
            f"{len(names)} columns as in the header",
            "\t".join(rows[0].cells),
        )
    elif not set(names) & set(FIRA_SETTINGS):
        mistakes.add(
            table.first.line,
            "no known settings",
            ", ".join(FIRA_SETTINGS),
            "\t".join(table.first.cells),
        )
    mistakes.raise_if_any()
    line, cells = rows[0]
    given = {key: cell.strip() for key, cell in zip(names, cells, strict=True) if cell.strip()}
    settings: dict[str, Any] = {}
    for key in [key for key in FIRA_SETTINGS if key in given]:
        value, expected = _parse_setting(key, given[key])
        if value is None:
            mistakes.add(line, f"{key} {given[key]!r}", expected, "\t".join(cells))
        settings[FIRA_SETTINGS[key]] = value
    mistakes.raise_if_any()
    return settings, [key for key in given if key not in FIRA_SETTINGS]


def _parse_setting(key: str, text: str) -> tuple[Any, str]:
    """Return (value or None, what was expected)."""
    if key == "judgement_mode":
        return FIRA_MODES.get(text.upper()), " or ".join(FIRA_MODES)
    if key == "rotate_document_text":
        return {"true": True, "false": False}.get(text.lower()), "true or false"
    most = 50 if key == "annotation_target_per_judgement_pair" else 1_000_000
    whole = int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0
    return (whole if 1 <= whole <= most else None), f"a whole number from 1 to {most:,}"


def format_settings(settings: Mapping[str, Any]) -> str:
    """Format the settings for display in a fixed order: `target per annotator 30, judgements per
    pair 10, ...`."""
    order = [*FIRA_SETTINGS.values()]
    shown = {True: "on", False: "off"}
    # databases do not preserve the order of keys
    named = sorted(settings, key=lambda key: order.index(key) if key in order else len(order))
    return ", ".join(
        f"{key.replace('_', ' ')} {shown[settings[key]] if isinstance(settings[key], bool) else settings[key]}"
        for key in named
    )
