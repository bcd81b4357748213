"""Execution of an analysis command on stored runs and qrels, with the options chosen on the
page."""

from __future__ import annotations

import base64
import io
import json
import shlex
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from assay.analyses.shared.measures import InMemoryInputs, PiecewiseCommand, PieceworkPlan
from assay.calls import command_words, complete_options
from assay.cli.base import BadInput, error_message, to_json_types
from assay.cli.command_list import command_name, load_command
from assay.formats.errors import FormatError


class NotComputable(Exception):
    """A requested analysis cannot be computed. The message is the reason."""


class Analysis:
    """An analysis command with its inputs and options. folder: prefix of paths, removed from
    warnings. Raises NotComputable for options that the command refuses."""

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        stored: InMemoryInputs | None = None,
        folder: str = "",
    ) -> None:
        self.command = load_command(name)
        self.name, self.given, self.folder = name, arguments, folder
        self.warnings: list[str] = []
        self.command.stored = stored
        self.command.stderr = io.StringIO()
        self.command.warn = self._warn
        try:
            self.options = complete_options(self.command, arguments)
        except (TypeError, ValueError) as error:
            raise NotComputable(str(error)) from None

    def command_line(self) -> str:
        """Return the command line of the analysis, with paths relative to the folder of the
        files."""
        words = command_words(self.command, self.given)
        return shlex.join(["assay", *command_name(self.name).split(), *words, "--json"])

    def _warn(self, message: str) -> None:
        text = self._plain(message)
        if text not in self.warnings:
            self.warnings.append(text)

    def _plain(self, text: str) -> str:
        return text.replace(self.folder, "") if self.folder else text

    def plan(self) -> PieceworkPlan:
        """Return the computation split into pieces. Raises NotComputable."""
        assert isinstance(self.command, PiecewiseCommand)
        try:
            return self.command.plan(**self.options)
        except (BadInput, FormatError, OSError) as error:
            raise NotComputable(self._reason(error)) from None

    def compute(self) -> dict[str, Any]:
        """Run the analysis and return the command's JSON object. Raises NotComputable."""
        try:
            return self.finished(self.command.compute_result(self.options))
        except (BadInput, FormatError, OSError) as error:
            raise NotComputable(self._reason(error)) from None

    def _reason(self, error: Exception) -> str:
        text = "; ".join(error.lines()) if isinstance(error, FormatError) else error_message(error)
        return self._plain(text)

    def finished(self, result: dict[str, Any]) -> dict[str, Any]:
        """Convert a result to the form in which the command prints it: with its seed, and null for
        undefined values."""
        if self.command.takes_seed:
            result.setdefault("seed", self.options["seed"])
        answer: dict[str, Any] = json.loads(
            json.dumps(to_json_types(result), ensure_ascii=False, allow_nan=False)
        )
        return answer


def encode_result(value: Any) -> Any:
    """Encode the result of a piece as JSON without loss: arrays as bytes, a dataclass by its
    fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: encode_result(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value)
        return {
            "dtype": data.dtype.str,
            "shape": list(data.shape),
            "base64": base64.b64encode(data.tobytes()).decode("ascii"),
        }
    return value


def decode_result(value: Any, like: type | None) -> Any:
    """Decode a piece's result that `encode_result` encoded. like: the dataclass, or None for an
    array or a plain value."""
    if like is not None:
        return like(**{one.name: decode_result(value[one.name], None) for one in fields(like)})
    if isinstance(value, dict) and "base64" in value:
        return (
            np.frombuffer(base64.b64decode(value["base64"]), dtype=np.dtype(value["dtype"]))
            .reshape(value["shape"])
            .copy()
        )
    return value
