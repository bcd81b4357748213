"""Create the virtual environment and install the locked requirements. Returns at once if nothing
has changed.

Usage: python install.py runtime|dev. It uses the standard library only, because it runs before
anything is installed, and its syntax must be valid in older versions of Python, so that they can
report that they are too old.
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
FILES = {"runtime": ["requirements.txt"], "dev": ["requirements-dev.txt"]}
MIN_PYTHON = (3, 11)


def exit_with_error(sentence: str) -> None:
    sys.stderr.write("assay: " + sentence + "\n")
    raise SystemExit(1)


def digest_files(names: "list[str]") -> str:
    content = hashlib.sha256(sys.version.encode())
    for name in names:
        with open(os.path.join(ROOT, name), "rb") as source:
            content.update(source.read())
    return content.hexdigest()


def run_command(command: "list[str]") -> bool:
    """Run a command and show its output only if it fails. Returns whether it succeeded."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT)
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace")[-3000:])
    return done.returncode == 0


def make_environment() -> None:
    """Create a virtual environment, even if the system's Python lacks ensurepip."""
    if os.path.exists(PYTHON):
        return
    print("Creating the virtual environment .venv …", flush=True)
    if not run_command([sys.executable, "-m", "venv", "--without-pip", VENV]):
        exit_with_error(
            "the virtual environment .venv could not be created; see above (on Debian: apt install python3-venv)."
        )


def has_module(module: str) -> bool:
    return (
        subprocess.run(
            [PYTHON, "-c", "import " + module], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
        == 0
    )


def run_silently(command: "list[str]") -> bool:
    # use the system's certificates as pip does, for companies with their own certificate authority
    environment = dict(os.environ, UV_SYSTEM_CERTS="1")
    return (
        subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment
        ).returncode
        == 0
    )


def find_installer() -> "str | None":
    """Return the path of uv, which is fast, installing it if possible. None if only pip is
    available."""
    uv = os.path.join(VENV, "bin", "uv")
    if os.path.exists(uv):
        return uv
    if not run_silently(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            PYTHON,
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "uv",
        ]
    ):
        run_silently([PYTHON, "-m", "ensurepip"])
        if has_module("pip"):
            run_silently(
                [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]
            )
    return uv if os.path.exists(uv) else None


def install_requirements(names: "list[str]") -> None:
    print("Installing the requirements from the package index (once, about a minute) …", flush=True)
    arguments = []
    for name in names:
        arguments += ["-r", name]
    uv = find_installer()
    if uv and run_silently(
        [uv, "pip", "install", "--quiet", "--python", PYTHON, "--require-hashes"] + arguments
    ):
        # if uv fails (a mirror or certificates that only pip is configured for), try pip
        return
    if not has_module("pip") and not run_silently([PYTHON, "-m", "ensurepip"]):
        exit_with_error(
            "neither uv nor pip could be installed into .venv; is the package index reachable?"
        )
    if not run_command(
        [
            PYTHON,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
        ]
        + arguments
    ):
        exit_with_error(
            "the requirements could not be installed; see above. Is the package index reachable?"
        )


def main() -> None:
    kind = sys.argv[1] if len(sys.argv) > 1 else "runtime"
    if sys.version_info < MIN_PYTHON:
        version = ".".join(map(str, sys.version_info[:2]))
        exit_with_error(
            "Python "
            + version
            + " is too old; Assay needs Python 3.11 or newer (set PYTHON=/path/to/python3.11)."
        )
    if not os.access(ROOT, os.W_OK):
        exit_with_error(
            "the folder " + ROOT + " is read-only for you; clone Assay into a folder of your own."
        )
    stamp = os.path.join(VENV, "installed-" + kind)
    wanted = digest_files(FILES[kind])
    try:
        with open(stamp) as source:
            if source.read() == wanted and os.path.exists(PYTHON):
                return
    except OSError:
        pass
    make_environment()
    install_requirements(FILES[kind])
    with open(stamp, "w") as out:
        out.write(wanted)


if __name__ == "__main__":
    main()
