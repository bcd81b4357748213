"""Random single changes to a release, each of which prove.py must detect."""

from __future__ import annotations

import hashlib
import io
import random
import zipfile

from analysis.publishing.release import prove


def read_parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_parts(parts: dict[str, bytes]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out


def with_right_sums(parts: dict[str, bytes]) -> io.BytesIO:
    """Return the release with digests computed again after a change, as a forger would."""
    parts = {name: data for name, data in parts.items() if name != "SHA256SUMS"}
    lines = [f"{hashlib.sha256(parts[name]).hexdigest()}  {name}\n" for name in sorted(parts)]
    return zip_parts(parts | {"SHA256SUMS": "".join(lines).encode()})


def change_part(data: bytes, rng: random.Random) -> bytes:
    """Change a part of a release: flip a bit of a byte, or drop, swap or duplicate lines. The
    result always differs."""
    while True:
        lines = data.splitlines(keepends=True)
        first, second = (rng.randrange(len(lines)) for _ in range(2))
        how = rng.choice(("byte", "drop", "swap", "duplicate"))
        if how == "byte":
            place = rng.randrange(len(data))
            changed = bytes([data[place] ^ 1 << rng.randrange(8)])
            return data[:place] + changed + data[place + 1 :]
        if how == "drop":
            del lines[first]
        elif how == "swap":
            lines[first], lines[second] = lines[second], lines[first]
        else:
            lines.insert(second, lines[first])
        if (changed := b"".join(lines)) != data:
            return changed


def find_undetected(data: bytes, n: int, *, seed: int) -> list[str]:
    """Make n random changes to parts, one at a time. Returns those that prove.py does not
    detect."""
    rng, parts = random.Random(seed), read_parts(data)
    names, undetected = [name for name in parts if parts[name]], []
    for number in range(n):
        name = rng.choice(names)
        changed = parts | {name: change_part(parts[name], rng)}
        if not any(prove.find_problems(zip_parts(changed)).values()):
            undetected.append(f"change {number} of {name}")
    return undetected
