"""Log formats: text or JSON, each line with the ID of its request."""

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
    """Log formatter that appends the request ID to the first line of a record, before any
    traceback."""

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
    """Log filter that removes secrets from the paths of links in Django's messages.

    Requests for unknown hosts, usually from scanners, are logged in one line without a traceback.
    """

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
    """Log filter for gunicorn's messages about failed or unreadable requests, which contain full
    URLs and session cookies. It keeps only the error type and the redacted URL."""

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
    """Give a logger that has its own handlers the format of all other loggers. style: line or
    json."""
    for handler in logging.getLogger(name).handlers:
        handler.setFormatter(
            JsonFormatter() if style == "json" else LineFormatter(LINE_FORMAT, style="{")
        )
        handler.addFilter(GunicornFilter())


def logging_settings(level: str, *, style: str, access: bool) -> dict[str, Any]:
    """Return Django's LOGGING. style: line or json. access: log each request."""
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
            "django.request": {"level": "ERROR"},  # a missing or forbidden page is not an event
        },
    }
