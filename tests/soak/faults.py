"""All faults, by their names."""

from __future__ import annotations

from tests.soak import backends, processes
from tests.soak.trouble import Trouble

FAULTS: dict[str, Trouble] = {trouble.name: trouble for group in (processes, backends) for trouble in group.TROUBLES}
