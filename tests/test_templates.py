"""What every template holds to."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "templates"
COUNT = re.compile(
    r"^(n_\w+|counted|needed|judged|right|submitted|complete|started|pairs|common|partners|total|live_leases|active_now|topics_left_out)$"
)
NO_COUNTS = {"n_bytes"}
SMALL = {"campaign.scale|length"}  # nine grades at most
OUTPUT = re.compile(r"\{\{ ?([\w.]+)((?:\|[^}]+?)?) ?\}\}")
FOR_MACHINES = re.compile(r'(?:value|max|data-value|style|id|name)="[^"<>]*$')


BOUND = re.compile(r"\b(\w+)=([\w.]+)((?:\|[\w.]+(?::(?:\"[^\"]*\"|'[^']*'|[\w.]+))?)*)(?=[\s%])")
"""A value that {% blocktranslate with %} names: name, what it is, its filters."""
ENDS_WELL = ("intcomma", "pluralize", "stringformat", "yesno", "|number", "|some_of", "|counted")


def ends_well(filters: str) -> bool:
    return any(word in filters for word in ENDS_WELL)


def bare_counts(text: str) -> list[str]:
    """Outputs of counts in a template that are written without thousands separators."""
    found = []
    values = [
        value
        for tag in re.findall(r"\{% blocktranslate (.*?)%\}", text)
        for value in BOUND.findall(tag)
    ]
    bound = {name for name, _, filters in values if ends_well(filters)}
    for match in OUTPUT.finditer(text):
        name, filters = match[1], match[2]
        last = name.rpartition(".")[2]
        is_count = (COUNT.match(last) and last not in NO_COUNTS) or "|length" in filters
        is_written = ends_well(filters) or name in bound
        if (
            is_count
            and not is_written
            and name + filters not in SMALL
            and not FOR_MACHINES.search(text[: match.start()])
        ):
            found.append(match[0])
    return found


def test_every_count_on_a_page_has_thousands_separators() -> None:
    """11200 stood beside 11,200."""
    found = {
        str(path.relative_to(ROOT)): bare_counts(path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.html"))
    }
    assert {name: bare for name, bare in found.items() if bare} == {}


def test_a_count_without_separators_would_be_found() -> None:
    text = (
        '<p>{{ pool.n_pairs }} {{ rows|length }} {{ x|intcomma }} {{ n_a|intcomma }}<i title="{{ '
        'n_b }}"><progress value="{{ n_c }}">'
    )
    assert bare_counts(text) == ["{{ pool.n_pairs }}", "{{ rows|length }}", "{{ n_b }}"]
    marked = (
        "{% blocktranslate trimmed with n_pairs=pool.n_pairs|intcomma n_runs=pool.n_runs %}{{ "
        "n_pairs }} of {{ n_runs }}{% endblocktranslate %}"
    )
    assert bare_counts(marked) == ["{{ n_runs }}"]


LONGEST = 160
OWN_LINE = (
    *(
        "html",
        "head",
        "body",
        "header",
        "footer",
        "main",
        "nav",
        "section",
        "article",
        "aside",
        "div",
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
    ),
    *(
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "caption",
        "form",
        "fieldset",
        "legend",
    ),
    *(
        "details",
        "summary",
        "pre",
        "blockquote",
        "option",
        "script",
        "link",
        "meta",
        "title",
        "dialog",
    ),
)
"""Elements that begin a line; those inside a sentence (a, span, strong, kbd ...) may share one."""
OPENS = re.compile(rf"<({'|'.join(OWN_LINE)})(?=[\s>])")


def test_a_template_has_one_element_a_line_and_no_line_beyond_160_characters() -> None:
    """Templates are read as source, and a change of one element is a change of one line."""
    lines = [
        (f"{path.relative_to(ROOT)}:{number}", line)
        for path in sorted(ROOT.rglob("*.html"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    ]
    wrong = [
        f"{place}: {line.strip()[:100]}"
        for place, line in lines
        if len(line) > LONGEST or len(OPENS.findall(line)) > 1
    ]
    assert len(lines) > 3000
    assert not wrong, "\n".join(wrong)


def test_no_quotation_mark_in_a_template_is_escaped_as_in_a_program() -> None:
    """HTML knows no backslash: it would be part of the value."""
    wrong = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.rglob("*.html"))
        if '\\"' in path.read_text(encoding="utf-8")
    ]
    assert wrong == []


def test_two_elements_in_a_line_would_be_found() -> None:
    assert len(OPENS.findall('<tr><td class="number">1</td>')) == 2
    assert len(OPENS.findall('<p>See the <a href="/">start</a>, <strong>now</strong>.</p>')) == 1
