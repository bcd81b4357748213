"""Bodies of requests to the API, as far as the framework leaves open what becomes of those that
nobody sends in good faith."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework import parsers
from rest_framework.exceptions import ParseError


class JsonBody(parsers.JSONParser):
    """JSON nested too deeply to be read is malformed, too; the framework took it for a mistake of
    ours."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return super().parse(stream, media_type, dict(parser_context or {}))
        except RecursionError:
            raise ParseError("JSON parse error - it is nested too deeply.") from None
