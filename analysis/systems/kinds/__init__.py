"""Kinds of reports, one a file: its fields, arguments, tables, pictures and figures for print.

A new kind is one file here, called as its command, with a `KIND`: forms, pages, API and workers
find it by itself. docs/reference/reports.md has a line for each kind."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

from analysis.systems.kind import ReportKind


def load_kinds(folders: Iterable[str]) -> dict[str, ReportKind]:
    """By name, in the order of the pages."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(folders)
    )
    return {
        kind.name: kind
        for kind in sorted((module.KIND for module in modules), key=lambda kind: kind.place)
    }


KINDS = load_kinds(__path__)
