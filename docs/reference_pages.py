"""Sphinx directives for reference pages that are generated from the code.

`command NAME` lists the arguments of a command from its parser, `campaign-keys TABLE` the keys of a
table of campaign files, `settings SECTION` the environment variables of `config.setting_list`,
`api-operations` the operations of the OpenAPI document. Docstrings are plain text: the hook for autodoc escapes what reStructuredText
would read as markup."""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LEFT_OUT = {
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback"),
    *("no_color", "force_color", "skip_checks"),
}
"""Options that every command of Django has."""


def set_up_django() -> None:
    import django

    django.setup()


def command_parser(name: str) -> argparse.ArgumentParser:
    from assay.cli.command_list import load_command

    return load_command(name).create_parser("assay", name)


def listed_actions(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
    """The parser's actions and those of its subcommands, each with the subcommand's name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from ((name, one) for _, one in listed_actions(inner))
        elif action.dest not in LEFT_OUT and action.help != argparse.SUPPRESS:
            yield "", action


def invocation(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """The argument as it is typed, such as `--depth K`."""
    formatter = parser._get_formatter()
    if not action.option_strings:
        return formatter._metavar_formatter(action, action.dest)(1)[0]
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    value = formatter._format_args(action, formatter._get_default_metavar_for_optional(action))
    return f"{', '.join(action.option_strings)} {value}"


class Command(SphinxDirective):
    """The arguments of a command, from its parser."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        parser = command_parser(self.arguments[0])
        formatter = parser._get_formatter()
        items = nodes.definition_list(classes=["assay-options"])
        for subcommand, action in listed_actions(parser):
            typed = f"{subcommand} {invocation(parser, action)}".strip()
            text = formatter._expand_help(action) if action.help else ""
            items += nodes.definition_list_item(
                "",
                nodes.term("", "", nodes.literal(text=typed)),
                nodes.definition("", nodes.paragraph(text=text)),
            )
        return [items] if items.children else []


def table(header: list[str], rows: list[list[nodes.Node]]) -> nodes.table:
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _ in header]
    head = nodes.row("", *[nodes.entry("", nodes.paragraph(text=text)) for text in header])
    group += nodes.thead("", head)
    group += nodes.tbody("", *[nodes.row("", *[nodes.entry("", c) for c in row]) for row in rows])
    return nodes.table("", group)


KINDS = {
    "whole": "whole number",
    "texts": "list of texts",
    "files": "list of files",
    "rows": "list of rows",
    "numbers": "list of numbers",
    "moment": "date and time",
    "day": "date",
    "flag": "true or false",
}
"""Kind of a key of campaign files -> its name on the page."""


def kind_in_words(key: Any) -> str:
    """Kind, choices and bounds of a key of a campaign file."""
    bounds = [f"from {key.least:,.10g}"] if key.least else []
    bounds += [f"to {key.most:,.10g}"] if key.most is not None and key.most < 2**31 - 1 else []
    return " ".join(
        [" or ".join(key.choices) if key.choices else KINDS.get(key.kind, key.kind), *bounds]
    )


def keys_table(keys: Iterable[Any]) -> nodes.table:
    return table(
        ["Key", "Kind", "Meaning"],
        [
            [
                nodes.paragraph("", "", nodes.literal(text=key.name)),
                nodes.paragraph(text=kind_in_words(key)),
                nodes.paragraph(text=key.help.replace("`", "")),
            ]
            for key in keys
        ],
    )


class CampaignKeys(SphinxDirective):
    """The keys of a table of campaign files, and those of its rows."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from annotation.core.campaign_file import TABLE_KEYS

        name = self.arguments[0]
        found: list[nodes.Node] = [keys_table(TABLE_KEYS[name])]
        for key in TABLE_KEYS[name]:
            if key.row:
                heading = nodes.literal(text=f"{name}.{key.name}")
                found.append(
                    nodes.paragraph(
                        "",
                        "Keys of the table " if key.kind == "table" else "Keys of a row of ",
                        heading,
                        nodes.Text(":"),
                    )
                )
                found.append(keys_table(key.row))
            for inner in (inner for inner in key.row if inner.row):
                heading = nodes.literal(text=f"{name}.{key.name}.{inner.name}")
                found.append(nodes.paragraph("", "Keys of a row of ", heading, nodes.Text(":")))
                found.append(keys_table(inner.row))
        return found


def operations() -> dict[str, list[tuple[str, str, str]]]:
    """tag -> method, path and summary of its operations."""
    from drf_spectacular.generators import SchemaGenerator

    found = defaultdict(list)
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    for path, item in document["paths"].items():
        for method, one in item.items():
            text = one.get("summary") or one.get("description", "")
            found[one["tags"][0]].append((method.upper(), path, text.strip().split("\n\n")[0]))
    return dict(sorted(found.items()))


class Settings(SphinxDirective):
    """The table of one section of the settings, from their list."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        from config.setting_list import SECTIONS

        rows = [
            f"| `ASSAY_{one.name}` | {one.shown_default or default} | {one.help} |"
            for one in SECTIONS[self.arguments[0]]
            for default in [f"`{one.default}`" if one.default else "none"]
        ]
        header = ["| Variable | Default | Meaning |", "|---|---|---|"]
        return self.parse_text_to_nodes("\n".join([*header, *rows]))


class ApiOperations(SphinxDirective):
    """One section with a table for each tag of the OpenAPI document."""

    def run(self) -> list[nodes.Node]:
        sections = []
        for tag, rows in operations().items():
            name = nodes.make_id(f"operations-{tag}")
            section = nodes.section("", nodes.title(text=tag), ids=[name], names=[name])
            section += table(
                ["Operation", "Purpose"],
                [
                    [
                        nodes.paragraph("", "", nodes.literal(text=f"{method} {path}")),
                        nodes.paragraph(text=text),
                    ]
                    for method, path, text in rows
                ],
            )
            sections.append(section)
        return sections


def escape_docstring(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Make a plain docstring safe as reStructuredText; `code` stays code."""
    parts = re.split(r"`([^`]+)`", "\n".join(lines))
    for i, part in enumerate(parts):
        parts[i] = f"``{part}``" if i % 2 else re.sub(r"([\\*|_])", r"\\\1", part)
    lines[:] = "".join(parts).replace("``\\_", "`` \\_").split("\n")


def setup(app: Sphinx) -> dict[str, bool]:
    set_up_django()
    app.add_directive("command", Command)
    app.add_directive("campaign-keys", CampaignKeys)
    app.add_directive("settings", Settings)
    app.add_directive("api-operations", ApiOperations)
    app.connect("autodoc-process-docstring", escape_docstring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
