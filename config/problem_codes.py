"""The meaning of each `code` of an API error, for the page that its `type` links to."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

CODES = {
    "already_judged": "You have judged this document since, on another device or in another tab. That judgement stays.",
    "authentication_failed": "The token is not valid or has ended. Create another on the account page.",
    "busy": "The server has more to do than it can answer in time. Send the same request again after Retry-After.",
    "draft": "The campaign is not open yet.",
    "excluded": "You no longer take part in this campaign.",
    "forbidden": "You may not do this.",
    "grade_and_reason": "A judgement has either a grade or a reason why the document cannot be judged.",
    "grade_unknown": "The campaign's scale has no such grade.",
    "guideline_unknown": "The guidelines have no such version.",
    "key_reused": "Another request was sent with this Idempotency-Key. Use a new key for a new request.",
    "lease_unknown": "This document was not assigned to you in this campaign.",
    "judgement_unknown": "You have no such judgement.",
    "machine": "An LLM judge does not take an annotator's place.",
    "malformed": "The request cannot be read or contradicts itself. `errors` says for each field what is wrong.",
    "message_unknown": "There is no such message.",
    "method_not_allowed": "This address does not take this method.",
    "near_duplicates_off": "This campaign does not compare documents.",
    "not_acceptable": "The answer cannot be given in a type that Accept names.",
    "not_aside": "You have not skipped this document.",
    "not_authenticated": "Send a token (Authorization: Bearer ...) or sign in.",
    "not_found": "There is nothing at this address, or you may not know of it.",
    "not_signed_in": "User name and password do not match, or too many attempts failed. `detail` says which.",
    "internal_error": "Something went wrong on the server. Its log has the details under `request`.",
    "out_of_scope": "The token's scopes do not reach this. Create another token on the account page.",
    "pair_unknown": "This document was not assigned to you in this campaign.",
    "parse_error": "The body is not valid JSON or not a valid form.",
    "permission_denied": "You may not do this, or a session's request came without its CSRF token.",
    "qualification_final": "Answers to qualification questions cannot be changed, because their solutions were shown.",
    "question_answered": "The manager has answered the question meanwhile, so it stays.",
    "question_empty": "The question has no text.",
    "question_too_long": "The question is too long.",
    "question_unknown": "You have no such question with an answer.",
    "reason_missing": "A document that cannot be judged needs a reason.",
    "refused": "What was asked for conflicts with how things stand. `detail` says why.",
    "removed": "The topic of this document was removed from the campaign.",
    "signed_out": "You are signed out. Sign in and send the same request again.",
    "span_outside": "Marked text lies outside the document.",
    "span_required": "This grade needs marked text.",
    "spans_off": "This campaign does not ask for marked text.",
    "taken": "Other annotators have this document now.",
    "token_invalid": "The token is not valid or has ended. Create another on the account page.",
    "too_large": "The body is longer than the server reads.",
    "too_many_questions": "Too many of your questions wait for an answer.",
    "unavailable": "The database or the disk is away for a moment. Send the same request again after Retry-After.",
    "unsupported_media_type": "This address does not read bodies of this type.",
}


@require_safe
def problem_page(request: HttpRequest) -> HttpResponse:
    return render(request, "config/problem_codes.html", {"codes": sorted(CODES.items())})
