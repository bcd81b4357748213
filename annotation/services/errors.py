"""Errors that a user can fix.

CampaignError      an error of a manager, as one sentence for the page
├ Contradictory    invalid for every campaign: the API answers 400, and 409 to the others
└ AnswerRefused    an annotator's answer is refused, with a code for the page and an HTTP status
"""

from __future__ import annotations


class CampaignError(Exception):
    """Raised if a manager's action is not possible. The message states the problem and a fix in
    one sentence."""


class ContradictionError(CampaignError):
    pass


class AnswerRefused(CampaignError):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status
