"""Search for texts in templates and the program that users see, but that are not marked for
translation.

unmarked('<p title="A tip">Two words</p>')    ["A tip", "Two words"]: text nodes and visible
attributes
unmarked('<p>{% translate "Two words" %}</p>')    []
unmarked_in_python('raise Refused(f"{n} are too many")')    ["f'{n} are too many'"]: refusals,
labels, messages, choices
sentences_in_python('return "Nobody judges now."')    ["Nobody judges now."]: whatever reads like a
sentence
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

TEMPLATE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
VISIBLE = re.compile(
    r"""\b(aria-label|aria-description|aria-roledescription|title|placeholder|alt|data-confirm)=("|')"""
)
SILENT = {"code", "pre", "kbd", "samp", "script", "style", "svg", "template"}
"""Elements whose content is not translated: it is typed literally, or is not text."""
NAMES = {
    "Aa",
    "Assay",
    "API",
    "CSV",
    "JSON",
    "LaTeX",
    "Markdown",
    "OpenAPI",
    "PDF",
    "PNG",
    "SVG",
    "TREC",
    "UTC",
    "ZIP",
}
"""Words that are the same in every language, and "Aa", the symbol for the appearance of text."""
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Piece:
    """A piece of a template, from start to end. kind: "text", "value", "block", "comment", or
    "tag", whose name is that of an HTML element ("/p": its end)."""

    kind: str
    start: int
    end: int
    name: str = ""


def pieces(source: str) -> Iterator[Piece]:
    at = 0
    while at < len(source):
        inner = TEMPLATE.match(source, at)
        if inner:
            word = (inner[0][2:-2].split() or [""])[0]
            yield Piece(
                {"{%": "block", "{{": "value", "{#": "comment"}[inner[0][:2]],
                at,
                inner.end(),
                word if inner[0].startswith("{%") else "",
            )
            at = inner.end()
        elif source.startswith("<!--", at):
            end = source.find("-->", at) + 3
            yield Piece("comment", at, end)
            at = end
        elif tag := re.compile(r"<(/?[a-zA-Z][\w-]*|!doctype)").match(source, at):
            end = _end_of_tag(source, tag.end())
            yield Piece("tag", at, end, tag[1].lower())
            at = end
        else:
            following = re.compile(r"\{%|\{\{|\{#|<(?=[/!a-zA-Z])").search(source, at + 1)
            end = following.start() if following else len(source)
            yield Piece("text", at, end)
            at = end


def _end_of_tag(source: str, at: int) -> int:
    quote = ""
    while at < len(source):
        inner = TEMPLATE.match(source, at)
        if inner:
            at = inner.end()
            continue
        if source[at] == quote:
            quote = ""
        elif not quote and source[at] in "\"'":
            quote = source[at]
        elif not quote and source[at] == ">":
            return at + 1
        at += 1
    return at


def attributes(source: str, tag: Piece) -> Iterator[tuple[int, int]]:
    """Return (start, end) of the values of a tag's visible attributes."""
    at = tag.start
    while match := VISIBLE.search(source, at, tag.end):
        at = match.end()
        while source[at] != match[2]:
            inner = TEMPLATE.match(source, at)
            at = inner.end() if inner else at + 1
        yield match.end(), at


def says_something(text: str) -> bool:
    """Return whether a text has words to translate."""
    return any(
        word not in NAMES
        for word in WORD.findall(re.sub(r"&\w+;|\b[\w*-]+\.[a-z]{2,5}\b", " ", text))
    )  # without entities and file names


def unmarked(source: str) -> list[str]:
    """Return the texts of a template that are not marked for translation, in order."""
    found = []
    silent: list[str] = []
    marked = False
    for piece in pieces(source):
        if piece.kind == "block" and (
            piece.name in ("blocktranslate", "comment")
            or "block body_class" in source[piece.start : piece.end]
        ):
            marked = True
        elif piece.kind == "block" and piece.name in (
            "endblocktranslate",
            "endcomment",
            "endblock",
        ):
            marked = False
        elif marked:
            continue
        elif piece.kind == "tag":
            for start, end in attributes(source, piece):
                found += unmarked(source[start:end])
            if silent and piece.name == f"/{silent[-1]}":
                silent.pop()
            elif piece.name in SILENT and not source[: piece.end].endswith("/>"):
                silent.append(piece.name)
        elif (
            piece.kind == "text" and not silent and says_something(source[piece.start : piece.end])
        ):
            found.append(" ".join(source[piece.start : piece.end].split()))
    return found


MARKS = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext_lazy"}
REFUSALS = {
    "AnswerRefused": 1,
    "CampaignError": 0,
    "OverQuota": 0,
    "PeopleError": 0,
    "PermissionDenied": 0,
    "Refused": 0,
    "forms.ValidationError": 0,
}
"""Exceptions that are raised with a sentence for users -> position of the sentence among the
arguments."""
SAYING = {
    "CampaignStep": (1, 2),
    "DraftContradiction": (1,),
    "PlanningOption": (2, 3),
    "RowFilter": (1,),
    "ToDoAction": (0,),
    "messages": (1,),
    "add_error": (1,),
}
"""Functions that are called with texts for users -> positions of these arguments."""
WORDS = ("label", "help_text", "empty_label", "about")
SENTENCE = re.compile(r"[^\W\d_]+[ ,:;]+[^\W\d_]+[ ,:;]+[^\W\d_]+|[^\W\d_]+ [^\W\d_]+\.$")
"""Three consecutive words, or two and a full stop."""


def unmarked_in_python(source: str) -> list[str]:
    """Return the texts of Python code that are shown to users but not passed to gettext (refusals,
    labels and help of forms, messages, choices), and texts that gettext cannot find because they
    are composed before the call."""
    told: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and ast.unparse(node.exc.func) in REFUSALS
        ):
            told += node.exc.args[REFUSALS[ast.unparse(node.exc.func)] :][:1]
        elif isinstance(node, ast.Call):
            if (
                not ast.unparse(node.func).startswith("models.") and _called(node) != "enqueue"
            ):  # documents the model; is stored
                told += [word.value for word in node.keywords if word.arg in WORDS]
            told += [node.args[at] for at in SAYING.get(_called(node), ()) if at < len(node.args)]
            if ast.unparse(node.func) in MARKS:
                told += [one for one in node.args[:1] if isinstance(one, ast.JoinedStr | ast.BinOp)]
            if _called(node) == "RowFilter":
                told += [
                    words
                    for option in node.args[2:3]
                    if isinstance(option, ast.List)
                    for pair in option.elts
                    for words in _second(pair)
                ]
        elif (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) in ("labels", "help_texts")
            and isinstance(node.value, ast.Dict)
        ):
            told += node.value.values
        elif isinstance(node, ast.ClassDef) and any(
            ast.unparse(base) == "models.TextChoices" for base in node.bases
        ):
            told += [
                words
                for line in node.body
                if isinstance(line, ast.Assign)
                for words in _second(line.value) or [line.value]
            ]
    told = [part for one in told for part in _branches(one)]
    return [ast.unparse(one) for one in told if says_something(_constant(one))]


def _called(call: ast.Call) -> str:
    """Return the last part of the name of a called function, for `messages.success` the first."""
    names = ast.unparse(call.func).split(".")
    return "messages" if names[0] == "messages" else names[-1]


def _second(pair: ast.expr) -> list[ast.expr]:
    return pair.elts[1:2] if isinstance(pair, ast.Tuple) else []


def _branches(told: ast.expr) -> list[ast.expr]:
    """Return the texts that an expression can have: both branches of an `if`, each operand of an
    `or`, all parts of a sum, and what is before a %."""
    if isinstance(told, ast.IfExp):
        return [*_branches(told.body), *_branches(told.orelse)]
    if isinstance(told, ast.BoolOp):
        return [part for value in told.values for part in _branches(value)]
    if isinstance(told, ast.BinOp):
        return [
            *_branches(told.left),
            *(_branches(told.right) if isinstance(told.op, ast.Add) else []),
        ]
    return [told]


def _constant(told: ast.expr) -> str:
    """Return the literal part of a text."""
    if isinstance(told, ast.JoinedStr):
        return " ".join(part.value for part in told.values if isinstance(part, ast.Constant))
    return told.value if isinstance(told, ast.Constant) and isinstance(told.value, str) else ""


def sentences_in_python(source: str) -> list[str]:
    """Return the texts of Python code that read like a sentence and are not marked for translation.
    Texts for programmers are left out: docstrings, assertions, their exceptions, and names of
    caches."""
    tree = ast.parse(source)
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        silent = isinstance(node, ast.Assert) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        if isinstance(node, ast.Call):
            silent = ast.unparse(node.func) in MARKS or _called(node) in (
                "RuntimeError",
                "ValueError",
                "derived",
                "remembered",
                "record",
            )
        if silent or node in passed:
            passed |= set(ast.walk(node))
        elif isinstance(node, ast.JoinedStr):
            passed |= set(ast.walk(node)) - {node}
    texts = [
        _constant(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node not in passed
    ]
    return [text for text in texts if SENTENCE.search(text)]
