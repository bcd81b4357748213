"""API of a campaign's exports, recipes and releases: the same files and names as on the export
page."""

from __future__ import annotations

import io
from typing import Any

from django.http import FileResponse, Http404
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.judgements.labels import LabelChoices
from analysis.models import Recipe, Release
from analysis.publishing import exports, payment, recipes
from analysis.publishing.forms import ChoicesForm, ExportOptionsForm
from analysis.publishing.release.checks import (
    IncompleteRelease,
    find_missing,
    read_campaign_facts,
)
from analysis.publishing.release.parts import OPTIONAL_CONTENT, ReleasePlan
from annotation.api.campaigns import is_requested
from annotation.api.refusals import to_api_exception
from annotation.core.audit_actions import AuditAction
from annotation.permissions import get_managed_campaign, get_person
from annotation.services.audit import record_event
from annotation.services.errors import CampaignError
from assay.labels.aggregation import METHODS
from assay.labels.annotator_types import LABELLING_TYPES, AnnotatorType
from assay.labels.annotator_types import TYPE_CHOICES as CHOICES_OF_JUDGES
from pooling.api.bodies import StrictSerializer, TextField
from pooling.api.problems import malformed_error
from pooling.api.repeats import make_idempotent
from pooling.api.schema import zip_response
from pooling.api.serializers import JobSerializer
from pooling.api.views import Conflict, accepted_response
from pooling.permissions import get_row_or_404

COUNT, SECONDS = (
    {"type": "integer", "minimum": 1, "maximum": 1000},
    {"type": "number", "minimum": 0, "maximum": 86_400},
)
AMOUNT_SCHEMA = {"type": "string", "pattern": r"^[0-9]{1,6}(\.[0-9]{1,2})?$"}
CHOICE_PARAMETERS = [
    OpenApiParameter(
        "question", str, description="key of the question (default: relevance, the grade)"
    ),
    OpenApiParameter(
        "method",
        str,
        enum=list(METHODS),
        description="aggregation method (default: majority, with the lowest grade on ties)",
    ),
    OpenApiParameter(
        "min_judgements",
        COUNT,
        description="minimum number of judgements for a pair to have a label (default: 2)",
    ),
    OpenApiParameter(
        "min_relevant",
        {"type": "integer", "minimum": 1},
        description="minimum relevant grade (default: the campaign's)",
    ),
    OpenApiParameter(
        "min_seconds",
        SECONDS,
        description="leave out faster judgements, in addition to the campaign's own limit",
    ),
    OpenApiParameter(
        "exclude", str, many=True, description="pseudonyms of annotators to leave out"
    ),
    OpenApiParameter(
        "include_excluded",
        str,
        many=True,
        description="pseudonyms of excluded annotators whose judgements count here; * for all",
    ),
    OpenApiParameter(
        "judges",
        str,
        many=True,
        enum=list(AnnotatorType),
        description="annotator types (default: human and simulated)",
    ),
    OpenApiParameter("without_gold", bool, description="leave out judgements of gold questions"),
]
ANYWAY = OpenApiParameter(
    "anyway", bool, description="build the release although something required is missing"
)
FILE_PARAMETERS = [
    OpenApiParameter("comments", bool, description="add comment lines to qrels"),
    OpenApiParameter(
        "spreadsheet", bool, description="escape cells that a spreadsheet would run as formulas"
    ),
]
FILE_TYPES = sorted(
    {export.content_type.partition(";")[0] for export in exports.EXPORTS.values()},
    key=lambda kind: (not kind.startswith("text/"), kind),
)
"""Types of exported files. Text types come first, because generated clients choose the first type
that they support."""


class ExportSerializer(serializers.Serializer):
    """An available export. heeds: parameters that affect the file. `labels` stands for all
    parameters that select judgements."""

    name = serializers.CharField()
    title = serializers.CharField()
    words = serializers.CharField()
    file = serializers.CharField()
    content_type = serializers.CharField()
    heeds = serializers.ListField(child=serializers.CharField())


def raise_if_invalid(form: ChoicesForm) -> None:
    if not form.is_valid():
        raise exceptions.ValidationError(
            {name: [str(one) for one in sentences] for name, sentences in form.errors.items()}
        )


class ExportList(APIView):
    serializer_class = ExportSerializer

    @extend_schema(responses=ExportSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the files that can be exported."""
        campaign = get_managed_campaign(request, slug)
        return Response(
            [
                {
                    "name": export.name,
                    "title": export.title,
                    "words": export.words,
                    "file": export.filename(campaign),
                    "content_type": export.content_type,
                    "heeds": list(export.heeds),
                }
                for export in exports.available_exports(campaign).values()
            ]
        )


class ExportFile(APIView):
    serializer_class = ExportSerializer

    @extend_schema(
        operation_id="campaigns_exports_file",
        parameters=[*CHOICE_PARAMETERS, *FILE_PARAMETERS],
        responses={
            (200, kind): OpenApiResponse(
                OpenApiTypes.STR if kind.startswith("text/") else OpenApiTypes.BINARY,
                description="the whole file",
            )
            for kind in FILE_TYPES
        },
    )
    def get(self, request: Request, slug: str, name: str) -> Any:
        """Export a file."""
        campaign = get_managed_campaign(request, slug)
        export = exports.find_export(name)
        if export is None:
            raise Http404("Unknown export.")
        for flag in ("without_gold", "comments", "spreadsheet"):
            is_requested(request, flag)  # accepts every spelling of yes that forms accept
        form = ExportOptionsForm(request.query_params, campaign=campaign)
        raise_if_invalid(form)
        try:
            prepared = exports.prepare_export(export, campaign, form.export_options())
        except CampaignError as error:
            raise malformed_error(str(error)) from None
        exports.log_export(campaign, request.user, export, form.export_options())
        return FileResponse(
            prepared,
            as_attachment=True,
            filename=export.filename(campaign, form.export_options().choices),
            content_type=export.content_type,
        )


class PaymentFile(APIView):
    @extend_schema(
        operation_id="campaigns_payment_file",
        parameters=[
            OpenApiParameter(
                "rate",
                AMOUNT_SCHEMA,
                description="amount per active hour or judgement, such as 12.50; omit it to leave out amounts",
            ),
            OpenApiParameter(
                "per",
                OpenApiTypes.STR,
                enum=payment.RATE_UNITS,
                description="unit of the rate (default: hour)",
            ),
        ],
        responses={
            (200, "text/csv"): OpenApiResponse(
                OpenApiTypes.STR, description="one row per annotator"
            )
        },
    )
    def get(self, request: Request, slug: str) -> Any:
        """Return the hours and judgements of each annotator, with names. Only managers may read them."""
        campaign = get_managed_campaign(request, slug)
        try:
            rate = payment.PayRate.parse(
                request.query_params.get("rate", ""), request.query_params.get("per", "")
            )
        except CampaignError as error:
            raise malformed_error(str(error)) from None
        file = io.BytesIO(
            payment.export_payment_text(campaign, rate, actor=get_person(request)).encode()
        )
        return FileResponse(
            file,
            as_attachment=True,
            filename=payment.payment_filename(campaign),
            content_type="text/csv",
        )


class ReleaseSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    sha256 = serializers.CharField()
    content_sha256 = serializers.CharField(
        help_text="SHA-256 of judgements and labels alone; empty for a release of an earlier version"
    )
    built_at = serializers.DateTimeField()


class RecipeSerializer(StrictSerializer):
    """The settings of a recipe. releases: its releases, newest first."""

    id = serializers.IntegerField(read_only=True)
    name = TextField(max_length=200)
    method = serializers.ChoiceField(choices=list(METHODS), default="majority")
    min_judgements = serializers.IntegerField(min_value=1, max_value=1000, default=2)
    min_relevant = serializers.IntegerField(min_value=1, allow_null=True, default=None)
    with_gold = serializers.BooleanField(default=True)
    min_seconds = serializers.FloatField(min_value=0, default=0.0)
    exclude = serializers.ListField(child=TextField(), default=list)
    include_excluded = serializers.ListField(
        child=TextField(),
        default=list,
        help_text="pseudonyms of excluded annotators whose judgements count; * for all",
    )
    judges = serializers.ListField(
        child=serializers.ChoiceField(choices=CHOICES_OF_JUDGES),
        default=list(LABELLING_TYPES),
        help_text="annotator types that count",
    )
    documents = serializers.BooleanField(default=False)
    notes = serializers.BooleanField(default=False)
    runs = serializers.BooleanField(default=False, help_text="include the collection's runs")
    clicks = serializers.BooleanField(
        default=False, help_text="include the collection's qrels from clicks"
    )
    releases = ReleaseSerializer(many=True, read_only=True)


def serialize_recipe(recipe: Recipe) -> dict[str, Any]:
    built = recipe.releases.order_by("-created_at")
    return {
        "id": recipe.pk,
        **recipes.make_release_plan(recipe).as_json(),
        "releases": [
            {
                "id": one.pk,
                "sha256": one.digest,
                "content_sha256": one.content_digest,
                "built_at": one.created_at,
            }
            for one in built
        ],
    }


class RecipeList(APIView):
    serializer_class = RecipeSerializer

    @extend_schema(responses=RecipeSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the recipes of the campaign."""
        campaign = get_managed_campaign(request, slug)
        return Response(
            [serialize_recipe(recipe) for recipe in campaign.recipes.prefetch_related("releases")]
        )

    @extend_schema(responses={201: RecipeSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create a recipe."""
        campaign = get_managed_campaign(request, slug)
        body = RecipeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        plan = ReleasePlan(
            given["name"],
            LabelChoices.from_json(given),
            **{name: given[name] for name in OPTIONAL_CONTENT},
        )
        try:
            recipe = recipes.save_recipe(campaign, plan, user=request.user)
        except CampaignError as error:
            raise to_api_exception(error) from None
        return Response(
            serialize_recipe(recipe),
            status=status.HTTP_201_CREATED,
            headers={"Location": reverse("api-recipe", args=[slug, recipe.pk])},
        )


class RecipeDetail(APIView):
    serializer_class = RecipeSerializer

    @extend_schema(operation_id="campaigns_recipes_retrieve_one")
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return a recipe."""
        return Response(
            serialize_recipe(get_row_or_404(get_managed_campaign(request, slug).recipes, pk=pk))
        )


class BuildRelease(APIView):
    serializer_class = JobSerializer

    @extend_schema(
        operation_id="campaigns_recipes_build",
        request=None,
        parameters=[ANYWAY],
        responses={202: JobSerializer},
    )
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Start the job that builds a release. If the data are unchanged, its report names the
        existing release. 409 if a label, a licence or an author is missing and anyway is false."""
        campaign = get_managed_campaign(request, slug)
        recipe = get_row_or_404(campaign.recipes.select_related("campaign__collection"), pk=pk)
        try:
            job = recipes.request_release(
                recipe, user=request.user, anyway=is_requested(request, "anyway")
            )
        except IncompleteRelease as error:
            raise Conflict(f"{error} To build the release anyway, set anyway=true.") from None
        except CampaignError as error:
            raise to_api_exception(error) from None
        return accepted_response(job)


class FindingSerializer(serializers.Serializer):
    key = serializers.CharField(help_text="name of the item, such as authors or disputed")
    is_required = serializers.BooleanField(
        source="required", help_text="whether a release without it needs anyway=true"
    )
    problem = serializers.CharField()
    fix = serializers.CharField()


class MissingList(APIView):
    serializer_class = FindingSerializer

    @extend_schema(operation_id="campaigns_recipes_missing", responses=FindingSerializer(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """List what readers of a release that is built now will miss, required items first."""
        campaign = get_managed_campaign(request, slug)
        recipe = get_row_or_404(campaign.recipes, pk=pk)
        findings = find_missing(read_campaign_facts(campaign, recipes.make_release_plan(recipe)))
        return Response(FindingSerializer(findings, many=True).data)


class ReleaseFileView(APIView):
    serializer_class = ReleaseSerializer

    @extend_schema(
        operation_id="campaigns_releases_file",
        responses=zip_response("the release"),
    )
    def get(self, request: Request, slug: str, pk: int) -> Any:
        """Download a release."""
        campaign = get_managed_campaign(request, slug)
        release = get_row_or_404(
            Release.objects.select_related("recipe__campaign"), pk=pk, recipe__campaign=campaign
        )
        record_event(
            campaign,
            get_person(request),
            AuditAction.EXPORTED,
            f"release {release.recipe.name}",
            digest=release.digest,
        )
        name = f"{recipes.release_file_name(release.recipe)}-{release.digest[:12]}.zip"
        return FileResponse(
            release.file.open("rb"), as_attachment=True, filename=name, content_type=exports.ZIP
        )
