"""Write files completely or not at all.

A file is written next to its target and renamed. If the target cannot be replaced (a device, a
pipe, an open descriptor), the bytes are copied into it once they are complete.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

MAX_LINKS = 40
"""Maximum number of symbolic links that Linux follows in a row."""


def find_descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the descriptor of this process that the path refers to (`/dev/stdout`, `/dev/fd/3`, a
    link to one), or None."""
    for _ in range(MAX_LINKS):
        folder, name = os.path.split(os.path.abspath(path))
        folder = os.path.realpath(folder)
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and name.isdecimal():
            return int(name)
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def has_to_be_overwritten(path: str | os.PathLike[str]) -> bool:
    """Return whether the existing target must be overwritten: a device, a pipe, an open descriptor,
    or a file that a new one could not replace with the same owner."""
    if find_descriptor(path) is not None:
        return True
    try:
        old = os.stat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(old.st_mode) or not _is_writable_folder(
        Path(os.path.realpath(path)).parent
    ):
        return True
    user = os.geteuid()
    return user not in (0, old.st_uid) or (
        user != 0 and old.st_gid not in (os.getegid(), *os.getgroups())
    )


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise OSError, with a message for users, if this file cannot be written. Called before long
    computations as well as after them."""
    if os.fspath(path) == "-":
        raise OSError(
            errno.EINVAL,
            "data files cannot be written to standard output, expected a file name",
            "-",
        )
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "is a folder, expected a file name in it", str(path))
    descriptor = find_descriptor(path)
    if descriptor is not None:
        try:
            os.fstat(descriptor)
        except OSError as error:
            raise OSError(error.errno, "this file descriptor is not open", str(path)) from None
    elif os.path.exists(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(
                errno.EACCES, "no permission to write this file; choose another one", str(path)
            )
    else:
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, f"the folder {folder} does not exist; create it first", str(path)
            )
        if not _is_writable_folder(folder):
            raise PermissionError(
                errno.EACCES,
                f"no permission to write to the folder {folder}; choose another one",
                str(path),
            )


def _is_writable_folder(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


@contextmanager
def write_bytes_atomically(
    path: str | os.PathLike[str], *, private: bool = False
) -> Iterator[BinaryIO]:
    """Open a file for writing and reading back. It replaces the target when the block ends without
    an error.

    Symbolic links are followed and kept. An existing file keeps its permissions and owner. private:
    only the owner may read the file, which replaces any existing target.
    """
    if not private:
        check_writable(path)
        if has_to_be_overwritten(path):
            with _write_through(path) as out:
                yield out
            return
    target = Path(path if private else os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    try:
        with os.fdopen(handle, "w+b") as out:
            yield cast(BinaryIO, out)
        if not private:
            _copy_permissions(temporary, target)
        os.replace(temporary, target)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        if error.filename in (None, temporary):  # the path that the user gave
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def _write_through(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that is copied into the target when the block ends without an error."""
    with tempfile.TemporaryFile() as whole:
        yield cast(BinaryIO, whole)
        whole.seek(0)
        descriptor = find_descriptor(path)
        try:
            with (
                open(path, "wb")
                if descriptor is None
                else os.fdopen(os.dup(descriptor), "wb") as out
            ):
                shutil.copyfileobj(whole, out)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _copy_permissions(temporary: str, target: Path) -> None:
    """Give a file the permissions and owner of the target that it will replace, or those of a new
    file if there is none."""
    try:
        old = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        return
    new = os.stat(temporary)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.chown(temporary, old.st_uid, old.st_gid)
    os.chmod(temporary, stat.S_IMODE(old.st_mode))


@contextmanager
def write_text_atomically(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    r"""Open a file as `write_bytes_atomically` does, for UTF-8 text with \n as line end."""
    with write_bytes_atomically(path) as out:
        text = io.TextIOWrapper(out, encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.detach()  # also flushes
