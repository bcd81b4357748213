"""Errors that a user can fix.

CampaignError           a manager's action that is not possible: the API answers 409
├ ContradictionError    a request invalid for every campaign: the API answers 400
└ AnswerRefused         a refused answer of an annotator, with a code for the page and an HTTP status
"""

from __future__ import annotations


class CampaignError(Exception):
    """Raised if a manager's action is not possible. The message is shown on the page and states
    the problem, followed by a fix if there is one."""


class ContradictionError(CampaignError):
    pass


class AnswerRefused(CampaignError):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status
