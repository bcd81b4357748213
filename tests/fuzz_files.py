"""Mutated files for every reader: `python -m tests.fuzz_files` (make fuzz), a hundred thousand
each. Nothing but FormatError may come out.

Prints a line per reader with how many files it read and refused and how long the slowest took; what
raised anything else, took longer than --patience seconds (a regular expression that backtracks, a
loop that is not linear), or more than --memory megabytes, is kept under var/fuzz, and the status is
1. The same seed makes the same files. The short form of it runs with the tests
(tests/assay/formats/test_wrong_files.py)."""

from __future__ import annotations

import argparse
import gzip
import io
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

KEPT = Path("var/fuzz")
LARGEST = 50_000


class Outcome(NamedTuple):
    reader: str
    n_read: int
    n_refused: int
    slowest: float
    faults: list[str]


def files(kind: str, seed: int, n: int) -> Iterator[bytes]:
    """Yield n mutated files of this kind, some of them compressed. Some are long, to detect readers
    that do not take linear time."""
    from tests.assay.formats.test_wrong_files import mixed, whole_files

    rng, whole = random.Random(f"{kind} {seed}"), whole_files(kind)
    for number in range(n):
        content = rng.choice(whole)
        if number % 50 == 49:
            at = rng.randrange(len(content) + 1)
            content = (
                content[:at]
                + (content[at : at + rng.randrange(1, 9)] or b" ") * rng.randrange(1, 5000)
                + content[at:]
            )
            content = content[:LARGEST]
        else:
            content = mixed(rng, content, whole)
        yield gzip.compress(content, 1) if rng.random() < 0.02 else content


def take_at_most(megabytes: int) -> None:
    """Limit the additional memory that this process can take. Beyond the limit a MemoryError is
    raised."""
    has = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(
        resource.RLIMIT_AS, (has + (megabytes << 20), resource.getrlimit(resource.RLIMIT_AS)[1])
    )


def fuzz(asked: tuple[str, int, int, float, int]) -> Outcome:
    from assay.formats.errors import FormatError
    from tests.assay.formats.test_wrong_files import ALL_READERS

    kind, seed, n, patience, megabytes = asked
    take_at_most(megabytes)
    reader: Callable[[Any], Any] = ALL_READERS[kind]
    n_read = n_refused = 0
    slowest, faults = 0.0, []
    for number, content in enumerate(files(kind, seed, n)):
        stream = io.BytesIO(content)
        stream.name = "given"
        began, wrong = time.process_time(), ""
        try:
            reader(stream)
            n_read += 1
        except FormatError:
            n_refused += 1
        except Exception as error:
            wrong = f"{type(error).__name__}: {error!s:.200}"
        took = time.process_time() - began
        slowest = max(slowest, took)
        if wrong or took > patience:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{kind.replace(' ', '-')}-{seed}-{number}"
            path.write_bytes(content)
            faults.append(f"{path}: {wrong or f'{took:.1f} s'}")
            if len(faults) == 20:
                break
    return Outcome(kind, n_read, n_refused, slowest, faults)


def main() -> int:
    from tests.assay.formats.test_wrong_files import ALL_READERS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000, help="of each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--patience", type=float, default=5.0, help="seconds of processor time for one file"
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=500,
        help="megabytes that a process may take beyond what it has",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--only",
        nargs="*",
        choices=sorted(ALL_READERS),
        default=sorted(ALL_READERS),
        metavar="READER",
    )
    options = parser.parse_args()
    bad = 0
    print(
        f"{'reader':28} {'read':>8} {'refused':>8} {'slowest':>10}   (load {os.getloadavg()[0]:.1f})"
    )
    with Pool(options.processes) as pool:
        for one in pool.imap(
            fuzz,
            [
                (kind, options.seed, options.files, options.patience, options.memory)
                for kind in options.only
            ],
        ):
            print(
                f"{one.reader:28} {one.n_read:8,} {one.n_refused:8,} {one.slowest * 1000:7.0f} ms",
                flush=True,
            )
            for fault in one.faults:
                print(f"    {fault}")
            bad += len(one.faults)
    print(f"{bad} files did what they should not" if bad else "nothing but FormatError")
    return 1 if bad else 0


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    sys.exit(main())
