"""Read TOML files and report errors with their line."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from assay.formats.errors import FormatError

MAX_PARTS = 100
"""Maximum number of parts of a dotted key. Parsing a key needs memory quadratic in this number."""
_STRING_PATTERN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')


def read_toml(name: str, text: str) -> dict[str, Any]:
    """Parse TOML. name: the file's name in messages.

    Raises FormatError for invalid TOML and for text that would need excessive memory.
    """
    _check_key_length(name, text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise FormatError.single(
            name, None, "lists or tables nested too deeply", "fewer levels"
        ) from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+)", str(error))
        # otherwise the message is "at end of document"
        line = int(place[1]) if place else len(text.splitlines())
        raise FormatError.single(name, line, f"invalid TOML ({error})", "key = value") from None
    except ValueError:
        raise FormatError.single(
            name, None, "a number with too many digits", "a number with fewer digits"
        ) from None


def _check_key_length(name: str, text: str) -> None:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") < MAX_PARTS:
            continue
        parts = 0
        for part in _STRING_PATTERN.sub("s", line).split("."):
            parts = parts + 1 if len(part.split()) == 1 else 0
            if parts > MAX_PARTS:
                raise FormatError.single(
                    name,
                    number,
                    "a key with too many parts",
                    f"at most {MAX_PARTS} parts separated by dots",
                )
