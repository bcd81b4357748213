"""Where the browser is, and how it is started."""

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
    "--renderer-process-limit=1",  # pages of one profile share a process, which has the scripts
]


def browser_path() -> str | None:
    """Path of the browser as people use it."""
    named = os.environ.get("ASSAY_TEST_CHROMIUM", "")
    if named:
        return named if Path(named).exists() else None
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def quick_browser_path() -> str | None:
    """Path of the same engine without windows, if Debian's package of it is installed: a profile
    with a page costs it a third of the processor time."""
    named = os.environ.get("ASSAY_TEST_CHROMIUM", "")
    return (None if named else shutil.which("chromium-headless-shell")) or browser_path()
