"""API of reports: available kinds, creation and results, with the services and permissions of the
pages."""

from __future__ import annotations

from typing import Any

from django.core.files.base import ContentFile
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.judgements.live import get_snapshot
from analysis.models import Report
from analysis.systems import answers, reports
from analysis.systems.kinds import KINDS
from analysis.systems.lists import read_lists
from analysis.systems.option_schema import make_options_schema
from analysis.systems.selectors import get_visible_report, ordered_result, visible_reports
from analysis.systems.top_ups import create_top_up
from annotation.permissions import can_create, get_managed_campaign
from assay.formats.errors import FormatError
from assay.measures.measures import UnknownMeasure
from pooling import tasks
from pooling.api.bodies import (
    ONE_OF_CAMPAIGN_AND_COLLECTION,
    SlugTextField,
    StrictSerializer,
    TextField,
)
from pooling.api.lists import ListFilter, choice_filter
from pooling.api.repeats import make_idempotent
from pooling.api.schema import problem_responses
from pooling.api.views import to_api_exception
from pooling.permissions import get_managed_collection
from pooling.platform.jobs import Refused

TYPE_CHOICES = [(name, name) for name in sorted(KINDS)]


class InputFileSerializer(serializers.Serializer):
    path = serializers.CharField(help_text="path in the report's folder")
    kind = serializers.CharField(help_text="run, qrels or file")
    name = serializers.CharField()
    origin = serializers.CharField(
        help_text="run:ID, imported:ID, labels of a campaign or recipe, or list for an upload"
    )
    digest = serializers.CharField(help_text="SHA-256; empty until the report is computed")
    rows = serializers.IntegerField(help_text="number of rows; 0 until the report is computed")


class ReportParametersSerializer(serializers.Serializer):
    """The request for a report, without the contents of lists."""

    runs = serializers.ListField(child=serializers.IntegerField(), required=False)
    qrels = serializers.ListField(child=serializers.CharField(), required=False)
    options = serializers.DictField(required=False)
    lists = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="paths of uploaded lists"
    )


class ReportSerializer(serializers.ModelSerializer):
    collection: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaign: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    state = serializers.SerializerMethodField()
    parameters = serializers.SerializerMethodField()
    inputs = serializers.SerializerMethodField()

    class Meta:
        model = Report
        fields: tuple[str, ...] = (
            "id",
            "kind",
            "title",
            "collection",
            "campaign",
            "parameters",
            "seed",
            "inputs",
            "input_digest",
            "code_version",
            "command",
            "job",
            "state",
            "warnings",
            "created_at",
            "finished_at",
        )

    @extend_schema_field(ReportParametersSerializer)
    def get_parameters(self, report: Report) -> dict[str, Any]:
        return report.parameters

    @extend_schema_field(InputFileSerializer(many=True))
    def get_inputs(self, report: Report) -> list[dict[str, Any]]:
        return report.inputs

    def get_state(self, report: Report) -> str:
        return "done" if report.finished_at else report.job.state if report.job else "unknown"


class OneReportSerializer(ReportSerializer):
    result = serializers.SerializerMethodField()

    class Meta(ReportSerializer.Meta):
        fields = (*ReportSerializer.Meta.fields, "result")

    @extend_schema_field(
        {
            "type": ["object", "null"],
            "description": "result of the command; null until it is computed",
        }
    )
    def get_result(self, report: Report) -> dict[str, Any] | None:
        return ordered_result(report)


@extend_schema_field(
    make_options_schema(
        {name: [one for one in kind.fields if not one.uploaded] for name, kind in KINDS.items()}
    )
)
class ReportOptionsField(serializers.DictField):
    """Options of a report. request_report checks their values."""


class AskSerializer(StrictSerializer):
    """A request for a report.

    qrels: `imported:ID`, labels of a campaign such as `campaign:graded:majority` or
    `campaign:binary:median`, or labels of a saved recipe such as `recipe:graded:ID` or
    `recipe:binary:ID`. options: options of the command. lists: `docids` for `stability`, topic
    subsets by name for `bootstrap`, with one ID per line.
    """

    schema = ONE_OF_CAMPAIGN_AND_COLLECTION

    kind = serializers.ChoiceField(choices=TYPE_CHOICES)
    runs = serializers.ListField(child=serializers.IntegerField(), default=list)
    qrels = serializers.ListField(child=TextField(max_length=200), default=list)
    options = ReportOptionsField(default=dict)
    lists = serializers.DictField(child=TextField(trim_whitespace=False), default=dict)
    seed = serializers.IntegerField(min_value=0, max_value=2**62, default=0)
    campaign = SlugTextField(required=False)
    collection = SlugTextField(required=False)

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if ("campaign" in data) == ("collection" in data):
            raise serializers.ValidationError("Give either a campaign or a collection.")
        known = {one.name for one in KINDS[data["kind"]].fields if not one.uploaded}
        if unknown := sorted(set(data["options"]) - known):
            raise serializers.ValidationError(
                {
                    "options": (
                        f"unknown option for {data['kind']}: {', '.join(unknown)}; choose from "
                        f"{', '.join(sorted(known))}"
                    )
                }
            )
        files: dict[str, list[Any]] = {}
        fields = [one for one in KINDS[data["kind"]].fields if one.uploaded]
        for name, text in data["lists"].items():
            field = next((one for one in fields if one.kind == "lists" or one.name == name), None)
            if field is None:
                raise serializers.ValidationError(
                    {"lists": f"{name}: unknown list of {data['kind']}"}
                )
            files.setdefault(field.name, []).append(ContentFile(text.encode(), name=f"{name}.txt"))
        try:
            data["lists"] = read_lists(KINDS[data["kind"]], files)
        except FormatError as error:
            raise serializers.ValidationError({"lists": error.lines()}) from None
        return data


class ReportList(GenericAPIView):
    serializer_class = ReportSerializer
    queryset = Report.objects.none()
    orders = ("title", "kind", "created_at", "finished_at")
    filters = (
        choice_filter("kind", sorted(KINDS)),
        ListFilter("collection", "collection__slug"),
        ListFilter("campaign", "campaign__slug"),
    )

    @extend_schema(responses=ReportSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the reports that the user can see."""
        page = self.paginate_queryset(visible_reports(request))
        return self.get_paginated_response(ReportSerializer(page, many=True).data)

    @extend_schema(
        request=AskSerializer, responses={202: ReportSerializer, **problem_responses(404)}
    )
    @make_idempotent
    def post(self, request: Request) -> Response:
        """Create a report."""
        asked = AskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        campaign = get_managed_campaign(request, data["campaign"]) if "campaign" in data else None
        collection = (
            campaign.collection if campaign else get_managed_collection(request, data["collection"])
        )
        try:
            report = reports.request_report(
                KINDS[data["kind"]],
                collection=collection,
                campaign=campaign,
                parameters={name: data[name] for name in ("runs", "qrels", "options")},
                seed=data["seed"],
                user=request.user,
                lists=data["lists"],
            )
        except Refused as error:
            raise to_api_exception(error) from None
        if report.job is not None:
            tasks.send(report.job)
        location = {"Location": reverse("api-report", args=[report.pk])}
        return Response(
            ReportSerializer(report).data, status=status.HTTP_202_ACCEPTED, headers=location
        )


class ReportDetail(GenericAPIView):
    serializer_class = OneReportSerializer
    queryset = Report.objects.none()

    def get(self, request: Request, pk: int) -> Response:
        """Return a report with its result."""
        return Response(OneReportSerializer(get_visible_report(request, pk)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a report."""
        reports.delete_report(get_visible_report(request, pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class LeadersSerializer(serializers.Serializer):
    """The leading system by a measure under the current labels. answer is null until it is
    computed, and if why_not gives a reason."""

    measure = serializers.CharField()
    why_not = serializers.CharField(allow_blank=True)
    answer: Any = serializers.DictField(
        allow_null=True,
        help_text="words (the sentence of the page), topics, systems (best first: mean, "
        "confidence interval or the reason why there is none, unjudged share, "
        "score bounds least and most), p and holm (of each system against those "
        "below it: paired t-test, raw and corrected), opposed (the signed ranks "
        "point to the other side), interim_checks (means at each tenth of the judgements, "
        "in the order of systems)",
    )
    computed_at = serializers.DateTimeField(allow_null=True)
    current = serializers.BooleanField(help_text="whether the answer includes all judgements")
    working = serializers.BooleanField(
        help_text="whether it is being recalculated; request it again later"
    )


class CampaignSystems(APIView):
    serializer_class = LeadersSerializer

    @extend_schema(
        operation_id="campaigns_systems",
        parameters=[
            OpenApiParameter(
                "measure",
                str,
                description="for example AP; nDCG@10, or HT-nDCG@10 of a sampled pool, unless given",
            )
        ],
        responses={200: LeadersSerializer, **problem_responses(400, 404)},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the newest results of the systems. If they are out of date, the request starts a new computation."""
        campaign = get_managed_campaign(request, slug)
        try:
            measure = answers.get_measure(
                campaign, request.query_params.get("measure") or answers.default_measure(campaign)
            )
        except UnknownMeasure as error:
            raise serializers.ValidationError({"measure": str(error)}) from None
        answer, job = answers.get_newest_answer(campaign, get_snapshot(campaign), measure)
        if job is not None:
            tasks.send(job)
        why_not = answers.no_answer_reason(campaign)
        shown = (
            None
            if answer is None or why_not
            else {
                name: value
                for name, value in answer.items()
                if name not in ("finished_at", "current")
            }
        )
        return Response(
            LeadersSerializer(
                {
                    "measure": str(measure),
                    "why_not": why_not,
                    "answer": shown,
                    "computed_at": answer["finished_at"] if answer and shown else None,
                    "current": bool(shown and answer and answer["current"]),
                    "working": answers.is_running(campaign, measure),
                }
            ).data
        )


class TopUpSerializer(StrictSerializer):
    """Options of a top-up campaign. pairs: number of first pairs in the report's order, by default
    all that the report suggests."""

    pairs = serializers.IntegerField(
        min_value=1, max_value=5_000_000, required=False, write_only=True
    )
    campaign = SlugTextField(read_only=True, help_text="a draft")
    n_pairs = serializers.IntegerField(read_only=True)


class TopUp(GenericAPIView):
    """Create a draft campaign for the pairs that a report on an unpooled run lists, in their
    order."""

    serializer_class = TopUpSerializer
    queryset = Report.objects.none()

    @extend_schema(
        request=TopUpSerializer, responses={201: TopUpSerializer, **problem_responses(404, 409)}
    )
    @make_idempotent
    def post(self, request: Request, pk: int) -> Response:
        report = get_visible_report(request, pk)
        if not can_create(request):
            raise PermissionDenied(
                "You can't create campaigns. Ask an administrator for permission."
            )
        asked = TopUpSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            campaign = create_top_up(report, asked.validated_data.get("pairs"), user=request.user)
        except Refused as error:
            raise to_api_exception(error) from None
        made, location = (
            {"campaign": campaign.slug, "n_pairs": campaign.n_pairs},
            {"Location": reverse("api-campaign", args=[campaign.slug])},
        )
        return Response(
            TopUpSerializer(made).data, status=status.HTTP_201_CREATED, headers=location
        )
