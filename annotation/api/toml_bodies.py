"""Bodies of requests in TOML: the file that `assay campaign apply` takes, as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from assay.formats.errors import FormatError
from assay.formats.toml_text import read_toml


class TomlBody(dict[str, Any]):
    """The content, with the text from which it was read, so that mistakes can be told with their
    line."""

    def __init__(self, content: Mapping[str, Any], text: str) -> None:
        super().__init__(content)
        self.text = text


class TomlParser(BaseParser):
    media_type = "application/toml"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> TomlBody:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ParseError("A byte that is not UTF-8, expected TOML in UTF-8.") from None
        try:
            return TomlBody(read_toml("body", text), text)
        except FormatError as error:
            raise ParseError(str(error)) from None
