"""The threads of a web process."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from config.web import Worker


def test_all_are_there_before_the_first_request_so_that_the_main_loop_begins_none(monkeypatch):
    worker = Worker.__new__(Worker)
    worker.cfg = SimpleNamespace(threads=3)
    pool = worker.get_thread_pool()
    try:

        def begun(thread: threading.Thread) -> None:
            raise AssertionError(f"{thread.name} is begun")

        monkeypatch.setattr(threading.Thread, "start", begun)
        together = threading.Barrier(3)
        at_once = [pool.submit(together.wait, 60) for _ in range(3)]
        assert sorted(place.result(90) for place in at_once) == [0, 1, 2]
    finally:
        pool.shutdown()
