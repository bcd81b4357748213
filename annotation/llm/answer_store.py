"""Answers of an LLM judge in a file with one line per event, so that an interrupted run can resume.

A line is flushed to disk before a call is made (asked) and after its answer (answered). A call
without an answer was lost when the program ended. It is repeated with the same key, so that an
endpoint with support for idempotency keys returns the first answer without a second call.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.cli.base import BadInput


class AnswerStore:
    """A file of answers, used as a context manager by one program at a time. answers: answers by
    key. asked: keys of started calls."""

    def __init__(self, path: str, setting: Mapping[str, Any]) -> None:
        """Open the store. setting: everything that makes answers comparable (model, prompt, scale
        …). Raises BadInput if the file has another setting, is in use, or is not a store."""
        self.path, self.setting = path, dict(setting)
        self.answers: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, int] = {}
        self.lock = threading.Lock()

    def __enter__(self) -> AnswerStore:
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self.file)
            raise BadInput(f"{self.path}: another program is writing to this file") from None
        try:
            self._load()
        except BaseException:
            os.close(self.file)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self.file)

    def _load(self) -> None:
        content = Path(self.path).read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            # an incomplete line that was being written when the program ended
            os.ftruncate(self.file, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                row = json.loads(line)
                self._index_row(row, number)
            except BadInput:
                raise
            except (ValueError, KeyError, TypeError):
                raise BadInput(
                    f"{self.path}:{number}: not an answer of an LLM judge, expected a file written with --store; name another file"
                ) from None
        if not whole:
            self._write({"setting": self.setting})

    def _index_row(self, row: dict[str, Any], number: int) -> None:
        if number == 1:
            differing = [
                key
                for key in {**row["setting"], **self.setting}
                if row["setting"].get(key) != self.setting.get(key)
            ]
            if differing:
                raise BadInput(
                    f"{self.path}: its answers were made with a different {', '.join(sorted(differing))}. "
                    "Name another file with --store, or use the same settings"
                )
        elif "asked" in row:
            self.asked[row["asked"]] = self.asked.get(row["asked"], 0) + 1
        else:
            self.answers[row["key"]] = row

    def record_call(self, key: str) -> None:
        with self.lock:
            self.asked[key] = self.asked.get(key, 0) + 1
            self._write({"asked": key})

    def record_failure(self, key: str, error: str) -> None:
        """Ignore a failed call. The report of the run counts failures, and the file already records
        that the call was made."""

    def record_answer(self, key: str, row: Mapping[str, Any]) -> None:
        with self.lock:
            self.answers[key] = {"key": key, **row}
            self._write(self.answers[key])

    def _write(self, row: Mapping[str, Any]) -> None:
        os.write(self.file, (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8"))
        os.fsync(self.file)
