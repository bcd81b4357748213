"""Rendering of a study's report, as a self-contained HTML page and as Markdown with separate
figures."""

from __future__ import annotations

import re
from html import escape
from itertools import count

from analysis.studies.study import MAX_SHOWN, Figure
from analysis.studies.study_creation import MadePart, MadeStudy
from assay.charts.print_files import EmptyFigure, figure_parts, render_css
from assay.markdown import escape_line
from assay.number_words import format_count, format_minus
from assay.tabular import Table

STYLE_SHEET = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #182130; background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #dce1e8; padding-bottom: .2rem; }
.scroll, .picture { overflow-x: auto; } .picture > svg { max-width: 100%; height: auto; font: 12px sans-serif; }
.picture { container-type: inline-size; } .picture > svg.narrow { display: none; }
@container (max-width: 30rem) { .picture > svg:has(+ .narrow) { display: none; } .picture > svg.narrow { display: block; width: 100%; max-width: 24rem; } }
table { border-collapse: collapse; font-size: .875rem; margin: .5rem 0; border-block: 2px solid #182130; }
figcaption, .cap { font-weight: 600; margin: 1.2rem 0 .2rem; } .cap span { font-weight: 400; color: #465166; }
th, td { padding: .2rem .5rem; text-align: left; vertical-align: top; }
thead tr:last-child th { border-bottom: 1px solid #182130; }
th.head { text-align: center; border-bottom: 1px solid #818c9f; }
td.number, th.number { text-align: right; white-space: nowrap;
font-variant-numeric: tabular-nums; } td.words { min-width: 20rem; }
tr.ruled td, tr.ruled th { border-top: 1px solid #818c9f; } tbody th { font-weight: 400; }
figure { margin: 1.5rem 0; } .legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .875rem; }
.legend li { min-width: 0; overflow-wrap: anywhere; }
.legend svg { width: 16px; height: 16px; vertical-align: -3px; } details { font-size: .875rem; } code, pre { font-size: .85rem; overflow-wrap: anywhere; }
pre { background: #f3f5f8; padding: .6rem; overflow-x: auto; } .out { background: #fdf3e3; padding: .5rem .8rem; border-left: 4px solid #c05400; }
.visually-hidden { position: absolute; clip-path: inset(50%); height: 1px; width: 1px; overflow: hidden; }
.files { color: #465166; font-size: .8rem; } @media print { details { display: none; } figure, table { break-inside: avoid; } }
"""
SIMULATED_NOTE = "Some of the data are simulated. The numbers show that the computation works, not how people judge."


MAX_WORDS = 40
"""Number of characters from which a cell is treated as a sentence. It keeps its width in a table
that is wider than the page."""
MAX_ROWS = 60
"""Maximum number of table rows shown. Longer tables are collapsed in HTML and truncated in
Markdown, and those with more than MAX_SHOWN rows are only in files."""


def render_html(study: MadeStudy) -> str:
    body = [
        f"<h1>{escape(study.title)}</h1>",
        _paragraph_html(f"{study.study.sentence} Based on {study.study.source}."),
    ]
    body += (
        [f'<p class="out"><strong>{SIMULATED_NOTE}</strong></p>']
        if study.settings.values["simulated"]
        else []
    )
    body += [_left_out_html(study)] if study.left_out else []
    body.append(_contents_html(study))
    for one in study.parts:
        body.append(f'<section id="{escape(one.part.name)}"><h2>{escape(one.part.title)}</h2>')
        body += [_paragraph_html(words) for words in one.section.words]
        body += [_table_html(table) for table in one.section.tables]
        body += [_figure_html(figure) for figure in one.section.figures]
        body += [f'<p class="files">data: {_render_data(one)}</p>'] if one.section.files else []
        body += (
            [
                f"<details><summary>Made by</summary><pre>{escape(chr(10).join(one.commands))}</pre></details>"
            ]
            if one.commands
            else []
        )
        body.append("</section>")
    body.append(
        f'<section id="{ABOUT_ID}"><h2>How this was made</h2>' + _about_html(study) + "</section>"
    )
    head = (
        f'<meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(study.title)}</title>'
    )
    page = (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE_SHEET}{render_css()}</style></head>\n<body><main>\n'
        + "\n".join(body)
    )
    return renumber_ids(page) + "\n</main></body></html>\n"


ABOUT_ID = "about-this-report"


def _contents_html(study: MadeStudy) -> str:
    """Render the table of contents: links to the parts, with the tables and figures of each."""
    items = []
    for one in study.parts:
        tables = [(f"t-{table.key}", table.title) for table in one.section.tables]
        figures = [(f"f-{figure.key}", figure.caption) for figure in one.section.figures]
        inside = "".join(
            f'<li><a href="#{escape(key)}">{escape(title)}</a></li>'
            for key, title in [*tables, *figures]
        )
        counts = f"{format_count(len(tables), 'table')}, {format_count(len(figures), 'figure')}"
        more = f"<details><summary>{counts}</summary><ul>{inside}</ul></details>" if inside else ""
        title = f'<a href="#{escape(one.part.name)}">{escape(one.part.title)}</a>'
        items.append(f"<li>{title}{more}</li>")
    items.append(f'<li><a href="#{ABOUT_ID}">How this was made</a></li>')
    return f'<nav aria-labelledby="contents"><h2 id="contents">Contents</h2><ul>{"".join(items)}</ul></nav>'


def _render_data(one: MadePart) -> str:
    return ", ".join(
        f'<a href="data/{escape(name)}">{escape(name)}</a>' for name in one.section.files
    )


def renumber_ids(page: str) -> str:
    """Number the element IDs of charts from 1 in each report, because the process numbers them
    across reports."""
    numbers = count(1)
    names: dict[str, str] = {}

    def new(match: re.Match[str]) -> str:
        if match[0] not in names:
            names[match[0]] = f"p{next(numbers)}"
        return names[match[0]]

    return re.sub(r'(?<=")p\d+(?=t[" ])|(?<=[" ])p\d+(?=d")', new, page)


def _paragraph_html(text: str) -> str:
    return f"<p>{_inline_html(text)}</p>"


def _inline_html(text: str) -> str:
    """Convert a text to inline HTML. Words in backquotes are keys and commands."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def _left_out_html(study: MadeStudy) -> str:
    items = "".join(
        f"<li>{escape(title)}: {_inline_html(reason)}</li>"
        for title, reason in study.left_out.values()
    )
    return f'<div class="out"><strong>Left out</strong><ul>{items}</ul></div>'


def _table_html(table: Table) -> str:
    numeric = table.numeric
    heads = ""
    if table.heads:
        groups = (
            f'<th colspan="{n}"{" class=head" if words else ""} scope="colgroup">{escape(words)}</th>'
            for words, n in table.heads
        )
        heads = f"<tr>{''.join(groups)}</tr>"
    names = "".join(
        f'<th scope="col"{_number_class(numeric[i])}>{escape(name)}</th>'
        for i, name in enumerate(table.header)
    )
    rows = []
    for r, row in enumerate(table.rows):
        cells = []
        for c in range(len(row)):
            text = escape(format_minus(table.shown(r, c)) if numeric[c] else table.shown(r, c))
            text = f"<strong>{text}</strong>" if (r, c) in table.bold else text
            sign = table.marks.get((r, c), "")
            text += f"<sup>{escape(sign)}</sup>" if sign else ""
            kind = (
                ' class="words"'
                if not numeric[c] and len(table.shown(r, c)) > MAX_WORDS
                else _number_class(numeric[c])
            )
            cells.append(f'<th scope="row">{text}</th>' if c == 0 else f"<td{kind}>{text}</td>")
        ruled = " class=ruled" if r in table.ruled and r else ""
        if r in table.groups:
            words = f"<th colspan={len(row)}><em>{escape(table.groups[r])}</em></th>"
            rows.append(f"<tr{ruled}>{words}</tr>")
            ruled = ""
        rows.append(f"<tr{ruled}>{''.join(cells)}</tr>")
    note = f"<br><span>{_inline_html(table.note)}</span>" if table.note else ""
    links = ", ".join(
        f'<a href="tables/{table.key}.{kind}">{kind}</a>' for kind in ("tex", "csv", "json")
    )
    words = f'<p class="cap" id="t-{table.key}">{escape(table.title)}{note}</p>'
    head = f"<thead>{heads}<tr>{names}</tr></thead>"
    frame = f'<div class="scroll" tabindex="0" role="region" aria-labelledby="t-{table.key}">'
    whole = f'{frame}<table aria-labelledby="t-{table.key}">{head}<tbody>{"".join(rows)}</tbody></table></div>'
    if len(table.rows) > MAX_SHOWN:
        whole = f"<p>{len(table.rows):,} rows, see the files.</p>"
    elif len(table.rows) > MAX_ROWS:
        whole = f"<details><summary>All {len(table.rows):,} rows</summary>{whole}</details>"
    return f'{words}{whole}<p class="files">tables/{table.key}: {links}</p>'


def _number_class(yes: bool) -> str:
    return ' class="number"' if yes else ""


def _figure_html(figure: Figure) -> str:
    try:
        figure_parts(figure.picture)
    except EmptyFigure:
        return f'<div id="f-{figure.key}">{figure.picture}</div>'
    links = ", ".join(
        f'<a href="figures/{figure.key}.{kind}">{kind}</a>'
        for kind in ("pdf", "svg", "png", "pgf", "tex", "csv")
    )
    files = f'<p class="files">figures/{figure.key}: {links}</p>'
    return f'<div id="f-{figure.key}">{figure.picture}{files}</div>'


def _about_html(study: MadeStudy) -> str:
    rows = "".join(
        (
            f"<tr><th scope=row>{escape(key)}</th><td>{escape(path)}</td><td "
            f"class=number>{size:,}</td><td><code>{digest}</code></td></tr>"
        )
        for key, path, size, digest in study.inputs
    )
    head = "<tr><th>input</th><th>file</th><th>bytes</th><th>SHA-256</th></tr>"
    table = (
        f'<div class="scroll" tabindex="0" role="region" '
        f'aria-label="Inputs"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )
    warnings = "".join(f"<li>{escape(text)}</li>" for text in study.warnings)
    said = f"<p>Warnings of the commands:</p><ul>{warnings}</ul>" if warnings else ""
    return f"<pre>{escape(study.command)}</pre>{_paragraph_html(_versions_text(study))}<pre>{escape(_parameters_text(study))}</pre>{table}{said}"


def _versions_text(study: MadeStudy) -> str:
    return (
        "The same inputs give the same bytes with "
        + ", ".join(f"{name} {number}" for name, number in study.versions().items())
        + "."
    )


def _parameters_text(study: MadeStudy) -> str:
    return "\n".join(
        f"{name} = {value!r}" for name, value in study.parameters().items() if value is not None
    )


def render_markdown(study: MadeStudy) -> str:
    parts = [
        f"# {escape_line(study.title)}",
        f"{study.study.sentence} Based on {study.study.source}.",
    ]
    if study.settings.values["simulated"]:
        parts.append(f"**{SIMULATED_NOTE}**")
    if study.left_out:
        parts.append(
            "**Left out**\n\n"
            + "\n".join(
                f"- {escape_line(f'{title}: {reason}')}"
                for title, reason in study.left_out.values()
            )
        )
    for one in study.parts:
        parts += [f"## {escape_line(one.part.title)}", *_part_markdown(one)]
    inputs = "\n".join(
        f"| {key} | {escape_line(path)} | {size:,} | `{digest}` |"
        for key, path, size, digest in study.inputs
    )
    parts += [
        "## How this was made",
        f"    {study.command}",
        _versions_text(study),
        "```\n" + _parameters_text(study) + "\n```",
        "| input | file | bytes | SHA-256 |\n|---|---|---:|---|\n" + inputs,
    ]
    if study.warnings:
        parts.append(
            "Warnings of the commands:\n\n"
            + "\n".join(f"- {escape_line(text)}" for text in study.warnings)
        )
    return "\n\n".join(parts) + "\n"


def _part_markdown(one: MadePart) -> list[str]:
    paragraphs = [escape_line(words) for words in one.section.words]
    for table in one.section.tables:
        paragraphs += [
            f"**{escape_line(table.title)}.** {escape_line(table.note)}".strip(),
            _table_markdown(table),
        ]
    for figure in one.section.figures:
        try:
            figure_parts(figure.picture)
        except EmptyFigure as reason:
            paragraphs.append(f"*{escape_line(figure.caption)}*: {escape_line(str(reason))}")
            continue
        paragraphs += [
            f"![{escape_line(figure.caption)}](figures/{figure.key}.png)",
            f"*{escape_line(figure.caption)}*",
        ]
    return (
        [*paragraphs, "Made by:\n\n" + "\n".join(f"    {command}" for command in one.commands)]
        if one.commands
        else paragraphs
    )


def _table_markdown(table: Table) -> str:
    lines = [
        "| " + " | ".join(map(escape_line, table.columns)) + " |",
        "|" + "|".join("---:" if numeric else "---" for numeric in table.numeric) + "|",
    ]
    for r, row in enumerate(table.rows[:MAX_ROWS]):
        if r in table.groups:
            lines.append(f"| *{escape_line(table.groups[r])}* |" + " |" * (len(row) - 1))
        cells = []
        for c in range(len(row)):
            text = escape_line(table.shown(r, c))
            text = f"**{text}**" if (r, c) in table.bold else text
            cells.append(text + table.marks.get((r, c), ""))
        lines.append("| " + " | ".join(cells) + " |")
    if len(table.rows) > MAX_ROWS:
        lines.append(
            f"\n{len(table.rows) - MAX_ROWS:,} more rows in [tables/{table.key}.csv](tables/{table.key}.csv)"
        )
    return "\n".join(lines)
