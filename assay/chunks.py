"""Independent pieces of work, spread over processes. The result never depends on how many there
are."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_context: tuple[Callable[[Any, Any], Any], Any] | None = None
"""In a worker: the function and what all pieces share."""


def map_in_processes(
    function: Callable[[Any, Piece], Result],
    pieces: Iterable[Piece],
    *,
    processes: int = 1,
    shared: Any = None,
) -> Iterator[Result]:
    """function(shared, piece) of every piece, in the order of the pieces, each as soon as it and
    those before it are done.

    function is one of a module's top level. shared goes to each worker once. When the caller stops
    early or is interrupted, the workers are ended."""
    pieces = list(pieces)
    if processes == 1 or len(pieces) < 2:
        for piece in pieces:
            yield function(shared, piece)
        return
    import multiprocessing  # one process, the usual case, does without

    with multiprocessing.Pool(
        min(processes, len(pieces)), _start_worker, (function, shared)
    ) as pool:
        yield from pool.imap(_run_piece, pieces)


def _start_worker(function: Callable[[Any, Any], Any], shared: Any) -> None:
    global _context
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interrupted parent ends its workers
    _context = (function, shared)


def _run_piece(piece: Any) -> Any:
    assert _context is not None
    function, shared = _context
    return function(shared, piece)
