"""What an analysis returns."""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
"""The JSON object of an analysis (docs/commands.md)."""
