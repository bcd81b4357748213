"""The modules of the judging page, without a browser: `node --test` over tests/javascript, by the
Node that Playwright brings along.

By hand: .venv/lib/python3*/site-packages/playwright/driver/node --test tests/javascript/*.test.mjs
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import playwright
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core import document_display

ROOT = Path(__file__).resolve().parents[1]
NODE = Path(playwright.__file__).parent / "driver" / "node"
TESTS = sorted((ROOT / "tests" / "javascript").glob("*.test.mjs"))


def test_every_module_that_needs_no_page_has_its_tests() -> None:
    assert {path.name.removesuffix(".test.mjs") for path in TESTS} == {
        *(
            "banners",
            "clock",
            "connection",
            "differences",
            "exchange",
            "guideline",
            "highlight",
            "keyboard",
            "leases",
            "outbox",
            "presence",
            "presses",
            "reader",
            "rhythm",
            "spans",
            "steps",
        ),
        *("state_table", "states", "tabs", "text", "trail", "trial", "typeset", "views"),
    }


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_module(path: Path) -> None:
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=tap", path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    assert int(passed[1]) > 0


PIECES = """
import { createInterface } from "node:readline";
import { StoredText, pieces } from "./static/js/judge/text.js";
for await (const line of createInterface({ input: process.stdin })) {
  const [text, end, turn] = JSON.parse(line);
  const stored = new StoredText(text);
  const shown = pieces(text, { shownEnd: stored.toUnit(end), rotateAt: stored.toUnit(turn) });
  console.log(JSON.stringify(shown.filter(({ rest }) => !rest).map(({ start, end }) => [stored.toPoint(start), stored.toPoint(end)])));
}
"""
"""Answers each line [text, shown end, rotation] with the pieces that the page shows, in code
points."""


@pytest.fixture(scope="module")
def pieces_on_the_page() -> Iterator[Callable[[list[Any]], Any]]:
    command = [NODE, "--input-type=module", "--eval", PIECES]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as node:
        assert node.stdin
        assert node.stdout
        asked, answered = node.stdin, node.stdout

        def ask(question: list[Any]) -> Any:
            asked.write(json.dumps(question) + "\n")
            asked.flush()
            return json.loads(answered.readline())

        yield ask
        asked.close()


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(
        st.text(alphabet="ab🦄é.!? \n\u00a0\ufeff\x1f\x85”中文。カ\u3099𠀀สวัสดี", max_size=12),
        min_size=1,
        max_size=12,
    ).map(" ".join),
    seed=st.integers(0, 2**32),
    words=st.integers(1, 12),
)
def test_page_and_server_agree_where_a_cut_text_ends_and_begins(
    pieces_on_the_page: Callable[[list[Any]], Any], text: str, seed: int, words: int
) -> None:
    turn, end = (
        document_display.rotation_start(text, seed, words=words),
        document_display.shown_end(text, words),
    )
    expected = [[turn, end], [0, turn]] if turn else [[0, end]]
    assert pieces_on_the_page([text, end, turn]) == expected


def code_lines(path: Path) -> list[str]:
    """Without strings and comments."""
    text = re.sub(r'"[^"\n]*"', '""', path.read_text(encoding="utf-8"))
    return re.sub(
        r"//.*|/\*.*?\*/", "", re.sub(r"/\*\*.*?\*/", "", text, flags=re.DOTALL)
    ).splitlines()


def test_no_module_but_the_first_knows_the_judging_page_as_a_whole() -> None:
    """main.js makes it. What judging.js uses is given elements, values and callbacks: it never
    hands itself over, and nobody asks for it."""
    scripts = {path.name: path for path in (ROOT / "static" / "js" / "judge").glob("*.js")}
    assert 'from "./judging.js"' in scripts["main.js"].read_text(encoding="utf-8")
    for name in sorted(set(scripts) - {"main.js"}):
        assert "judging.js" not in re.sub(r"//.*", "", scripts[name].read_text(encoding="utf-8")), (
            name
        )
        named = [
            line.strip()
            for line in code_lines(scripts[name])
            if re.search(r"\bjudging\b(?=\s*[.,)=}])", line)
        ]
        assert not named, f"{name}: {named}"
    handed = [
        line.strip()
        for line in code_lines(scripts["judging.js"])
        if re.search(r"[(,:]\s*this\s*[,)}]", line)
    ]
    assert not [line for line in handed if not line.startswith("Object.assign(this,")], handed


def test_the_flow_of_the_judging_page_stays_readable() -> None:
    flow = (
        (ROOT / "static" / "js" / "judge" / "judging.js").read_text(encoding="utf-8").splitlines()
    )
    assert len(flow) <= 750, "give what is no flow to a module of its own"
