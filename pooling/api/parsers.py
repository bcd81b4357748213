"""Parsers of request bodies that handle malformed input which REST framework does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError


class JsonBody(parsers.JSONParser):
    """JSON parser that reports JSON nested too deeply as malformed, instead of failing with an
    internal error."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().parse(stream, media_type, dict(parser_context or {}))
        except RecursionError:
            raise ParseError("JSON parse error - the document is nested too deeply.") from None
