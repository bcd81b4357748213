"""API of studies: create, list and download as a zip file, with the services and permissions of the
pages."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.models import Report
from analysis.studies import stored_studies
from analysis.studies.inputs import StudyInputs, store_uploads
from analysis.studies.papers import STUDY_NAMES, get_study
from analysis.studies.selectors import get_visible_study, visible_studies
from analysis.studies.settings import keys_by_name
from analysis.systems.option_schema import make_options_schema
from analysis.systems.reports import delete_report
from annotation.permissions import get_managed_campaign
from assay.formats.errors import FormatError
from pooling import tasks
from pooling.api.bodies import (
    ONE_OF_CAMPAIGN_AND_COLLECTION,
    SlugTextField,
    StrictSerializer,
    TextField,
)
from pooling.api.lists import ListFilter
from pooling.api.repeats import make_idempotent
from pooling.api.schema import problem_responses, zip_response
from pooling.api.views import to_api_exception
from pooling.permissions import get_managed_collection, get_person
from pooling.platform.jobs import Refused


class StudyPartSerializer(serializers.Serializer):
    files = serializers.ListField(
        child=serializers.CharField(), help_text="paths in the study's zip file"
    )
    values = serializers.DictField(help_text="data for scripts")


class StudyResultSerializer(serializers.Serializer):
    parts = serializers.DictField(child=StudyPartSerializer(), help_text="parts by name")
    left_out = serializers.DictField(
        child=serializers.CharField(), help_text="reasons of the parts left out, by name"
    )


class StudyParametersSerializer(serializers.Serializer):
    """The request for a study. values: keys that are not files. uploads: paths of files by key."""

    values = serializers.DictField(required=False)
    uploads = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), required=False
    )
    runs = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        required=False,
        help_text="IDs; null for all runs of the collection",
    )
    qrels = serializers.ListField(child=serializers.CharField(), required=False)
    clicks = serializers.ListField(child=serializers.CharField(), allow_null=True, required=False)


class StudySerializer(serializers.ModelSerializer):
    name = serializers.SerializerMethodField(help_text="name of the study")
    collection: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    campaign: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    state = serializers.SerializerMethodField()
    parameters = serializers.SerializerMethodField()
    result = serializers.SerializerMethodField(help_text="null until the study is done")
    warnings: Any = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Report
        fields = (
            "id",
            "name",
            "title",
            "collection",
            "campaign",
            "parameters",
            "seed",
            "input_digest",
            "code_version",
            "command",
            "job",
            "state",
            "result",
            "warnings",
            "created_at",
            "finished_at",
        )

    def get_name(self, row: Report) -> str:
        return row.kind.removeprefix(Report.STUDY)

    @extend_schema_field(StudyParametersSerializer)
    def get_parameters(self, row: Report) -> dict[str, Any]:
        return row.parameters

    def get_state(self, row: Report) -> str:
        return "done" if row.finished_at else row.job.state if row.job else "unknown"

    @extend_schema_field(StudyResultSerializer(allow_null=True))
    def get_result(self, row: Report) -> dict[str, Any] | None:
        return row.result


@extend_schema_field(
    make_options_schema(
        {
            name: [
                key
                for key in keys_by_name(get_study(name)).values()
                if key.kind not in ("file", "files", "named")
            ]
            for name in STUDY_NAMES
        }
    )
)
class StudyOptionsField(serializers.DictField):
    """Keys of a study. check_values checks them."""


class AskStudySerializer(StrictSerializer):
    """A study of either a campaign or a collection.

    runs: IDs, by default all of the collection. qrels: references as for reports, by default the
    labels of the campaign or the imported qrels. clicks: qrels to use as clicks. options: keys of
    the study's TOML file that are not files. files: for keys that are files, the content by file
    name.
    """

    schema = ONE_OF_CAMPAIGN_AND_COLLECTION

    name = serializers.ChoiceField(choices=[(name, name) for name in STUDY_NAMES])
    campaign = SlugTextField(required=False)
    collection = SlugTextField(required=False)
    runs = serializers.ListField(child=serializers.IntegerField(), required=False)
    qrels = serializers.ListField(child=TextField(max_length=200), default=list)
    clicks = serializers.ListField(child=TextField(max_length=200), required=False)
    options = StudyOptionsField(default=dict)
    files = serializers.DictField(
        child=serializers.DictField(child=TextField(trim_whitespace=False)), default=dict
    )

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        if ("campaign" in data) == ("collection" in data):
            raise serializers.ValidationError("Give either a campaign or a collection.")
        return data


class StudyList(GenericAPIView):
    serializer_class = StudySerializer
    queryset = Report.objects.none()
    orders = ("title", "created_at", "finished_at")
    filters = (
        ListFilter("collection", "collection__slug"),
        ListFilter("campaign", "campaign__slug"),
    )

    @extend_schema(responses=StudySerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the paper studies that the user can see."""
        page = self.paginate_queryset(visible_studies(request))
        return self.get_paginated_response(StudySerializer(page, many=True).data)

    @extend_schema(
        request=AskStudySerializer, responses={202: StudySerializer, **problem_responses(404)}
    )
    @make_idempotent
    def post(self, request: Request) -> Response:
        """Create a paper study."""
        asked = AskStudySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        data = asked.validated_data
        campaign = get_managed_campaign(request, data["campaign"]) if "campaign" in data else None
        collection = (
            campaign.collection if campaign else get_managed_collection(request, data["collection"])
        )
        uploads, files = store_uploads(
            {
                key: [(name, text.encode()) for name, text in named.items()]
                for key, named in data["files"].items()
            }
        )
        given = StudyInputs(
            data["options"], uploads, files, data.get("runs"), data["qrels"], data.get("clicks")
        )
        try:
            row = stored_studies.request_study(
                get_study(data["name"]),
                collection=collection,
                campaign=campaign,
                given=given,
                user=request.user,
            )
        except Refused as error:
            raise to_api_exception(error) from None
        except FormatError as error:
            raise serializers.ValidationError({"options": error.lines()}) from None
        if row.job is not None:
            tasks.send(row.job)
        location = {"Location": reverse("api-study", args=[row.pk])}
        return Response(
            StudySerializer(row).data, status=status.HTTP_202_ACCEPTED, headers=location
        )


class StudyDetail(GenericAPIView):
    serializer_class = StudySerializer
    queryset = Report.objects.none()

    def get(self, request: Request, pk: int) -> Response:
        """Return the progress of a paper study, and the parts that were left out."""
        return Response(StudySerializer(get_visible_study(request, pk)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a paper study."""
        delete_report(get_visible_study(request, pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class StudyZip(APIView):
    serializer_class = StudySerializer

    @extend_schema(
        operation_id="studies_folder",
        responses=zip_response("the folder of the study"),
    )
    def get(self, request: Request, pk: int) -> Any:
        """Download the folder of a paper study."""
        row = get_visible_study(request, pk)
        name, file = stored_studies.open_for_download(row, get_person(request))
        return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
