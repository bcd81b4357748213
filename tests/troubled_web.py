"""The web server's worker with troubles that a test makes by files in the folder TROUBLE: `threads`
(those of the next process die as they begin), `load` (the program cannot be loaded), `still` (the
main loop stands still), `thread` (an error ends one of those that answer). And a web application of
which some addresses fail."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from logging.config import dictConfig
from pathlib import Path
from typing import Any

from config import environment, logs, web

dictConfig(
    logs.described("WARNING", style=environment.choice("LOG_FORMAT", "line", "json"), access=False)
)  # as Django does it
FOLDER = Path(os.environ["TROUBLE"])
web.THREADS_SECONDS = 3.0


def stand_still() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


class Worker(web.Worker):
    def get_thread_pool(self) -> ThreadPoolExecutor:
        if (FOLDER / "load").exists():
            raise MemoryError("no memory to load the program")
        if (FOLDER / "threads").exists():
            (FOLDER / "threads").unlink()
            threading.Thread._bootstrap = lambda thread: None  # type: ignore[attr-defined]
        return super().get_thread_pool()

    def murder_pending(self) -> None:
        super().murder_pending()
        if (FOLDER / "still").exists():
            (FOLDER / "still").unlink()
            stand_still()
        if (FOLDER / "thread").exists():
            (FOLDER / "thread").unlink()
            self.tpool._work_queue.put("no work")


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"].startswith("/join/"):
        raise RuntimeError("a mistake of ours")
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
