"""The list of all faults by name."""

from __future__ import annotations

from tests.soak import backends, clients, imports, limits, processes, releases
from tests.soak.trouble import Trouble

GROUPS = (processes, backends, limits, clients, imports, releases)
FAULTS: dict[str, Trouble] = {
    trouble.name: trouble for group in GROUPS for trouble in group.TROUBLES
}
