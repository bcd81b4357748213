"""The API of a campaign's LLM judges, for its managers."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.refusals import to_api_exception
from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, LlmJudge
from annotation.permissions import get_managed_campaign, get_person
from annotation.selectors import llm_judges as selectors
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from annotation.services.llm_judges import judges as llm_judges
from annotation.services.llm_judges.judges import CallLimits, JudgeOptions
from annotation.views.llm_judges import labels_response
from pooling.api.bodies import StrictSerializer, TextField
from pooling.api.repeats import make_idempotent
from pooling.api.serializers import JobSerializer
from pooling.api.views import accepted_response
from pooling.permissions import get_row_or_404


class LlmJudgeSerializer(StrictSerializer):
    """An LLM judge with its counts. prompt: `grade`, `reasons` or a custom text, and in answers its
    name. cost: sum so far."""

    id = serializers.IntegerField(read_only=True)
    name = TextField(max_length=100)
    kind = serializers.ChoiceField(choices=LlmJudge.Source.choices, read_only=True)
    model = TextField(max_length=200)
    endpoint = TextField(max_length=300)
    prompt = TextField(max_length=20_000, default="grade")
    samples = serializers.IntegerField(min_value=1, max_value=50, default=1)
    temperature = serializers.FloatField(min_value=0, max_value=2, default=0.0, write_only=True)
    most_tokens = serializers.IntegerField(
        min_value=1, max_value=100_000, default=400, write_only=True
    )
    threads = serializers.IntegerField(min_value=1, max_value=32, default=4, write_only=True)
    per_minute = serializers.IntegerField(
        min_value=1, max_value=100_000, allow_null=True, default=None, write_only=True
    )
    price_in = serializers.FloatField(min_value=0, max_value=1e6, default=0.0, write_only=True)
    price_out = serializers.FloatField(min_value=0, max_value=1e6, default=0.0, write_only=True)
    most_cost = serializers.FloatField(
        min_value=0, max_value=1e9, allow_null=True, default=None, write_only=True
    )
    related = TextField(max_length=500, allow_blank=True, default="")
    pairs = serializers.IntegerField(read_only=True)
    labelled = serializers.IntegerField(read_only=True)
    outcomes = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    troubles = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    calls = serializers.IntegerField(read_only=True)
    tokens = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    cost = serializers.FloatField(read_only=True)
    estimate = serializers.DictField(
        read_only=True,
        allow_null=True,
        help_text="estimated calls, tokens_in, tokens_out and cost of missing answers",
    )
    frozen_at = serializers.DateTimeField(read_only=True, allow_null=True)
    digest = TextField(read_only=True)


def serialize_judge(judge: LlmJudge) -> dict[str, Any]:
    return _serialize_judge(judge, selectors.count_answers(judge))


def _serialize_judge(judge: LlmJudge, counts: selectors.AnswerCounts) -> dict[str, Any]:
    asked = judge.source == LlmJudge.Source.ENDPOINT and judge.frozen_at is None
    same = {
        name: getattr(judge, name)
        for name in ("name", "model", "endpoint", "samples", "related", "frozen_at", "digest")
    }
    return {
        "id": judge.pk,
        **same,
        "kind": judge.source,
        "prompt": judge.prompt_name,
        "pairs": counts.pairs,
        "labelled": counts.labelled,
        "outcomes": counts.outcomes,
        "troubles": counts.troubles,
        "calls": counts.calls,
        "tokens": {"in": counts.tokens_in, "out": counts.tokens_out},
        "cost": counts.cost,
        "estimate": selectors.estimate_judge_cost(judge)._asdict() if asked else None,
    }


def _get_judge(campaign: Campaign, pk: int) -> LlmJudge:
    return get_row_or_404(
        campaign.llm_judges.select_related("campaign__pool", "campaign__collection"), pk=pk
    )


class LlmJudgeList(APIView):
    serializer_class = LlmJudgeSerializer

    @extend_schema(responses=LlmJudgeSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the LLM judges of the campaign."""
        campaign = get_managed_campaign(request, slug)
        judges = selectors.get_judges(campaign)
        counts = selectors.count_answers_by_judge(campaign, judges)
        return Response(
            LlmJudgeSerializer(
                [_serialize_judge(judge, counts[judge.pk]) for judge in judges], many=True
            ).data
        )

    @extend_schema(responses={201: LlmJudgeSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create an LLM judge that is called at one of the installation's endpoints. Labels from a
        file are uploaded on the page."""
        campaign = get_managed_campaign(request, slug)
        body = LlmJudgeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        limits = CallLimits(
            **{
                name: given.pop(name)
                for name in ("threads", "per_minute", "price_in", "price_out", "most_cost")
            }
        )
        try:
            judge = llm_judges.create_judge(
                campaign, JudgeOptions(**given, limits=limits), actor=get_person(request)
            )
        except CampaignError as error:
            raise to_api_exception(error) from None
        location = {"Location": reverse("api-llm-judge", args=[slug, judge.pk])}
        return Response(
            LlmJudgeSerializer(serialize_judge(judge)).data,
            status=status.HTTP_201_CREATED,
            headers=location,
        )


class LlmJudgeDetail(APIView):
    serializer_class = LlmJudgeSerializer

    @extend_schema(operation_id="campaigns_llm_judges_retrieve_one", responses=LlmJudgeSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return an LLM judge."""
        return Response(
            LlmJudgeSerializer(
                serialize_judge(_get_judge(get_managed_campaign(request, slug), pk))
            ).data
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete an LLM judge that is not frozen."""
        judge = _get_judge(get_managed_campaign(request, slug), pk)
        try:
            llm_judges.delete_judge(judge, actor=get_person(request))
        except CampaignError as error:
            raise to_api_exception(error) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


class RunLlmJudge(APIView):
    serializer_class = JobSerializer

    @extend_schema(
        operation_id="campaigns_llm_judges_run", request=None, responses={202: JobSerializer}
    )
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Start the job that requests missing answers."""
        judge = _get_judge(get_managed_campaign(request, slug), pk)
        try:
            job = llm_judges.request_run(judge, user=request.user)
        except CampaignError as error:
            raise to_api_exception(error) from None
        return accepted_response(job)


class FreezeLlmJudge(APIView):
    serializer_class = LlmJudgeSerializer

    @extend_schema(
        operation_id="campaigns_llm_judges_freeze", request=None, responses=LlmJudgeSerializer
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Freeze an LLM judge. Its labels can no longer change."""
        judge = _get_judge(get_managed_campaign(request, slug), pk)
        try:
            llm_judges.freeze_judge(judge, actor=get_person(request))
        except CampaignError as error:
            raise to_api_exception(error) from None
        return Response(LlmJudgeSerializer(serialize_judge(judge)).data)


class LlmLabels(APIView):
    serializer_class = LlmJudgeSerializer

    @extend_schema(
        operation_id="campaigns_llm_judges_labels",
        responses={
            (200, "text/plain"): OpenApiResponse(
                OpenApiTypes.BINARY, description="qrels of an LLM judge, as the first line states"
            )
        },
    )
    def get(self, request: Request, slug: str, pk: int) -> Any:
        """Download the labels of an LLM judge."""
        campaign = get_managed_campaign(request, slug)
        judge = _get_judge(campaign, pk)
        record_event(
            campaign,
            get_person(request),
            AuditAction.EXPORTED,
            f"labels of the LLM judge {judge.name}",
        )
        return labels_response(judge)
