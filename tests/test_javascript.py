"""The modules of the judging page, without a browser: `node --test` over tests/javascript, by the Node that Playwright brings along.

By hand: .venv/lib/python3*/site-packages/playwright/driver/node --test tests/javascript/*.test.mjs
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import playwright
import pytest

ROOT = Path(__file__).resolve().parents[1]
NODE = Path(playwright.__file__).parent / "driver" / "node"
TESTS = sorted((ROOT / "tests" / "javascript").glob("*.test.mjs"))


def test_every_module_that_needs_no_page_has_its_tests() -> None:
    assert {path.name.removesuffix(".test.mjs") for path in TESTS} == {
        *("clock", "connection", "exchange", "keyboard", "leases", "outbox", "spans", "state_table", "states", "text", "trial"),
    }


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_module(path: Path) -> None:
    done = subprocess.run([NODE, "--test", "--test-reporter=tap", path], cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    assert int(passed[1]) > 0
