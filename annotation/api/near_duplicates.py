"""Near-duplicates in the judging page's API: own judgements of documents very like the one on the
page, where the campaign allows it."""

from __future__ import annotations

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import shapes
from annotation.api.judging import JudgingView, answer_of, situation_of
from annotation.selectors.near_duplicates import given_pair, near_duplicates
from annotation.services.errors import AnswerRefused


class NearDuplicates(JudgingView):
    @extend_schema(
        responses=shapes.NearDuplicatesSerializer, operation_id="judging_near_duplicates"
    )
    def get(self, request: Request, slug: str, pair_id: int) -> Response:
        """Documents very like that of a pair which one was given, among those that one has graded
        in its topic, with one's own judgements.

        404 `near_duplicates_off` where the campaign does not allow it.
        """
        annotator = self.annotator(request, slug)
        if not annotator.campaign.show_near_duplicates:
            raise AnswerRefused(
                "near_duplicates_off", _("This campaign does not compare documents."), 404
            )
        pair = given_pair(annotator, pair_id)
        if pair is None:
            raise AnswerRefused(
                "pair_unknown", _("This document was not given to you by this campaign."), 404
            )
        return answer_of(situation_of(annotator), items=near_duplicates(annotator, pair))
