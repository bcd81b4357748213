"""The browser for tests: its path and how it is started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--renderer-process-limit=1",  # pages of one profile share a process and its scripts
]


def browser_path() -> str | None:
    """Return the path of the browser that people use."""
    named = os.environ.get("ASSAY_TEST_CHROMIUM", "")
    if named:
        return named if Path(named).exists() else None
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def quick_browser_path() -> str | None:
    """Return the path of the headless shell if Debian's package of it is installed. It has the same
    engine, and needs a third of the processor time for a profile with a page."""
    named = os.environ.get("ASSAY_TEST_CHROMIUM", "")
    return (None if named else shutil.which("chromium-headless-shell")) or browser_path()
