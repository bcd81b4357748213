"""Files that appear whole under their name, or not at all."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast


@contextmanager
def whole_bytes(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """It can be read back, too. private: for the owner alone, not for whom the umask lets in."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as out:
            yield cast(BinaryIO, out)
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """UTF-8 text with \\n."""
    with whole_bytes(path) as out:
        text = io.TextIOWrapper(out, encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.detach()  # flushes, too
