"""Read the group (such as a team or a family of systems) of each run from a file of tags and
groups."""

from __future__ import annotations

from collections.abc import Sequence

from assay.cli.base import BadInput, FileCommand
from assay.formats.leaderboards import read_leaderboard
from assay.number_words import format_count


def read_run_groups(command: FileCommand, path: str, tags: Sequence[str]) -> tuple[str, ...]:
    """Return the group of each run. A run missing from the file forms a group of its own, with a
    warning."""
    group: dict[str, str] = {}
    for row in read_leaderboard(path, columns=("tag", "group"), required=("tag", "group")):
        if group.setdefault(row.tag, row.group) != row.group:
            raise BadInput(
                f"{path}: the run {row.tag} is in two groups, {group[row.tag]} and {row.group}"
            )
    if not set(tags) & set(group):
        raise BadInput(
            f"{path}: contains none of the runs; its tags are {', '.join(list(group)[:5])}{' ...' if len(group) > 5 else ''}"
        )
    if absent := [tag for tag in tags if tag not in group]:
        clash = [tag for tag in absent if tag in group.values()]
        if clash:
            raise BadInput(
                f"{path}: no line for the run {clash[0]}, whose tag is also the name of a group"
            )
        command.warn(f"{path}: no line for {', '.join(absent)}; each counts as its own group")
    if unknown := sorted(set(group) - set(tags)):
        command.warn(
            f"{path}: {format_count(len(unknown), 'run', 'is', 'are')} not among the run "
            f"files: {', '.join(unknown[:5])}{' ...' if len(unknown) > 5 else ''}"
        )
    return tuple(group.get(tag, tag) for tag in tags)
