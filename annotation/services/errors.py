"""Refusals that a person can act on.

CampaignError      a manager's mistake, as one sentence for the page
├ Contradictory    one that makes no sense whatever the campaign is like: the API answers 400, and
409 to the others
└ AnswerRefused    an annotator's answer that is not accepted, with a code for the page and an HTTP
status
"""

from __future__ import annotations


class CampaignError(Exception):
    """One sentence that says what is wrong and what to do."""


class ContradictionError(CampaignError):
    pass


class AnswerRefused(CampaignError):
    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status
