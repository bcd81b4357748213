"""A fault in which the machine's clock is set: the time of all processes of the installation
changes from one moment to the next."""

from __future__ import annotations

import mmap
import shutil
import struct
import subprocess
from pathlib import Path

from tests.soak.servers import Unavailable

SOURCE = Path(__file__).with_name("set_clock.c")


class SetClock:
    """An adjustable clock for processes that are started with `environment`."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise Unavailable("a clock that can be set needs a C compiler")
        library, self.file = folder / "set_clock.so", folder / "clock"
        made = subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise Unavailable(f"a clock that can be set: {made.stderr[-300:]}")
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "SOAK_CLOCK": str(self.file)}

    def set(self, seconds: int) -> None:
        """Set the clocks of all processes at once to the true time plus this offset."""
        if not self.file.exists():
            self.file.write_bytes(struct.pack("q", 0))
        with self.file.open("r+b") as file, mmap.mmap(file.fileno(), 8) as memory:
            memory[:8] = struct.pack("q", seconds)
