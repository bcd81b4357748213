"""API views of collections, pools and jobs. They call the same services as the pages."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.generics import GenericAPIView
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from assay.number_words import format_count
from pooling import permissions, tasks
from pooling.api import serializers as shapes
from pooling.api.lists import ListFilter, boolean_filter, choice_filter
from pooling.api.parsers import JsonBody
from pooling.api.problems import malformed_error
from pooling.api.repeats import make_idempotent
from pooling.models import Collection, DocumentFile, Job, Pool, PoolEntry, Qrels, Run, Topic, Upload
from pooling.platform import jobs as machinery
from pooling.platform.jobs import MalformedRequest, Refused
from pooling.selectors import pools as pool_selectors
from pooling.selectors import topics as topic_selectors
from pooling.services import collections, ordering, pool_preview, pools, sampling, topics, uploads
from pooling.services.documents import delete_document_file
from pooling.services.making import MAKING_KEYS, make_parameters
from pooling.services.qrels import delete_qrels
from pooling.services.renaming import rename_pool, rename_run
from pooling.services.runs import delete_run, describe_run, get_runs_by_tag


class Conflict(APIException):
    """The request conflicts with the current state. `detail` gives the reason."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "refused"


def to_api_exception(error: Refused) -> APIException:
    """Convert an error to 400 (invalid request) or 409 (conflict with the current state)."""
    return (
        malformed_error(str(error)) if isinstance(error, MalformedRequest) else Conflict(str(error))
    )


# No docstrings on views that need none: they would become descriptions in the API documentation.
class ServiceView(GenericAPIView):
    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(to_api_exception(exc) if isinstance(exc, Refused) else exc)

    def collection(self, slug: str) -> Collection:
        return permissions.get_managed_collection(self.request, slug)

    def read(self, request: Request, shape: type | None = None) -> Any:
        """Return the validated body."""
        serializer = (shape or self.get_serializer_class())(data=request.data)
        serializer.is_valid(raise_exception=True)
        return serializer

    def pages(self, rows: Any, shape: type) -> Response:
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(shape(page, many=True).data)

    def accepted(self, job: Job) -> Response:
        return accepted_response(job)


def accepted_response(job: Job) -> Response:
    """Send a queued job to the worker, and return a 202 response that describes it."""
    tasks.send(job)
    return Response(
        shapes.JobSerializer(job).data,
        status=status.HTTP_202_ACCEPTED,
        headers={"Location": reverse("api-job", args=[job.pk])},
    )


class CollectionList(ServiceView):
    serializer_class = shapes.CollectionSerializer
    queryset = Collection.objects.none()
    orders = ("name", "slug", "created_at")

    @extend_schema(responses=shapes.CollectionSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the collections that the user can see."""
        return self.pages(permissions.visible_collections(request), shapes.CollectionSerializer)

    @extend_schema(responses={201: shapes.CollectionSerializer})
    @make_idempotent
    def post(self, request: Request) -> Response:
        """Create a collection."""
        user = permissions.require_creator(request)
        made = collections.create_collection(user=user, **self.read(request).validated_data)
        location = {"Location": reverse("api-collection", args=[made.slug])}
        return Response(
            shapes.CollectionSerializer(made).data, status=status.HTTP_201_CREATED, headers=location
        )


class CollectionDetail(ServiceView):
    serializer_class = shapes.CollectionSerializer

    def get(self, request: Request, slug: str) -> Response:
        """Return a collection."""
        return Response(shapes.CollectionSerializer(self.collection(slug)).data)

    def patch(self, request: Request, slug: str) -> Response:
        """Change a collection."""
        collection = self.collection(slug)
        serializer = shapes.CollectionSerializer(collection, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        given: dict[str, Any] = {
            name: getattr(collection, name)
            for name in ("name", "description", "n_documents", "text_format")
        }
        given.update(
            {name: value for name, value in serializer.validated_data.items() if name in given}
        )
        return Response(
            shapes.CollectionSerializer(collections.describe_collection(collection, **given)).data
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a collection."""
        collections.delete_collection(self.collection(slug))
        return Response(status=status.HTTP_204_NO_CONTENT)


class UploadList(ServiceView):
    serializer_class = shapes.NewUploadSerializer
    parser_classes = [MultiPartParser, FormParser]
    queryset = Upload.objects.none()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse unauthorised and oversized uploads before the body is read."""
        super().initial(request, *args, **kwargs)
        self.collection(kwargs["slug"])
        if request.method == "POST":
            uploads.check_upload_size(int(request.META.get("CONTENT_LENGTH") or 0), request.user)

    @extend_schema(responses=shapes.UploadSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the files that wait for a decision."""
        return self.pages(
            uploads.list_waiting_uploads(self.collection(slug)), shapes.UploadSerializer
        )

    @extend_schema(
        request={"multipart/form-data": shapes.NewUploadSerializer},
        responses={202: shapes.JobSerializer},
    )
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file, and start the job that reads it."""
        collection = self.collection(slug)
        body = self.read(request)
        file = body.validated_data["file"]
        kept = uploads.store_upload(
            collection,
            kind=body.validated_data["kind"],
            file=file,
            name=file.name,
            user=request.user,
        )
        return self.accepted(
            uploads.request_import(
                kept, mode=body.validated_data["mode"], options=body.options(), user=request.user
            )
        )


class UploadDetail(ServiceView):
    serializer_class = shapes.UploadSerializer

    @extend_schema(
        operation_id="collections_uploads_import",
        request=shapes.DecisionSerializer,
        responses={202: shapes.JobSerializer},
    )
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Import a waiting file: unchanged, as another kind, or (a run) under another tag."""
        upload = permissions.get_row_or_404(self.collection(slug).uploads, pk=pk)
        body = shapes.DecisionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return self.accepted(
            uploads.import_decided_upload(upload, user=request.user, **body.validated_data)
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete a waiting file."""
        uploads.discard_upload(permissions.get_row_or_404(self.collection(slug).uploads, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TopicList(ServiceView):
    serializer_class = shapes.TopicSerializer
    queryset = Topic.objects.none()
    orders = ("position", "topic_id")
    filters = (boolean_filter("removed", ~Q(removed_reason="")), ListFilter("topic_id"))

    @extend_schema(responses=shapes.TopicSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the topics of the collection."""
        return self.pages(topic_selectors.get_topics(self.collection(slug)), shapes.TopicSerializer)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete the topics of the collection."""
        topics.delete_topics(self.collection(slug))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TopicCheck(ServiceView):
    serializer_class = shapes.CheckSerializer

    @extend_schema(responses={202: shapes.JobSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Start the job that checks topics."""
        collection = self.collection(slug)
        return self.accepted(
            topics.request_check(
                collection, level=self.read(request).validated_data["level"], user=request.user
            )
        )


class TopicDecisions(ServiceView):
    serializer_class = shapes.DecisionsSerializer

    @extend_schema(responses=shapes.DecidedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Decide which topics are removed, kept or undecided."""
        collection = self.collection(slug)
        given = self.read(request).validated_data
        wanted = {
            topic_id: decision
            for decision in ("remove", "keep", "open")
            for topic_id in given[decision]
        }
        rows = dict(
            collection.topics.filter(topic_id__in=list(wanted)).values_list("topic_id", "pk")
        )
        unknown = sorted(set(wanted) - set(rows))
        if unknown:
            raise Refused(
                f"{format_count(len(unknown), 'topic', 'is', 'are')} not in the collection: {', '.join(unknown[:5])}"
            )
        decisions = {rows[topic_id]: decision for topic_id, decision in wanted.items()}
        changed = topics.decide_topics(
            collection,
            decisions,
            user=request.user,
            reasons=dict.fromkeys(decisions, given["reason"]),
        )
        return Response({"changed": changed})


class RunList(ServiceView):
    serializer_class = shapes.RunSerializer
    queryset = Run.objects.none()
    orders = ("tag", "group", "submitted_on", "n_rows", "created_at")
    filters = (ListFilter("tag"), ListFilter("group"), boolean_filter("baseline", Q(baseline=True)))

    @extend_schema(responses=shapes.RunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the runs of the collection."""
        return self.pages(self.collection(slug).runs.all(), shapes.RunSerializer)


class RunDetail(ServiceView):
    serializer_class = shapes.RunSerializer

    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return information about a run."""
        return Response(
            shapes.RunSerializer(permissions.get_row_or_404(self.collection(slug).runs, pk=pk)).data
        )

    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change a run."""
        run = permissions.get_row_or_404(self.collection(slug).runs, pk=pk)
        serializer = shapes.RunSerializer(run, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        names = ("group", "description", "submitted_on", "baseline")
        given = {name: serializer.validated_data.get(name, getattr(run, name)) for name in names}
        with transaction.atomic():
            renamed = rename_run(
                run, serializer.validated_data.get("tag", run.tag), user=request.user
            )
            return Response(shapes.RunSerializer(describe_run(renamed, **given)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete a run."""
        delete_run(permissions.get_row_or_404(self.collection(slug).runs, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class QrelsList(ServiceView):
    serializer_class = shapes.QrelsSerializer
    queryset = Qrels.objects.none()
    orders = ("name", "n_rows", "created_at")
    filters = (ListFilter("name"), choice_filter("kind", Qrels.Kind.values))

    @extend_schema(responses=shapes.QrelsSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the qrels of the collection."""
        return self.pages(self.collection(slug).qrels.all(), shapes.QrelsSerializer)


class QrelsDetail(ServiceView):
    serializer_class = shapes.QrelsSerializer

    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return information about qrels."""
        return Response(
            shapes.QrelsSerializer(
                permissions.get_row_or_404(self.collection(slug).qrels, pk=pk)
            ).data
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete qrels."""
        delete_qrels(permissions.get_row_or_404(self.collection(slug).qrels, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DocumentFileList(ServiceView):
    serializer_class = shapes.DocumentFileSerializer
    queryset = DocumentFile.objects.none()
    orders = ("name", "n_documents", "created_at")
    filters = (ListFilter("name"),)

    @extend_schema(responses=shapes.DocumentFileSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the document files of the collection."""
        return self.pages(self.collection(slug).document_files.all(), shapes.DocumentFileSerializer)


class DocumentFileDetail(ServiceView):
    serializer_class = shapes.DocumentFileSerializer

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete a document file."""
        delete_document_file(
            permissions.get_row_or_404(self.collection(slug).document_files, pk=pk)
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class PoolList(ServiceView):
    serializer_class = shapes.NewPoolSerializer
    queryset = Pool.objects.none()
    orders = ("name", "depth", "n_pairs", "created_at")
    filters = (ListFilter("name"), boolean_filter("built", Q(built_at__isnull=False)))
    ask = staticmethod(pools.request_pool)

    @extend_schema(responses=shapes.PoolSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the pools of the collection."""
        return self.pages(
            self.collection(slug).pools.prefetch_related("runs"), shapes.PoolSerializer
        )

    @extend_schema(responses={202: shapes.JobSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Start the job that creates a pool."""
        collection = self.collection(slug)
        given = dict(self.read(request).validated_data)
        tags = given.pop("runs")
        runs = get_runs_by_tag(collection, tags) if tags else list(collection.runs.all())
        making = make_parameters(
            given.pop("kind"),
            **{name: given.pop(name) for name in MAKING_KEYS},
            collection=collection,
            user=request.user,
        )
        return self.accepted(
            self.ask(collection, runs=runs, user=request.user, making=making, **given)
        )


@extend_schema_view(
    post=extend_schema(
        description="Start the job that previews a pool. Its report has pairs per depth, overlap "
        "and unique contributions."
    )
)
class PoolPreview(PoolList):
    http_method_names = ["post", "options"]
    ask = staticmethod(pool_preview.request_preview)


class PoolDetail(ServiceView):
    serializer_class = shapes.PoolSerializer

    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return a pool."""
        return Response(
            shapes.PoolSerializer(
                permissions.get_row_or_404(self.collection(slug).pools, pk=pk)
            ).data
        )

    @extend_schema(request=shapes.RenamePoolSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Rename the pool."""
        pool = permissions.get_row_or_404(self.collection(slug).pools, pk=pk)
        name = self.read(request, shapes.RenamePoolSerializer).validated_data.get("name", pool.name)
        return Response(shapes.PoolSerializer(rename_pool(pool, name, user=request.user)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete a pool."""
        pools.delete_pool(permissions.get_row_or_404(self.collection(slug).pools, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExtendPool(ServiceView):
    serializer_class = shapes.ExtendPoolSerializer

    @extend_schema(responses={202: shapes.JobSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Start the job that extends a pool by runs or depth."""
        pool = permissions.get_row_or_404(self.collection(slug).pools, pk=pk)
        given = self.read(request).validated_data
        runs = get_runs_by_tag(pool.collection, given["runs"])
        return self.accepted(
            pools.request_extension(pool, runs=runs, depth=given.get("depth"), user=request.user)
        )


class DrawStage(ServiceView):
    serializer_class = shapes.StageSerializer

    @extend_schema(responses={202: shapes.JobSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Start the job that samples the next stage of a pool. Earlier samples are kept, and
        campaigns add the new pairs."""
        pool = permissions.get_row_or_404(self.collection(slug).pools, pk=pk)
        return self.accepted(
            sampling.request_stage(
                pool, self.read(request).validated_data["share"], user=request.user
            )
        )


class PlanBatch(ServiceView):
    serializer_class = shapes.JobSerializer
    parser_classes = [JsonBody, FormParser, MultiPartParser]

    @extend_schema(request=None, responses={202: shapes.JobSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Start the job that plans the next batch of a prioritised pool. Otherwise this happens
        automatically when few of its pairs are left."""
        return self.accepted(
            ordering.request_batch(
                permissions.get_row_or_404(self.collection(slug).pools, pk=pk), user=request.user
            )
        )


class EntryList(ServiceView):
    serializer_class = shapes.EntrySerializer
    queryset = PoolEntry.objects.none()
    orders = ("position", "docno", "best_rank", "priority")
    filters = (
        ListFilter("topic", "topic__topic_id"),
        ListFilter("docno"),
        boolean_filter("has_text", ~PoolEntry.LACKS_TEXT),
    )

    @extend_schema(responses=shapes.EntrySerializer(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """List the pool's pairs, best first."""
        return self.pages(
            pool_selectors.get_entries(
                permissions.get_row_or_404(self.collection(slug).pools, pk=pk)
            ),
            shapes.EntrySerializer,
        )


class PoolTable(ServiceView):
    serializer_class = shapes.PoolSerializer
    pagination_class = None

    @extend_schema(
        operation_id="collections_pools_table",
        responses={
            (200, "text/tab-separated-values"): OpenApiResponse(
                OpenApiTypes.STR, description="topic, document, best_rank, priority, runs"
            )
        },
    )
    def get(self, request: Request, slug: str, pk: int) -> StreamingHttpResponse:
        """Download the pool as a table."""
        pool = permissions.get_row_or_404(self.collection(slug).pools, pk=pk)
        return StreamingHttpResponse(
            pool_selectors.iterate_table(pool),
            content_type="text/tab-separated-values; charset=utf-8",
        )


class JobList(ServiceView):
    serializer_class = shapes.JobSerializer
    queryset = Job.objects.none()
    orders = ("created_at", "started_at", "finished_at")
    filters = (
        choice_filter("state", Job.State.values),
        ListFilter("kind"),
        ListFilter("collection", "collection__slug"),
    )

    @extend_schema(responses=shapes.JobSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the jobs that the user can see."""
        my_jobs: QuerySet[Job] = (
            permissions.visible_jobs(request).select_related("collection").distinct()
        )
        return self.pages(my_jobs, shapes.JobSerializer)


class JobDetail(ServiceView):
    serializer_class = shapes.JobSerializer

    def get(self, request: Request, pk: int) -> Response:
        """Return a job."""
        return Response(shapes.JobSerializer(permissions.get_visible_job(request, pk)).data)


class CancelJob(ServiceView):
    serializer_class = shapes.JobSerializer
    parser_classes = [JsonBody, FormParser, MultiPartParser]

    @extend_schema(request=None, responses=shapes.JobSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Cancel a job."""
        job = permissions.get_visible_job(request, pk)
        machinery.request_cancel(job)
        job.refresh_from_db()
        return Response(shapes.JobSerializer(job).data)
