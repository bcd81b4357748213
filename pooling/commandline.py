"""What every command on plain files shares (the command-line contract): JSON or a table, exit status 2 for bad input,
whole output files or none, a seed, progress on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from django.core.management.base import BaseCommand, CommandParser

from pooling.formats.errors import FormatError
from pooling.formats.opening import bare_name

BAD_INPUT = 2


class BadInput(Exception):
    """A person's mistake that no single line of a file shows: unknown names, contradicting options."""


class FileCommand(BaseCommand):
    """A `manage.py` command on plain files: no database, no server.

    Subclasses give `arguments(parser)`, `compute(**options) -> dict` (the JSON object of the contract) and
    `table(result, **options) -> str` (what a person reads). A command that makes a data file writes it itself with
    `whole_file` and sets `makes_data_file = True`: then --output is that file.
    """

    requires_system_checks: list[str] = []
    requires_migrations_checks = False
    makes_data_file = False
    takes_seed = True
    takes_processes = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        parser.add_argument("--output", metavar="FILE", help="write to this file instead of standard output")
        seeded = "fixes everything random (default 0)" if self.takes_seed else "accepted as everywhere; nothing here is random"
        parser.add_argument("--seed", type=int, default=0, metavar="N", help=seeded)
        if self.takes_processes:
            parser.add_argument("--processes", type=positive, default=1, metavar="N", help="the result is the same for any N")
        self.arguments(parser)

    def arguments(self, parser: CommandParser) -> None:
        raise NotImplementedError

    def prepared(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options as `compute` takes them."""
        return options

    compute: Callable[..., dict[str, Any]]
    table: Callable[..., str]

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.compute(**self.prepared(options))
        except FormatError as error:
            for line in error.lines():
                self.stderr.write(line, self.style.ERROR)
            raise SystemExit(BAD_INPUT) from None
        except BrokenPipeError:
            raise
        except (BadInput, OSError) as error:
            self.stderr.write(readable(error), self.style.ERROR)
            raise SystemExit(BAD_INPUT) from None
        except KeyboardInterrupt:
            self.stderr.write("interrupted; nothing was written", self.style.ERROR)
            raise SystemExit(130) from None
        if self.takes_seed:
            result.setdefault("seed", options["seed"])
        text = json.dumps(jsonable(result), ensure_ascii=False, allow_nan=False) if options["json"] else self.table(result, **options)
        target = None if self.makes_data_file else options["output"]
        if target and target != "-":
            with whole_file(target) as out:
                out.write(text + "\n")
        else:
            self.stdout.write(text)

    def warn(self, message: str) -> None:
        self.stderr.write(f"warning: {message}", self.style.WARNING)


def readable(error: BaseException) -> str:
    """One sentence for a person, without the number that the system gives an error."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    return str(error)


def positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def named_file(text: str) -> tuple[str, str]:
    """`NAME=FILE` or `FILE`, whose name is then the file's without its extensions. -> (name, file)"""
    if "=" in text and not Path(text).exists():
        name, _, file = text.partition("=")
        if name and file:
            return name, file
    return bare_name(text), text


def distinct_tags(tags: Iterable[str]) -> tuple[list[str], list[str]]:
    """Tags with the second and later of the same name called `tag#2`, `tag#3`. -> (tags, warnings)"""
    tags = list(tags)
    taken = set(tags)
    result: list[str] = []
    warnings = []
    for tag in tags:
        name, number = tag, 1
        while name in result or (number > 1 and name in taken):
            number += 1
            name = f"{tag}#{number}"
        if number > 1:
            warnings.append(f"two runs have the tag {tag}; this one is called {name}")
        result.append(name)
    return result, warnings


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text file that appears whole under its name when the block ends, or not at all."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            yield out
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class Progress:
    """A progress line on standard error that appears only after two seconds."""

    def __init__(self, label: str, total: int, stream: TextIO | None = None, after: float = 2.0) -> None:
        self.label, self.total, self.done = label, total, 0
        self.stream = stream or sys.stderr
        self.start = time.monotonic()
        self.after, self.shown = after, 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.shown:
            self.stream.write("\n")
            self.stream.flush()

    def step(self, n: int = 1) -> None:
        self.done += n
        now = time.monotonic()
        if now - self.start < self.after or now - self.shown < 0.2:
            return
        self.shown = now
        rate = self.done / (now - self.start)
        left = (self.total - self.done) / rate if rate else math.inf
        self.stream.write(f"\r{self.label}: {self.done}/{self.total} ({100 * self.done / max(self.total, 1):.0f} %), {left:.0f} s left   ")
        self.stream.flush()


def jsonable(value: Any) -> Any:
    """Plain Python for JSON: NaN (undefined) becomes null, numpy numbers become numbers, keys become strings."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(v) for v in value]
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def text_table(header: list[str], rows: list[list[Any]]) -> str:
    """Columns aligned: text to the left, numbers to the right with four decimals; undefined is `-`."""

    def cell(value: Any) -> str:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "-"
        if isinstance(value, (float, np.floating)):
            return f"{value:.4f}"
        return str(value)

    cells = [header] + [[cell(v) for v in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    numeric = [all(isinstance(row[i], (int, float, np.number)) or row[i] is None for row in rows) for i in range(len(header))]
    return "\n".join(
        "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, widths, numeric, strict=True)).rstrip() for row in cells
    )
