"""A manager's mistake as the API says it."""

from __future__ import annotations

from rest_framework.exceptions import APIException

from annotation.services.errors import CampaignError, Contradictory
from pooling.api.problems import malformed
from pooling.api.views import Conflict


def refusal_of(error: CampaignError) -> APIException:
    """400 for what makes no sense, 409 for what cannot be done as things stand."""
    return malformed(str(error)) if isinstance(error, Contradictory) else Conflict(str(error))
