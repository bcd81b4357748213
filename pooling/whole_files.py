"""Files that appear whole under their name, or not at all."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast


def refuse_unwritable(path: str | os.PathLike[str]) -> None:
    """OSError, in words for a person, where no file of this name can be written: known before hours of computing as well as after them."""
    target = Path(path)
    if os.fspath(path) == "-":
        raise OSError(errno.EINVAL, "data files do not go to standard output, expected the name of a file", "-")
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder, expected the name of a file in it", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}, make it first", str(target))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"no right to write into the folder {target.parent}, name another one", str(target))


@contextmanager
def whole_bytes(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """It can be read back, too. private: for the owner alone, not for whom the umask lets in."""
    target = Path(path)
    refuse_unwritable(target)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as out:
            yield cast(BinaryIO, out)
        if not private:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        if error.filename in (None, temporary):  # the name that a person knows
            raise OSError(error.errno, error.strerror or str(error), str(target)) from error
        raise
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
