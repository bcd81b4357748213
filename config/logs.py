"""How the log's lines look: text, or JSON for machines; each with the id of the request to which it belongs."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from pooling.requests import current_id


class LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text, number = super().format(record), current_id()
        return f"{text} [{number}]" if number and "\n" not in text else text


class Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record_as_json: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request": current_id(),
            **getattr(record, "figures", {}),
        }
        if record.exc_info:
            record_as_json["trace"] = self.formatException(record.exc_info)
        return json.dumps(record_as_json, ensure_ascii=False)


def described(level: str, *, style: str, access: bool) -> dict[str, Any]:
    """Django's LOGGING. style: line or json; access: whether each request is told."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"()": "config.logs.LineFormatter", "format": "{asctime} {levelname} {name}: {message}", "style": "{"},
            "json": {"()": "config.logs.Json"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": style}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "assay.access": {"level": "INFO" if access else "WARNING"},
            "django.request": {"level": "ERROR"},  # a page that is not there or forbidden is no event
            "kombu.connection": {"level": "ERROR"},  # has no host where the worker feeds itself
        },
    }
