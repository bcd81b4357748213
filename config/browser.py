"""Find Debian's Chromium for the browser tests, or install it where that is possible (root, apt),
with its variant without windows, in which most of the tests run faster. Never another browser.

A lack is said in a box that cannot be overlooked; under CI=true it is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
SHELL = "chromium-headless-shell"
FONTS = ["fonts-noto-core", "fonts-noto-color-emoji", "fonts-dejavu-core"]


def find() -> str | None:
    """The browser's path: ASSAY_TEST_CHROMIUM, else the first of the usual names on PATH."""
    configured = os.environ.get("ASSAY_TEST_CHROMIUM")
    if configured:
        return configured if os.path.exists(configured) else None
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install() -> None:
    """Install what is missing with apt-get, when this is root's and Debian's machine."""
    if os.environ.get("ASSAY_TEST_CHROMIUM") or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("Installing Chromium for the browser tests …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = [["update"], ["install", "-y", "--no-install-recommends", SHELL]]
    if find() is None:
        commands.insert(1, ["install", "-y", "--no-install-recommends", "chromium", *FONTS])
    for command in commands:
        done = subprocess.run(
            ["apt-get", "-qq", *command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            sys.stderr.write(done.stdout.decode(errors="replace")[-2000:])
            return


def main() -> int:
    if find() is None or (shutil.which("chromium") and not shutil.which(SHELL)):
        install()
    if find():
        return 0
    line = "browser tests SKIPPED: no Chromium found and none could be installed (set ASSAY_TEST_CHROMIUM)"
    sys.stderr.write(
        "\n" + "!" * (len(line) + 4) + f"\n! {line} !\n" + "!" * (len(line) + 4) + "\n\n"
    )
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    raise SystemExit(main())
