"""Base of all commands on files: JSON or tables as output, exit status 2 for invalid input,
complete output files or none, a seed, and progress on standard error.

Nothing here imports Django, so that commands on files start quickly. Only `--campaign` loads it
(`stored_campaigns`).
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from argparse import SUPPRESS, Action, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import numpy as np

from assay.atomic_files import check_writable
from assay.atomic_files import (
    write_text_atomically as write_text_atomically,  # re-exported for the commands
)
from assay.cli import server
from assay.cli.examples import example_text
from assay.column_types import QrelsColumns, RunColumns
from assay.formats.errors import FormatError
from assay.formats.packaged import DatasetUnavailable
from assay.formats.streams import strip_suffixes
from assay.results import Values, undefined_reasons
from assay.tabular import Table, to_text

if TYPE_CHECKING:
    from assay.charts.svg import Picture

FAILED, BAD_INPUT = 1, 2
Warn = Callable[[str], None]
"""A function that shows a sentence to the user."""


class BadInput(ValueError):
    """A user error that is not tied to one line of a file, such as unknown names or conflicting
    options."""


class WrongArguments(BadInput):
    """Error for arguments that a command's parser refuses, if they were not typed on a command line
    but come from a form or a test."""


USUAL_INPUTS = {
    "qrels": "qrels file in TREC or BEIR format, or irds:ID for qrels of ir_datasets",
    "runs": "run files in TREC format",
    "run_a": "run file A in TREC format",
    "run_b": "run file B in TREC format",
}
"""Help texts of the inputs that most commands have."""


class FileParser(ArgumentParser):
    """A parser that records its arguments. from_command_line: whether a mistake ends the program,
    as in argparse, or raises WrongArguments. declared: all arguments in order."""

    def __init__(self, *, from_command_line: bool = False, **settings: Any) -> None:
        self.declared: list[Action] = []
        super().__init__(**settings)
        self.from_command_line = from_command_line

    def add_argument(self, *names: Any, **about: Any) -> Action:
        """Add an argument as argparse does, and record it in `declared` for functions and
        completion."""
        if not names[0].startswith("-") and names[0] in USUAL_INPUTS:
            about.setdefault("help", USUAL_INPUTS[names[0]])
        action = super().add_argument(*names, **about)
        self.declared.append(action)
        return action

    def error(self, message: str) -> NoReturn:
        if self.from_command_line:
            super().error(message)
        raise WrongArguments(message)


class Output:
    """A stream that ends every text with a line break and can colour it in a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str, colour: str = "") -> None:
        text = text.removesuffix("\n")
        if colour and self.stream.isatty() and not os.environ.get("NO_COLOR"):
            text = f"\33[{colour}m{text}\33[0m"
        self.stream.write(text + "\n")


RED, YELLOW = "31;1", "33;1"
DJANGO_OPTIONS = {
    "--settings": "settings",
    "--pythonpath": "pythonpath",
    "--verbosity": "verbosity",
}
"""Options with a value that all commands of manage.py accept. They affect a command on files only
with --campaign."""


class FileCommand:
    """A command on plain files, without database, server and Django. It is run as `assay NAME`.

    Subclasses define `arguments(parser)`, `compute(**options) -> dict` (the JSON result) and
    `tables(result) -> list[Table]` or `table(result, **options) -> str` (the text for users). A
    command that writes a data file does so itself with `write_text_atomically` and sets
    `makes_data_file = True`. Its --output is then that file.
    """

    help = ""
    makes_data_file = False
    writes: tuple[str, ...] = ("output",)
    """Options that name output files. They are checked before anything is computed."""
    takes_seed = True
    takes_processes = False
    failed = False
    """Set by `compute` if what the command checks does not hold. The exit status is then 1."""
    # Django's call_command recognises commands in management/commands by this
    requires_system_checks: list[str] = []
    base_stealth_options = ("stdout", "stderr", "skip_checks")
    stealth_options = ()

    def __init__(self) -> None:
        self.stdout, self.stderr = Output(sys.stdout), Output(sys.stderr)
        self.until_answered = ExitStack()
        self._stored_campaigns: Any = None

    def create_parser(
        self, program: str, name: str, *, from_command_line: bool = False
    ) -> FileParser:
        """Create the command's parser. program: what was typed before the command's name."""
        parser = FileParser(
            prog=f"{Path(program).name} {name}",
            description=self.help,
            epilog=example_text(name),
            from_command_line=from_command_line,
        )
        self.add_arguments(parser)
        for option, place in DJANGO_OPTIONS.items():
            parser.add_argument(option, dest=place, help=SUPPRESS)
        for option in ("--traceback", "--no-color", "--force-color", "--skip-checks"):
            parser.add_argument(option, action="store_true", help=SUPPRESS)
        return parser

    def print_help(self, program: str, name: str) -> None:
        self.create_parser(program, name).print_help()

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command. argv: program, name, arguments. Raises SystemExit unless the status is
        0."""
        parser = self.create_parser(argv[0], argv[1], from_command_line=True)
        self.execute(**vars(parser.parse_args(argv[2:])))

    def execute(
        self, *, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any
    ) -> None:
        if stdout is not None:
            self.stdout = Output(stdout)
        if stderr is not None:
            self.stderr = Output(stderr)
        if options.get("settings"):
            os.environ["DJANGO_SETTINGS_MODULE"] = options["settings"]
        if options.get("pythonpath"):
            sys.path.insert(0, options["pythonpath"])
        self.handle(**options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--output", metavar="FILE", help="output file (default: standard output)"
        )
        if self.takes_seed:
            parser.add_argument(
                "--seed", type=parse_seed, default=0, metavar="N", help="random seed (default: 0)"
            )
        if self.takes_processes:
            parser.add_argument(
                "--processes",
                type=parse_positive,
                default=1,
                metavar="N",
                help="number of parallel processes; results do not depend on it (default: 1)",
            )
        self.arguments(parser)

    def arguments(self, parser: ArgumentParser) -> None:
        raise NotImplementedError

    def prepare_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Convert parsed options to the arguments of `compute`. Subclasses replace what needs
        reading first."""
        return options

    compute: Callable[..., Values]
    tables: Callable[[Values], list[Table]]
    verdicts: Callable[[Values], list[str]] | None = None
    """Function that returns the verdicts as sentences, which pages show first."""
    tables_below_verdicts: Callable[[Values], list[Table]] | None = None
    """Function that returns the tables for such a page, if `tables` repeats the verdicts."""
    charts: Callable[..., list[Picture]] | None = None
    """Function that returns the result as charts for web pages, the most important first."""

    def table(self, result: Values, **options: Any) -> str:
        """Return the result as text: its tables, then the reasons for undefined values."""
        plain = to_json_types(result)
        return join_tables(self.tables(plain), plain)

    def compute_result(self, options: dict[str, Any]) -> dict[str, Any]:
        """Run `compute` with the options returned by `prepare_options`, and return its result."""
        return self.compute(**options)

    def format_output(self, result: dict[str, Any], options: dict[str, Any]) -> str:
        return self.table(result, **options)

    def refuse_unwritable_files(self, options: dict[str, Any]) -> None:
        option_of: dict[str, str] = {}
        for name in self.writes:
            if options[name] in (None, "-"):
                continue
            check_writable(options[name])
            other = option_of.setdefault(os.path.realpath(options[name]), name)
            if other != name:
                raise BadInput(
                    f"--{other} and --{name} name the same file, expected one file for each: {options[name]}"
                )

    def handle(self, **options: Any) -> None:
        try:
            self.refuse_unwritable_files(options)
            with self.until_answered:
                result = self.compute_result(self.prepare_options(options))
            if self.takes_seed:
                result.setdefault("seed", options["seed"])
            text = (
                json.dumps(to_json_types(result), ensure_ascii=False, allow_nan=False)
                if options["json"]
                else self.format_output(result, options)
            )
            target = None if self.makes_data_file or options["output"] == "-" else options["output"]
            if target:
                with write_text_atomically(target) as out:
                    out.write(text + "\n")
        except FormatError as error:
            for line in error.lines():
                self.stderr.write(line, RED)
            raise SystemExit(BAD_INPUT) from None
        except BrokenPipeError:
            raise
        except (BadInput, DatasetUnavailable, OSError) as error:
            self.stderr.write(error_message(error), RED)
            raise SystemExit(BAD_INPUT) from None
        except KeyboardInterrupt:
            self.stderr.write("interrupted; nothing was written", RED)
            raise SystemExit(130) from None
        if not target:
            self.stdout.write(text)
        if self.failed:
            raise SystemExit(FAILED)

    def stored_campaigns(self) -> Any:
        """Return the module that reads campaigns, for commands given --campaign. All reads until
        the result is computed use one database snapshot. Raises BadInput."""
        if self._stored_campaigns is not None:
            return self._stored_campaigns
        if not server.is_installed():
            raise BadInput(
                "--campaign reads the database of an installation, and the server is not "
                f"installed here. To install it: {server.INSTALL_HINT}"
            )
        database = server.load_database_module()
        self.until_answered.enter_context(database.open_database_snapshot())
        self._stored_campaigns = database.load_campaign_reader()
        return self._stored_campaigns

    def warn(self, message: str) -> None:
        self.stderr.write(f"warning: {message}", YELLOW)

    def note(self, message: str) -> None:
        self.stderr.write(f"note: {message}")

    def show_reader_messages(self, name: str, read: RunColumns | QrelsColumns) -> None:
        """Show the warnings and notes of a file's reader."""
        for warning in read.warnings:
            self.warn(f"{name}: {warning}")
        for note in read.notes:
            self.note(f"{name}: {note}")


class DatabaseCommand(FileCommand):
    """A command with the conventions of FileCommand that always needs the database. Its module may
    import models."""


def error_message(error: BaseException) -> str:
    """Return the message of an error as one sentence for users, without the system's error
    number."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    return str(error)


def parse_positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def parse_seed(text: str) -> int:
    """Parse the value of --seed for argparse. Negative seeds are invalid for random number
    generators."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def parse_fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def parse_named_file(text: str) -> tuple[str, str]:
    """Parse `NAME=FILE` or `FILE`, which is named after the file without its extensions. Return
    (name, file)."""
    if "=" in text and not Path(text).exists():
        name, _, file = text.partition("=")
        if name and file:
            return name, file
    return strip_suffixes(text), text


def make_tags_distinct(tags: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return (tags, in which the second and later of equal tags become `tag#2`, `tag#3`;
    warnings)."""
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
            warnings.append(f"two runs have the tag {tag}; the second is called {name}")
        result.append(name)
    return result, warnings


class ProgressLine:
    """A progress line on standard error that appears after two seconds."""

    def __init__(
        self, label: str, total: int, stream: TextIO | None = None, after: float = 2.0
    ) -> None:
        self.label, self.total, self.done = label, total, 0
        self.stream = stream or sys.stderr
        self.start = time.monotonic()
        self.after, self.shown = after, 0.0

    def __enter__(self) -> ProgressLine:
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
        self.stream.write(
            f"{self.label}: {self.done}/{self.total} ({100 * self.done / max(self.total, 1):.0f}%), "
            f"{left:.0f} s left   "
        )
        self.stream.flush()


def to_json_types(value: Any) -> Any:
    """Convert a value for JSON: NaN (undefined) becomes null, numpy numbers become Python numbers,
    and keys become strings."""
    if isinstance(value, dict):
        return {str(k): to_json_types(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json_types(v) for v in value]
    if isinstance(value, np.ndarray):
        return to_json_types(value.tolist())
    if isinstance(value, np.generic):
        return to_json_types(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def join_tables(tables: list[Table], plain: Values) -> str:
    """Return tables as text, followed by the reasons for undefined values of the result."""
    parts = [to_text(one) for one in tables]
    return "\n\n".join([*parts, "\n".join(undefined_reasons(plain))]).strip("\n")
