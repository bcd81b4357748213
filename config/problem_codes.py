"""Meanings of the `code` values of API errors, for the page to which each error's `type` links."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

CODES = {
    "already_judged": "You have already judged this document on another device or in another tab. That judgement is kept.",
    "authentication_failed": "The token is not valid or has expired. Create another one on the account page.",
    "busy": "The server is busy. Repeat the request after the time in Retry-After.",
    "draft": "This campaign is not open yet.",
    "excluded": "You no longer take part in this campaign.",
    "forbidden": "You don't have permission for this.",
    "grade_and_reason": "A judgement has either a grade or a reason why the document cannot be judged.",
    "grade_unknown": "The grade is not on the campaign's scale.",
    "guideline_unknown": "This version of the guidelines does not exist.",
    "key_reused": "Another request was sent with this Idempotency-Key. Use a new key for a new request.",
    "lease_unknown": "This document was not assigned to you in this campaign.",
    "judgement_unknown": "You have no judgement with this ID.",
    "llm_judge": "LLM judges cannot be assigned pairs.",
    "malformed": "The request is not valid. `errors` lists the problem of each field.",
    "message_unknown": "You have no message with this ID.",
    "method_not_allowed": "This address does not support this method.",
    "near_duplicates_off": "This campaign does not compare documents.",
    "not_acceptable": "None of the content types in Accept is available.",
    "not_aside": "You have not skipped this document.",
    "not_authenticated": "Send a token (Authorization: Bearer ...) or sign in.",
    "not_for_preferences": "This address needs grades, and the campaign compares documents side by side.",
    "not_found": "The resource does not exist, or you don't have access to it.",
    "not_signed_in": "Username and password do not match, or there were too many failed attempts. `detail` says which.",
    "internal_error": "Something went wrong on the server. Its log has the details under `request`.",
    "out_of_scope": "The token's scopes do not allow this. Create another token on the account page.",
    "pair_unknown": "This document was not assigned to you in this campaign.",
    "parse_error": "The body is not valid JSON or not a valid form.",
    "permission_denied": "You don't have permission for this, or the CSRF token of the session is missing.",
    "qualification_final": "Answers to qualification questions cannot be changed, because their solutions were shown.",
    "question_answered": "A manager has already answered the question, so it cannot be withdrawn.",
    "question_empty": "The question has no text. Send a text.",
    "question_too_long": "The question is too long.",
    "question_unknown": "Question not found, or not answered yet.",
    "reason_missing": "A document that cannot be judged needs a reason.",
    "refused": "The request conflicts with the current state. `detail` says why.",
    "removed": "The topic of this document was removed from the campaign.",
    "signed_out": "You are signed out. Sign in and send the same request again.",
    "span_outside": "Marked text lies outside the document.",
    "span_required": "This grade needs marked text.",
    "spans_off": "This campaign does not ask for marked text.",
    "taken": "The document has been assigned to other annotators.",
    "token_invalid": "The token is not valid or has expired. Create another one on the account page.",
    "too_large": "The request body is too large.",
    "too_many_questions": "Too many of your questions wait for an answer.",
    "unavailable": "The database or the disk is temporarily unavailable. Repeat the request after the time in Retry-After.",
    "unsupported_media_type": "This address does not accept request bodies of this type.",
}


@require_safe
def problem_page(request: HttpRequest) -> HttpResponse:
    return render(request, "config/problem_codes.html", {"codes": sorted(CODES.items())})
