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
]


def browser_path() -> str | None:
    named = os.environ.get("ASSAY_TEST_CHROMIUM", "")
    if named:
        return named if Path(named).exists() else None
    return next(
        (
            found
            for name in ("chromium", "chromium-browser", "google-chrome", "chrome")
            if (found := shutil.which(name))
        ),
        None,
    )
