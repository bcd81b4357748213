"""Conversion of managers' errors to API errors."""

from __future__ import annotations

from rest_framework.exceptions import APIException

from annotation.services.errors import CampaignError, ContradictionError
from pooling.api.problems import malformed_error
from pooling.api.views import Conflict


def to_api_exception(error: CampaignError) -> APIException:
    """Return an API error: 400 for an invalid request, 409 if the current state does not allow
    it."""
    return (
        malformed_error(str(error))
        if isinstance(error, ContradictionError)
        else Conflict(str(error))
    )
