"""Submissions up to a date, with groups replaced by their institutions (Craswell et al. 2021 count
by institution)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.formats.delimited import DelimitedTable, FileProblems
from assay.formats.errors import FormatError
from assay.formats.leaderboards import BoardRow


def select_submissions(
    rows: Sequence[BoardRow], *, institutions: Mapping[str, str], until: str
) -> list[BoardRow]:
    """Return the rows up to this date, with each group replaced by its institution if it has one.
    until: ISO 8601, or with slashes, or empty for all rows."""
    last = until.replace("/", "-")
    named = [row._replace(group=institutions.get(row.group, row.group)) for row in rows]
    return [row for row in named if not last or row.date[:10] <= last]


def read_institutions(path: str) -> dict[str, str]:
    """Read {group: institution} from a file with these two columns and a header. Raises FormatError
    for a group with two institutions."""
    table = DelimitedTable(path)
    mistakes = FileProblems(table.name)
    of_group: dict[str, str] = {}
    for line, cells in table:
        if len(cells) < 2 or not cells[0].strip() or not cells[1].strip():
            mistakes.add(
                line,
                f"{len(cells)} column{'' if len(cells) == 1 else 's'}, or an empty one",
                "a group and its institution",
                "\t".join(cells),
            )
            continue
        group, institution = cells[0].strip(), cells[1].strip()
        if of_group.setdefault(group, institution) != institution:
            mistakes.add(
                line,
                f"{group} belongs to both {of_group[group]} and {institution}",
                "one institution per group",
                "\t".join(cells),
            )
    mistakes.raise_if_any()
    if not of_group:
        raise FormatError.single(
            table.name, None, "no rows below the header", "one group and its institution per row"
        )
    return of_group
