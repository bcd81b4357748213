"""What deletes, withdraws or excludes says before what goes with it, asks, or can be undone: each
address that does so is in a table.

Found are the addresses whose view, or a function of its module that it calls, calls something that
is named like a loss; a new one has to be named here with what protects from a slip. Scripts are not
asked twice: an API endpoint is named with the page that previews the same."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(__file__).resolve().parents[1]
LOSS = re.compile(
    r"^(delete|remove(?!d_|prefix|suffix)|revoke|discard|dismiss|withdraw|cancel|request_cancel|request_undo|undo_|exclude_(?!studies)|end_sessions$|drop_)"
)


@dataclass(frozen=True)
class Protected:
    """how: preview (a page or dialog says in numbers what goes), confirm (one is asked; little or
    nothing else goes), undo (one press brings it back) or script (of the API). shown: (template,
    words in it) that prove it; of an undo the words of what brings it back."""

    how: str
    shown: tuple[str, str]


REMOVAL = ("pooling/removal.html", "{% for words in removal.goes %}")
TABLE = {
    "collection-delete": Protected("preview", REMOVAL),
    "collection-topics-change": Protected("preview", REMOVAL),  # single topics: undo
    "run": Protected("preview", REMOVAL),
    "qrels-delete": Protected("preview", REMOVAL),
    "document-file-delete": Protected("preview", REMOVAL),
    "pool-change": Protected("preview", REMOVAL),
    "collection-edit": Protected("undo", ("pooling/collection_edit.html", "add-manager")),
    "upload-decide": Protected(
        "confirm",
        ("pooling/_decide.html", ("Discard this file? You would need to upload it again.")),
    ),
    "upload-decide-all": Protected(
        "confirm", ("pooling/_activity.html", "Discard {{ waiting }} files?")
    ),
    "upload-dismiss": Protected(
        "confirm", ("pooling/_activity.html", "upload-dismiss")
    ),  # a message that was read; the file is not stored
    "job-cancel": Protected(
        "undo", ("pooling/_job.html", "job-cancel")
    ),  # nothing is half-stored; the same is asked for again
    "campaign-delete": Protected(
        "preview", ("annotation/campaign_open.html", "{% for words in goes %}")
    ),
    **dict.fromkeys(
        ("campaign-step", "campaign-invite"),
        Protected(
            "confirm", ("annotation/campaign_people.html", "The link and code stop working.")
        ),
    ),
    "campaign-readers": Protected(
        "confirm", ("annotation/readers.html", "A new link gets a different address.")
    ),
    "campaign-webhooks": Protected(
        "confirm", ("annotation/webhooks.html", "waiting messages are not sent.")
    ),
    "campaign-llm-judge-act": Protected(
        "preview", ("annotation/llm_judge.html", "This permanently deletes the judge's labels")
    ),
    "account": Protected(
        "confirm", ("annotation/account.html", "This can't be undone.")
    ),  # a browser signs in again
    "installation-sessions": Protected(
        "confirm", ("config/sessions.html", "Tokens can't be restored.")
    ),
    "accounts": Protected("undo", ("annotation/accounts.html", 'value="give"')),
    "campaign-exclude": Protected("preview", ("analysis/_exclusion.html", "_exclusion_body.html")),
    "campaign-people-exclude": Protected(
        "preview", ("analysis/_exclusion.html", "_exclusion_body.html")
    ),
    "campaign-pair": Protected(
        "undo", ("analysis/pair.html", 'name="grade"')
    ),  # a label of a manager that was withdrawn is given again
    "campaign-recipe": Protected(
        "confirm",
        ("analysis/export.html", "No release was built with it, so nothing else is lost."),
    ),
    "report-delete": Protected("preview", ("analysis/report.html", "analysis/_goes.html")),
    "study-delete": Protected("preview", ("analysis/study.html", "analysis/_goes.html")),
    "api-collection": Protected("script", REMOVAL),
    "api-topics": Protected("script", REMOVAL),
    "api-document-file": Protected("script", REMOVAL),
    "api-run": Protected("script", REMOVAL),
    "api-qrels": Protected("script", REMOVAL),
    "api-pool": Protected("script", REMOVAL),
    "api-upload": Protected("script", ("pooling/_decide.html", "discard")),
    "api-job-cancel": Protected("script", ("pooling/_job.html", "job-cancel")),
    "api-llm-judge": Protected(
        "script", ("annotation/llm_judge.html", "This permanently deletes the judge's labels")
    ),
    "api-webhook": Protected(
        "script", ("annotation/webhooks.html", "waiting messages are not sent.")
    ),
    "api-report": Protected("script", ("analysis/report.html", "analysis/_goes.html")),
    "api-study": Protected("script", ("analysis/study.html", "analysis/_goes.html")),
    "api-judging-withdraw": Protected(
        "undo", ("../static/js/judge/questions.js", "#takeBack")
    ),  # an own question, which is asked again
}
"""Name of the address -> what protects from a slip."""


def addresses(patterns: Any = None) -> Iterator[tuple[str, Callable[..., Any]]]:
    """(name, view) of all but the ones of Django's admin, which asks before it deletes."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(entry, URLResolver) and entry.app_name != "admin":
            yield from addresses(entry.url_patterns)
        elif isinstance(entry, URLPattern) and entry.name:
            yield entry.name, entry.callback


def called(text: str) -> set[str]:
    """Names of what a piece of program calls."""
    calls = [
        node.func
        for node in ast.walk(ast.parse(textwrap.dedent(text)))
        if isinstance(node, ast.Call)
    ]
    return {
        one.attr if isinstance(one, ast.Attribute) else one.id
        for one in calls
        if isinstance(one, ast.Attribute | ast.Name)
    }


def losses(view: Callable[..., Any]) -> set[str]:
    """What a view calls that is named like a loss, itself or by functions of its module."""
    start: Any = (
        getattr(view, "cls", None) or getattr(view, "view_class", None) or inspect.unwrap(view)
    )
    module, waiting, seen, found = sys.modules[start.__module__], [start], set(), set()
    while waiting:
        piece = waiting.pop()
        if piece in seen:
            continue
        seen.add(piece)
        names = called(inspect.getsource(piece))
        found |= {name for name in names if LOSS.match(name)}
        own = (getattr(module, name, None) for name in names)
        waiting += [
            inspect.unwrap(one)
            for one in own
            if inspect.isfunction(one) and inspect.unwrap(one).__module__ == module.__name__
        ]
    return found


def test_every_destructive_view_declares_its_safeguard() -> None:
    found = {name: what for name, view in addresses() if (what := losses(view))}
    assert {name: what for name, what in found.items() if name not in TABLE} == {}, (
        "name it in TABLE: preview it, ask, or let it be undone"
    )
    assert set(TABLE) <= {name for name, _ in addresses()}


def test_what_is_named_like_a_loss_is_found() -> None:
    by_name = dict(addresses())
    assert losses(by_name["run"]) >= {"delete_run"}
    assert losses(by_name["installation-sessions"]) >= {
        "end_sessions"
    }  # by a function of its module
    assert losses(by_name["api-report"]) >= {"delete_report"}
    assert not losses(by_name["collection-runs"])


@pytest.mark.parametrize("name", TABLE)
def test_what_protects_stands_in_the_template(name: str) -> None:
    template, words = TABLE[name].shown
    text = " ".join((ROOT / "templates" / template).read_text(encoding="utf-8").split())
    assert words in text


BUTTONS = re.compile(
    r'<button[^>]*name="action" value="(delete|delete-all|discard|session|token|person)"[^>]*>',
    re.DOTALL,
)


def test_no_button_deletes_without_a_question() -> None:
    """It stands in a dialog or on the page of the preview, or asks."""
    naked = []
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        for button in BUTTONS.finditer(text):
            in_dialog = text.count("<dialog", 0, button.start()) > text.count(
                "</dialog>", 0, button.start()
            )
            if not in_dialog and "data-confirm" not in button[0] and path.name != "removal.html":
                naked.append(f"{path.name}: {button[1]}")
    assert naked == []
