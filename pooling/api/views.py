"""The API of collections, pools and jobs: doors to the same services as the pages."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.generics import GenericAPIView
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from assay.counts import counted
from pooling import permissions, tasks
from pooling.api import serializers as shapes
from pooling.api.lists import Filter, one_of, yes_or_no
from pooling.api.parsers import JsonBody
from pooling.api.problems import malformed
from pooling.api.repeats import repeatable
from pooling.models import Collection, DocumentFile, Job, Pool, PoolEntry, Qrels, Run, Topic, Upload
from pooling.platform import jobs as machinery
from pooling.platform.jobs import Malformed, Refused
from pooling.selectors import pools as pool_selectors
from pooling.selectors import topics as topic_selectors
from pooling.services import collections, ordering, pool_preview, pools, sampling, topics, uploads
from pooling.services.documents import delete_document_file
from pooling.services.making import MAKING, parameters_of
from pooling.services.qrels import delete_qrels
from pooling.services.renaming import rename_pool, rename_run
from pooling.services.runs import delete_run, describe_run, runs_by_tag


class Conflict(APIException):
    """What was asked for cannot be done as things stand; `detail` says why."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "refused"


def refusal(error: Refused) -> APIException:
    """400 for what makes no sense, 409 for what cannot be done as things stand."""
    return malformed(str(error)) if isinstance(error, Malformed) else Conflict(str(error))


# No docstrings on the views that need none: they would be the descriptions in the API's
# documentation.
class Door(GenericAPIView):
    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(refusal(exc) if isinstance(exc, Refused) else exc)

    def collection(self, slug: str) -> Collection:
        return permissions.managed_collection(self.request, slug)

    def read(self, request: Request, shape: type | None = None) -> Any:
        """The validated body."""
        serializer = (shape or self.get_serializer_class())(data=request.data)
        serializer.is_valid(raise_exception=True)
        return serializer

    def pages(self, rows: Any, shape: type) -> Response:
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(shape(page, many=True).data)

    def accepted(self, job: Job) -> Response:
        return accepted(job)


def accepted(job: Job) -> Response:
    """202 with a job, which the worker is told of."""
    tasks.send(job)
    return Response(
        shapes.JobSerializer(job).data,
        status=status.HTTP_202_ACCEPTED,
        headers={"Location": reverse("api-job", args=[job.pk])},
    )


class Collections(Door):
    serializer_class = shapes.CollectionSerializer
    queryset = Collection.objects.none()
    orders = ("name", "slug", "created_at")

    @extend_schema(responses=shapes.CollectionSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.pages(permissions.my_collections(request), shapes.CollectionSerializer)

    @extend_schema(responses={201: shapes.CollectionSerializer})
    @repeatable
    def post(self, request: Request) -> Response:
        user = permissions.creating(request)
        made = collections.create_collection(user=user, **self.read(request).validated_data)
        location = {"Location": reverse("api-collection", args=[made.slug])}
        return Response(
            shapes.CollectionSerializer(made).data, status=status.HTTP_201_CREATED, headers=location
        )


class OneCollection(Door):
    serializer_class = shapes.CollectionSerializer

    def get(self, request: Request, slug: str) -> Response:
        return Response(shapes.CollectionSerializer(self.collection(slug)).data)

    def patch(self, request: Request, slug: str) -> Response:
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
        collections.delete_collection(self.collection(slug))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Uploads(Door):
    """Files that wait for a decision; a POST sends one and answers with the job that reads it."""

    serializer_class = shapes.NewUploadSerializer
    parser_classes = [MultiPartParser, FormParser]
    queryset = Upload.objects.none()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who may not send, and what is too large, is told so before the body is read."""
        super().initial(request, *args, **kwargs)
        self.collection(kwargs["slug"])
        if request.method == "POST":
            uploads.check_room(int(request.META.get("CONTENT_LENGTH") or 0), request.user)

    @extend_schema(responses=shapes.UploadSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.pages(uploads.waiting_uploads(self.collection(slug)), shapes.UploadSerializer)

    @extend_schema(
        request={"multipart/form-data": shapes.NewUploadSerializer},
        responses={202: shapes.JobSerializer},
    )
    @repeatable
    def post(self, request: Request, slug: str) -> Response:
        collection = self.collection(slug)
        body = self.read(request)
        file = body.validated_data["file"]
        kept = uploads.receive(
            collection,
            kind=body.validated_data["kind"],
            file=file,
            name=file.name,
            user=request.user,
        )
        return self.accepted(
            uploads.ask_for_import(
                kept, mode=body.validated_data["mode"], options=body.options(), user=request.user
            )
        )


class OneUpload(Door):
    serializer_class = shapes.UploadSerializer

    @extend_schema(
        operation_id="collections_uploads_import",
        request=shapes.DecisionSerializer,
        responses={202: shapes.JobSerializer},
    )
    @repeatable
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Import a file that waits: as it is, as another kind, or (a run) under another tag."""
        upload = permissions.found_or_404(self.collection(slug).uploads, pk=pk)
        body = shapes.DecisionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return self.accepted(
            uploads.import_as_decided(upload, user=request.user, **body.validated_data)
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        uploads.discard(permissions.found_or_404(self.collection(slug).uploads, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Topics(Door):
    serializer_class = shapes.TopicSerializer
    queryset = Topic.objects.none()
    orders = ("position", "topic_id")
    filters = (yes_or_no("removed", ~Q(removed_reason="")), Filter("topic_id"))

    @extend_schema(responses=shapes.TopicSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.pages(topic_selectors.topics(self.collection(slug)), shapes.TopicSerializer)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        topics.delete_topics(self.collection(slug))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TopicCheck(Door):
    serializer_class = shapes.CheckSerializer

    @extend_schema(responses={202: shapes.JobSerializer})
    @repeatable
    def post(self, request: Request, slug: str) -> Response:
        collection = self.collection(slug)
        return self.accepted(
            topics.ask_for_check(
                collection, level=self.read(request).validated_data["level"], user=request.user
            )
        )


class TopicDecisions(Door):
    serializer_class = shapes.DecisionsSerializer

    @extend_schema(responses=shapes.DecidedSerializer)
    def post(self, request: Request, slug: str) -> Response:
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
                f"{counted(len(unknown), 'topic', 'is', 'are')} not in the collection: {', '.join(unknown[:5])}"
            )
        decisions = {rows[topic_id]: decision for topic_id, decision in wanted.items()}
        changed = topics.decide(
            collection,
            decisions,
            user=request.user,
            reasons=dict.fromkeys(decisions, given["reason"]),
        )
        return Response({"changed": changed})


class Runs(Door):
    serializer_class = shapes.RunSerializer
    queryset = Run.objects.none()
    orders = ("tag", "group", "submitted_on", "n_rows", "created_at")
    filters = (Filter("tag"), Filter("group"), yes_or_no("baseline", Q(baseline=True)))

    @extend_schema(responses=shapes.RunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.pages(self.collection(slug).runs.all(), shapes.RunSerializer)


class OneRun(Door):
    serializer_class = shapes.RunSerializer

    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(
            shapes.RunSerializer(permissions.found_or_404(self.collection(slug).runs, pk=pk)).data
        )

    def patch(self, request: Request, slug: str, pk: int) -> Response:
        run = permissions.found_or_404(self.collection(slug).runs, pk=pk)
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
        delete_run(permissions.found_or_404(self.collection(slug).runs, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class QrelsList(Door):
    serializer_class = shapes.QrelsSerializer
    queryset = Qrels.objects.none()
    orders = ("name", "n_rows", "created_at")
    filters = (Filter("name"), one_of("kind", Qrels.Kind.values))

    @extend_schema(responses=shapes.QrelsSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.pages(self.collection(slug).qrels.all(), shapes.QrelsSerializer)


class OneQrels(Door):
    serializer_class = shapes.QrelsSerializer

    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(
            shapes.QrelsSerializer(
                permissions.found_or_404(self.collection(slug).qrels, pk=pk)
            ).data
        )

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_qrels(permissions.found_or_404(self.collection(slug).qrels, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DocumentFiles(Door):
    serializer_class = shapes.DocumentFileSerializer
    queryset = DocumentFile.objects.none()
    orders = ("name", "n_documents", "created_at")
    filters = (Filter("name"),)

    @extend_schema(responses=shapes.DocumentFileSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.pages(self.collection(slug).document_files.all(), shapes.DocumentFileSerializer)


class OneDocumentFile(Door):
    serializer_class = shapes.DocumentFileSerializer

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        delete_document_file(permissions.found_or_404(self.collection(slug).document_files, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Pools(Door):
    serializer_class = shapes.NewPoolSerializer
    queryset = Pool.objects.none()
    orders = ("name", "depth", "n_pairs", "created_at")
    filters = (Filter("name"), yes_or_no("built", Q(built_at__isnull=False)))
    ask = staticmethod(pools.ask_for_pool)

    @extend_schema(responses=shapes.PoolSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.pages(
            self.collection(slug).pools.prefetch_related("runs"), shapes.PoolSerializer
        )

    @extend_schema(responses={202: shapes.JobSerializer})
    @repeatable
    def post(self, request: Request, slug: str) -> Response:
        collection = self.collection(slug)
        given = dict(self.read(request).validated_data)
        tags = given.pop("runs")
        runs = runs_by_tag(collection, tags) if tags else list(collection.runs.all())
        making = parameters_of(
            given.pop("kind"),
            **{name: given.pop(name) for name in MAKING},
            of=collection,
            user=request.user,
        )
        return self.accepted(
            self.ask(collection, runs=runs, user=request.user, making=making, **given)
        )


class PoolPreview(Pools):
    """What a pool would hold: the job's report has pairs per depth, overlap and unique
    contributions."""

    http_method_names = ["post", "options"]
    ask = staticmethod(pool_preview.ask_for_preview)


class OnePool(Door):
    serializer_class = shapes.PoolSerializer

    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(
            shapes.PoolSerializer(permissions.found_or_404(self.collection(slug).pools, pk=pk)).data
        )

    @extend_schema(request=shapes.RenamePoolSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Give the pool another name."""
        pool = permissions.found_or_404(self.collection(slug).pools, pk=pk)
        name = self.read(request, shapes.RenamePoolSerializer).validated_data.get("name", pool.name)
        return Response(shapes.PoolSerializer(rename_pool(pool, name, user=request.user)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        pools.delete_pool(permissions.found_or_404(self.collection(slug).pools, pk=pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExtendPool(Door):
    serializer_class = shapes.ExtendPoolSerializer

    @extend_schema(responses={202: shapes.JobSerializer})
    @repeatable
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = permissions.found_or_404(self.collection(slug).pools, pk=pk)
        given = self.read(request).validated_data
        runs = runs_by_tag(pool.collection, given["runs"])
        return self.accepted(
            pools.ask_to_extend(pool, runs=runs, depth=given.get("depth"), user=request.user)
        )


class DrawStage(Door):
    serializer_class = shapes.StageSerializer

    @extend_schema(responses={202: shapes.JobSerializer})
    @repeatable
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The job that draws a sampled pool on. What was drawn stays, and campaigns take the new
        pairs up."""
        pool = permissions.found_or_404(self.collection(slug).pools, pk=pk)
        return self.accepted(
            sampling.ask_for_stage(
                pool, self.read(request).validated_data["share"], user=request.user
            )
        )


class PlanBatch(Door):
    serializer_class = shapes.JobSerializer
    parser_classes = [JsonBody, FormParser, MultiPartParser]

    @extend_schema(request=None, responses={202: shapes.JobSerializer})
    @repeatable
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """The job that plans the next batch of an ordered pool now, which else happens by itself
        when few of its pairs wait."""
        return self.accepted(
            ordering.ask_for_batch(
                permissions.found_or_404(self.collection(slug).pools, pk=pk), user=request.user
            )
        )


class Entries(Door):
    """The pool's pairs, best first."""

    serializer_class = shapes.EntrySerializer
    queryset = PoolEntry.objects.none()
    orders = ("position", "docno", "best_rank", "priority")
    filters = (
        Filter("topic", "topic__topic_id"),
        Filter("docno"),
        yes_or_no("has_text", Q(document__isnull=False)),
    )

    @extend_schema(responses=shapes.EntrySerializer(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.pages(
            pool_selectors.entries(permissions.found_or_404(self.collection(slug).pools, pk=pk)),
            shapes.EntrySerializer,
        )


class PoolTable(Door):
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
        pool = permissions.found_or_404(self.collection(slug).pools, pk=pk)
        return StreamingHttpResponse(
            pool_selectors.table(pool), content_type="text/tab-separated-values; charset=utf-8"
        )


class Jobs(Door):
    serializer_class = shapes.JobSerializer
    queryset = Job.objects.none()
    orders = ("created_at", "started_at", "finished_at")
    filters = (
        one_of("state", Job.State.values),
        Filter("kind"),
        Filter("collection", "collection__slug"),
    )

    @extend_schema(responses=shapes.JobSerializer(many=True))
    def get(self, request: Request) -> Response:
        my_jobs: QuerySet[Job] = (
            permissions.my_jobs(request).select_related("collection").distinct()
        )
        return self.pages(my_jobs, shapes.JobSerializer)


class OneJob(Door):
    serializer_class = shapes.JobSerializer

    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.JobSerializer(permissions.visible_job(request, pk)).data)


class CancelJob(Door):
    serializer_class = shapes.JobSerializer
    parser_classes = [JsonBody, FormParser, MultiPartParser]

    @extend_schema(request=None, responses=shapes.JobSerializer)
    def post(self, request: Request, pk: int) -> Response:
        job = permissions.visible_job(request, pk)
        machinery.request_cancel(job)
        job.refresh_from_db()
        return Response(shapes.JobSerializer(job).data)
