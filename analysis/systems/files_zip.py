"""The input files of a report's command as a zip archive, streamed without a copy in memory or on
disk."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO

from analysis.models import Report
from analysis.systems import reports
from analysis.systems.inputs import InputFile
from assay.column_types import RunColumns
from assay.formats.qrels import write_qrels
from assay.formats.runs import write_run

ZIP_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
"""Time of every file, so that equal reports give equal archives."""


class _StreamBuffer(io.RawIOBase):
    """A buffer that holds written bytes until they are sent."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        parts, self.parts = self.parts, []
        return b"".join(parts)


def stream_archive(report: Report) -> Iterator[bytes]:
    """Yield a zip archive in chunks: runs, qrels, tables, and the command as a shell script."""
    out = _StreamBuffer()
    with zipfile.ZipFile(out, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1) as packed:  # type: ignore[arg-type]
        for one in [InputFile.from_json(stored) for stored in report.inputs]:
            with packed.open(
                zipfile.ZipInfo(one.path, ZIP_TIMESTAMP), "w", force_zip64=True
            ) as file:
                for text in iterate_file_content(report, one):
                    file.write(text)
                    yield out.taken()
        packed.writestr(zipfile.ZipInfo("command.txt", ZIP_TIMESTAMP), report.command + "\n")
    yield out.taken()


def iterate_file_content(report: Report, one: InputFile) -> Iterable[bytes]:
    """Yield the content of one input file, topic by topic."""
    if one.path in report.files:
        yield reports.read_file(report, one.path)
    elif one.kind == "run":
        run = reports.load_run(one)
        for topic in range(len(run.topics)):
            yield _render_bytes(write_run, _select_topic(run, topic))
    else:
        yield _render_bytes(write_qrels, reports.load_qrels(report, one))


def _select_topic(run: RunColumns, topic: int) -> RunColumns:
    rows = run.rows(topic)
    return RunColumns(
        tag=run.tag,
        topics=[run.topics[topic]],
        offsets=run.offsets[topic : topic + 2] - run.offsets[topic],
        documents=run.documents[rows],
        scores=run.scores[rows],
        ranks=run.ranks[rows],
    )


def _render_bytes(write, value) -> bytes:  # type: ignore[no-untyped-def]
    out: IO[str] = io.StringIO()
    write(value, out)
    return out.getvalue().encode()  # type: ignore[attr-defined]
