"""No regular expression of the program backtracks without bound: steps are counted, not seconds,
over texts made against each of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backtracking import Matcher, TooManySteps, attacks, steps

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pooling", "annotation", "analysis", "config", "assay")
CALLS = {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
SHORT, LONG = 16, 32
MOST_GROWTH = 4.6
"""Twice the text, at most so many times the steps: a search that tries every place and reads on
from each (four times, and a little for what does not grow) is let pass, for lines and names are
bounded; what grows with the third power (eight times) or faster is not."""


def said(node: ast.expr) -> str | bytes | None:
    """The pattern where it stands in the call; a name put into it is taken for one that has `x`
    there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = said(node.left), said(node.right)
        return (left if isinstance(left, str) else "x") + (right if isinstance(right, str) else "x")
    return None


def flags_of(call: ast.Call) -> int:
    names = {
        name.attr
        for part in [*call.args[1:], *(k.value for k in call.keywords if k.arg == "flags")]
        for name in ast.walk(part)
        if isinstance(name, ast.Attribute)
    }
    return sum(
        {
            getattr(re, name).value
            for name in names
            if isinstance(getattr(re, name, None), re.RegexFlag)
        }
    )


def calls() -> Iterator[tuple[str, ast.Call]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if "import re\n" in text else ():
                if not (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.args
                ):
                    continue
                if (
                    isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "re"
                    and node.func.attr in CALLS
                ):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


PATTERNS = {
    f"{place} {said(call.args[0])!r:.60}": (said(call.args[0]), flags_of(call))
    for place, call in calls()
}


def growth(pattern: str | bytes, flags: int) -> tuple[float, tuple[str, str, str]]:
    """The largest ratio of steps at twice the text (or the first that is too large), and at
    which."""
    worst = (0.0, ("", "", ""))
    for begin, text, end in attacks(pattern, flags):
        few = steps(pattern, flags, begin + text * SHORT + end)
        try:
            many = steps(pattern, flags, begin + text * LONG + end)
        except TooManySteps:
            return float("inf"), (begin, text, end)
        worst = max(worst, (many / few, (begin, text, end)))
        if worst[0] > MOST_GROWTH:
            break
    return worst


@pytest.mark.parametrize("name", PATTERNS)
def test_regex_steps_grow_at_most_quadratically_with_text_length(name):
    pattern, flags = PATTERNS[name]
    assert pattern is not None, "a pattern that stands elsewhere: write it into the call"
    try:
        times, at = growth(pattern, flags)
    except TooManySteps:
        pytest.fail("over a million steps for sixteen repetitions")
    assert times <= MOST_GROWTH, at


def test_every_way_to_write_a_pattern_is_looked_at():
    """Names of the module by which nobody else would be caught."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            assert "from re import" not in text, path
            assert "import re as" not in text, path
    assert len(PATTERNS) > 80


@pytest.mark.long
@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(a|a)*b",
        r"(?:\w*\s*)*:",
        r"(a|ab|b)*c",
        r"\s*\s*\s*:",
        r"(?:x+x+)+y",
        r".*.*.*=",
    ],
)
def test_patterns_known_to_explode_are_caught(pattern):
    try:
        times, _ = growth(pattern, 0)
    except TooManySteps:
        return
    assert times > MOST_GROWTH


@pytest.mark.parametrize("name", PATTERNS)
def test_the_counting_matcher_finds_what_python_finds(name):
    pattern, flags = PATTERNS[name]
    if isinstance(pattern, bytes):
        pattern = pattern.decode("latin-1")
    texts = ["", "a", "1-2, x:3", "topic 12 (34)"]
    texts += [begin + text * 3 + end for begin, text, end in attacks(pattern, flags)][:20]
    for text in texts:
        known = re.search(pattern, text, flags)
        assert Matcher(pattern, flags, text, 10**6).search() == (known.span() if known else None), (
            text
        )
