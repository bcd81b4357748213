"""API of additional judgements for selected pairs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.dashboard import additional_judgements as previews
from annotation.api.refusals import to_api_exception
from annotation.permissions import get_managed_campaign
from annotation.selectors.pairs import get_kept_pairs
from annotation.services.errors import CampaignError
from annotation.services.judging import additional_judgements
from pooling.api.bodies import StrictSerializer, TextField
from pooling.api.repeats import make_idempotent


class PairNameSerializer(StrictSerializer):
    topic = TextField()
    document = TextField()


class AdditionalJudgementsRequestSerializer(StrictSerializer):
    pairs = PairNameSerializer(many=True, allow_empty=False)
    withdraw = serializers.BooleanField(
        default=False,
        help_text="withdraw a request that has not been judged yet, instead of adding one",
    )
    preview = serializers.BooleanField(
        default=False, help_text="show the result without changing anything"
    )


class AdditionalJudgementsResultSerializer(serializers.Serializer):
    pairs = serializers.IntegerField(help_text="number of pairs that get (or lose) one judgement")
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text="reason -> number of pairs"
    )
    judged_by_all = serializers.IntegerField(
        help_text="pairs that every active annotator has judged: they need a new annotator"
    )
    missing = serializers.IntegerField(help_text="judgements then missing in the campaign")
    expected = serializers.DateTimeField(
        allow_null=True,
        help_text="expected time of the last judgement; null without a forecast",
    )


class AskedPairSerializer(PairNameSerializer):
    asked_more = serializers.IntegerField(
        help_text="judgements requested beyond the campaign's number"
    )
    judgements = serializers.IntegerField(help_text="that count")
    needed = serializers.IntegerField(help_text="total judgements")


class AdditionalJudgementsView(APIView):
    serializer_class = AdditionalJudgementsRequestSerializer

    @extend_schema(
        responses=AskedPairSerializer(many=True),
        operation_id="campaigns_additional_judgements_list",
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the pairs for which managers requested additional judgements, by topic and document."""
        rows = get_kept_pairs(get_managed_campaign(request, slug)).filter(asked_more__gt=0)
        names = ("topic", "document", "asked_more", "judgements", "needed")
        fields = ("entry__topic__topic_id", "entry__docno", "asked_more", "counted", "needed")
        return Response(
            [dict(zip(names, row, strict=True)) for row in sorted(rows.values_list(*fields))]
        )

    @extend_schema(
        request=AdditionalJudgementsRequestSerializer,
        responses=AdditionalJudgementsResultSerializer,
        operation_id="campaigns_additional_judgements",
    )
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Request one more judgement for each pair, by an annotator who has not judged it. Pairs
        that cannot get one are left out."""
        campaign = get_managed_campaign(request, slug)
        body = AdditionalJudgementsRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        wanted, actor = body.validated_data, cast(User, request.user)
        try:
            ids = additional_judgements.get_pair_ids(
                campaign,
                list(dict.fromkeys((pair["topic"], pair["document"]) for pair in wanted["pairs"])),
            )
            shown = previews.preview_additional_judgements(
                campaign, ids, is_withdrawal=wanted["withdraw"]
            )
            if not wanted["preview"]:
                deed = (
                    additional_judgements.undo_additional_judgement
                    if wanted["withdraw"]
                    else additional_judgements.request_additional_judgement
                )
                deed(campaign, ids, actor=actor)
        except CampaignError as error:
            raise to_api_exception(error) from None
        at = shown.after.expected
        answer: dict[str, Any] = {
            **{
                "pairs": shown.n,
                "left_out": shown.chosen.refused,
                "judged_by_all": shown.chosen.judged_by_all,
            },
            **{
                "missing": shown.after.missing,
                "expected": None if at is None else datetime.fromtimestamp(at, UTC),
            },
        }
        return Response(AdditionalJudgementsResultSerializer(answer).data)
