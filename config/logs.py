"""How the log's lines look: text, or JSON for machines; each with the id of the request to which it
belongs."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest

from pooling.platform.requests import current_request_id, loggable_path, loggable_url

LINE_FORMAT = "{asctime} {levelname} {name}: {message}"


class LineFormatter(logging.Formatter):
    """The number stands at the end of the first line, before the trace of an error."""

    def format(self, record: logging.LogRecord) -> str:
        text, number = super().format(record), current_request_id()
        first, newline, rest = text.partition("\n")
        return f"{first} [{number}]{newline}{rest}" if number else text


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record_as_json: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request": current_request_id(),
            **getattr(record, "figures", {}),
        }
        if record.exc_info:
            record_as_json["trace"] = self.formatException(record.exc_info)
        return json.dumps(record_as_json, ensure_ascii=False)


class RedactSecretsFilter(logging.Filter):
    """Django names the path of what it refuses and of what failed (escaped, where it is not plain);
    a link's secret may stand in it. Of a host that is none of ours a line is enough: whoever looks
    for open doors asks for many, and each left a trace of our code."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            told, paths = (
                loggable_path(request),
                (request.path, request.path.encode("unicode_escape").decode("ascii")),
            )
            record.args = tuple(told if given in paths else given for given in record.args)
        if record.name == "django.security.DisallowedHost":
            record.exc_info = None
        return True


class GunicornFilter(logging.Filter):
    """gunicorn writes what it could not read of a request (a line with the secret of a link, a
    header with a session) and the whole address of one that failed: here stand the kind of the
    fault, and the address as a log may have it."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = str(record.msg)
        if message.startswith("Invalid request from ip="):
            fault = sys.exc_info()[0]
            record.msg, record.args = (
                "A request that cannot be read was refused: %s",
                (fault.__name__ if fault else "no reason is known",),
            )
        elif message.startswith("Error handling request %s") and isinstance(record.args, tuple):
            record.args = tuple(loggable_url(str(given)) for given in record.args)
        return True


def reformat_logger(name: str, style: str) -> None:
    """The lines of this logger, which has handlers of its own, look like all others. style: line or
    json"""
    for handler in logging.getLogger(name).handlers:
        handler.setFormatter(
            JsonFormatter() if style == "json" else LineFormatter(LINE_FORMAT, style="{")
        )
        handler.addFilter(GunicornFilter())


def logging_settings(level: str, *, style: str, access: bool) -> dict[str, Any]:
    """Django's LOGGING. style: line or json; access: whether each request is told."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"()": "config.logs.LineFormatter", "format": LINE_FORMAT, "style": "{"},
            "json": {"()": "config.logs.JsonFormatter"},
        },
        "filters": {"no secrets": {"()": "config.logs.RedactSecretsFilter"}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": style,
                "filters": ["no secrets"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "assay.access": {"level": "INFO" if access else "WARNING"},
            "django.request": {
                "level": "ERROR"
            },  # a page that is not there or forbidden is no event
        },
    }
