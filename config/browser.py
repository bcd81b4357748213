"""Search for Debian's Chromium for the browser tests. If possible (root, apt), it is installed,
including the headless shell, in which most tests run faster. Other browsers are not used.

If Chromium is missing, a conspicuous box reports it. With CI=true this is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome")
SHELL_PACKAGE = "chromium-headless-shell"
FONT_PACKAGES = ["fonts-noto-core", "fonts-noto-color-emoji", "fonts-dejavu-core"]


def find_browser() -> str | None:
    """Return the path of the browser: ASSAY_TEST_CHROMIUM, or the first of the usual names on PATH."""
    configured = os.environ.get("ASSAY_TEST_CHROMIUM")
    if configured:
        return configured if os.path.exists(configured) else None
    return next((path for name in BROWSER_NAMES if (path := shutil.which(name))), None)


def install_browser() -> None:
    """Install missing packages of the browser with apt-get if the user is root on Debian."""
    if os.environ.get("ASSAY_TEST_CHROMIUM") or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print("Installing Chromium for the browser tests …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = [["update"], ["install", "-y", "--no-install-recommends", SHELL_PACKAGE]]
    if find_browser() is None:
        commands.insert(1, ["install", "-y", "--no-install-recommends", "chromium", *FONT_PACKAGES])
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
    if find_browser() is None or (shutil.which("chromium") and not shutil.which(SHELL_PACKAGE)):
        install_browser()
    if find_browser():
        return 0
    line = "browser tests SKIPPED: no Chromium found and none could be installed (set ASSAY_TEST_CHROMIUM)"
    sys.stderr.write(
        "\n" + "!" * (len(line) + 4) + f"\n! {line} !\n" + "!" * (len(line) + 4) + "\n\n"
    )
    return 1 if os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    raise SystemExit(main())
