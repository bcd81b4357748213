"""What is vendored is what its publisher published, and carries its licence."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"
# SHA-256 of the files as they are in the npm tarballs.
HASHES = {
    "htmx-2.0.11/htmx.min.js": "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    "htmx-2.0.11/LICENSE": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
}


@pytest.mark.parametrize("name", sorted(HASHES))
def test_vendored_file_is_unchanged(name: str) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == HASHES[name]


def test_nothing_is_vendored_without_a_hash_here() -> None:
    found = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    assert found == set(HASHES)


def test_every_vendored_package_has_its_licence() -> None:
    for folder in VENDOR.iterdir():
        assert (folder / "LICENSE").exists(), folder.name
