"""Paths of files that are named after runs, qrels and uploads."""

from __future__ import annotations

import re


def make_path(folder: str, name: str, suffix: str, used_paths: set[str]) -> str:
    """Make a unique path without spaces, commas and equal signs, which the command's arguments
    cannot contain."""
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "unnamed"
    path, number = f"{folder}/{plain}{suffix}", 1
    while path.lower() in used_paths:
        number += 1
        path = f"{folder}/{plain}-{number}{suffix}"
    used_paths.add(path.lower())
    return path
