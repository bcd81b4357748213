"""Repeatable requests through the header Idempotency-Key, as in other APIs.

The first request with a key is executed, and its response is stored in the same transaction.
Repeating the request returns that response without executing it. A different request by the same
user with the same key is refused. A failed request stores nothing and may be repeated.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.http import QueryDict
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from pooling.api.problems import malformed_error
from pooling.models import KeptAnswer

HEADER, REPEATED = "Idempotency-Key", "Idempotent-Replayed"
KEPT_FOR = timedelta(hours=24)
KEY_PATTERN = re.compile(r"[!-~]{1,255}")


class KeyReused(APIException):
    status_code, default_code = 422, "key_reused"
    default_detail = (
        "Another request was sent with this Idempotency-Key. Use a new key for a new request."
    )


def make_idempotent(post: Callable[..., Response]) -> Callable[..., Response]:
    """Wrap a POST handler so that it creates its object run_once per key."""

    @wraps(post)
    def run_once(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return post(view, request, *args, **kwargs)
        if not KEY_PATTERN.fullmatch(key):
            raise malformed_error(f"{HEADER} must have 1 to 255 ASCII characters without spaces.")
        # reading the body may take long, so it happens before the transaction
        request_digest = digest_request(request)
        KeptAnswer.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
        with transaction.atomic():
            # A simultaneous request waits here for the transaction of the first one.
            kept, is_first = KeptAnswer.objects.get_or_create(
                user=request.user, key=key, defaults={"digest": request_digest}
            )
            if not is_first:
                if kept.digest != request_digest:
                    raise KeyReused
                return Response(
                    kept.body, status=kept.status, headers={**kept.headers, REPEATED: "true"}
                )
            answer = post(view, request, *args, **kwargs)
            kept.status, kept.headers = (
                answer.status_code,
                {name: answer[name] for name in ("Location",) if answer.has_header(name)},
            )
            kept.body = json.loads(json.dumps(answer.data, cls=DjangoJSONEncoder))
            kept.save()
            return answer

    run_once.is_repeatable = True  # type: ignore[attr-defined]  # for the API's document
    return run_once


def digest_request(request: Request) -> str:
    """Return the SHA-256 of method, address and parsed body."""
    said = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    data = request.data
    if isinstance(data, QueryDict):
        for name, values in sorted(data.lists()):
            for value in values:
                said.update(f"{len(name)} {name} ".encode())
                _add_value(said, value)
    else:
        said.update(json.dumps(data, sort_keys=True, default=str).encode())
    return said.hexdigest()


def _add_value(digest: Any, value: Any) -> None:
    if not isinstance(value, UploadedFile):
        digest.update(f"text {len(value)} {value}".encode())
        return
    digest.update(f"file {value.name} {value.size} ".encode())
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
