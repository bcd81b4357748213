"""Run independent pieces of work in several processes. The result does not depend on the number of
processes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

_context: tuple[Callable[[Any, Any], Any], Any] | None = None
"""In a worker process: the function, and the data that all pieces share."""


def map_in_processes(
    function: Callable[[Any, Piece], Result],
    pieces: Iterable[Piece],
    *,
    processes: int = 1,
    shared: Any = None,
) -> Iterator[Result]:
    """Run a function on many pieces in worker processes. Yield function(shared, piece) in the order
    of the pieces, as soon as the result and those before it are complete.

    function: defined at the top level of a module. shared: sent to each worker once. The workers
    are terminated if the caller stops early or is interrupted.
    """
    pieces = list(pieces)
    if processes == 1 or len(pieces) < 2:
        for piece in pieces:
            yield function(shared, piece)
        return
    import multiprocessing  # a single process, the usual case, does not need it

    with multiprocessing.Pool(
        min(processes, len(pieces)), _start_worker, (function, shared)
    ) as pool:
        yield from pool.imap(_run_piece, pieces)


def _start_worker(function: Callable[[Any, Any], Any], shared: Any) -> None:
    global _context
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the interrupted parent terminates its workers
    _context = (function, shared)


def _run_piece(piece: Any) -> Any:
    assert _context is not None
    function, shared = _context
    return function(shared, piece)
