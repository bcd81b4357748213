"""API serializers of collections, their files, pools and jobs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from assay.labels.clicks import CLICK_MODEL_CHOICES
from assay.pools.batches import DEFAULT_AUDIT, DEFAULT_SIZE, BatchGoal
from assay.pools.pool_kinds import MAX_AUDIT, MAX_IN_BATCH, SELECTION_CHOICES
from assay.pools.stages import MAX_STAGES, STRATA_KINDS
from pooling.api.bodies import StrictModelSerializer, StrictSerializer, TextField
from pooling.models import Collection, DocumentFile, Job, Pool, PoolEntry, Qrels, Run, Topic, Upload
from pooling.selectors import jobs as job_selectors
from pooling.services.sampling import DEFAULT_STAGES
from pooling.services.topics import LEVELS
from pooling.services.uploads import MODES


class CollectionSerializer(StrictModelSerializer):
    class Meta:
        model = Collection
        fields = ["slug", "name", "description", "n_documents", "text_format", "created_at"]
        read_only_fields = ["created_at"]
        extra_kwargs = {"slug": {"required": False, "validators": []}}


class JobSerializer(serializers.ModelSerializer):
    """state: queued, running, done, failed, cancelled. report: counts, warnings, notes, the first
    50 problems, and what was created."""

    collection: Any = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True
    )
    rows_per_second = serializers.SerializerMethodField(allow_null=True)
    bytes_per_second = serializers.SerializerMethodField(allow_null=True)
    share = serializers.SerializerMethodField(allow_null=True, help_text="0 to 1; null if unknown")

    class Meta:
        model = Job
        fields = [
            *[
                "id",
                "kind",
                "label",
                "state",
                "collection",
                "progress",
                "total",
                "unit",
                "n_bytes",
                "share",
                "rows_per_second",
            ],
            *[
                "bytes_per_second",
                "message",
                "report",
                "cancel_requested",
                "attempt",
                "created_at",
                "started_at",
                "finished_at",
            ],
        ]
        read_only_fields = fields

    def get_rows_per_second(self, job: Job) -> float | None:
        return job_selectors.make_job_view(job, waiting=()).rows_per_second

    def get_bytes_per_second(self, job: Job) -> float | None:
        return job_selectors.make_job_view(job, waiting=()).bytes_per_second

    def get_share(self, job: Job) -> float | None:
        return job_selectors.make_job_view(job, waiting=()).share


class UploadSerializer(serializers.ModelSerializer):
    class Meta:
        model = Upload
        fields = ["id", "kind", "name", "n_bytes", "created_at"]
        read_only_fields = fields


class NewUploadSerializer(StrictSerializer):
    """One file. mode: inspect (report only), careful (import unless a decision is needed), import."""

    file = serializers.FileField()
    kind = serializers.ChoiceField(choices=Upload.Kind.choices)
    mode = serializers.ChoiceField(choices=MODES, default="careful")
    tag = TextField(
        required=False, max_length=200, help_text="run: tag that replaces the one in the file"
    )
    order = serializers.ChoiceField(
        choices=["score", "rank"],
        required=False,
        help_text="run: order of documents, score (default) or rank (the rank column)",
    )
    lenient = serializers.BooleanField(
        required=False,
        help_text="run, qrels: ignore extra columns, and accept runs of three or four columns",
    )
    group = TextField(required=False, max_length=200, help_text="run: group that submitted it")
    description = TextField(required=False, max_length=5000, help_text="run: description")
    submitted_on = serializers.DateField(
        required=False, help_text="run: submission date, for leaderboards"
    )
    baseline = serializers.BooleanField(
        required=False, help_text="run: whether it is a baseline of the organisers"
    )
    name = TextField(
        required=False,
        max_length=200,
        help_text="qrels: name (default: the file name); set: name of the pool made from its pairs",
    )
    qrels_kind = serializers.ChoiceField(
        choices=Qrels.Kind.choices,
        required=False,
        help_text="qrels: source of the labels, judgements or clicks",
    )
    click_model = serializers.ChoiceField(
        choices=[name for name, _ in CLICK_MODEL_CHOICES],
        required=False,
        help_text="click log: method that turns clicks into labels",
    )
    thresholds = serializers.ListField(
        child=serializers.FloatField(min_value=0),
        required=False,
        help_text="click log, except with raw: ascending estimates above which the grade is 2, 3, ...",
    )
    min_dwell = serializers.FloatField(
        required=False,
        min_value=0,
        max_value=86_400,
        help_text="UBI events: minimum dwell time in seconds for a click to count",
    )

    OPTIONS = {
        Upload.Kind.RUN: (
            "tag",
            "order",
            "lenient",
            "group",
            "description",
            "submitted_on",
            "baseline",
        ),
        Upload.Kind.QRELS: (
            "name",
            "qrels_kind",
            "lenient",
            "click_model",
            "thresholds",
            "min_dwell",
        ),
        Upload.Kind.SET: ("name",),
    }

    def options(self) -> dict[str, Any]:
        """Return the options that apply to this kind of file, with the names that the services use."""
        data = self.validated_data
        chosen = {name: data[name] for name in self.OPTIONS.get(data["kind"], ()) if data.get(name)}
        if "submitted_on" in chosen:
            chosen["submitted_on"] = chosen["submitted_on"].isoformat()
        if "qrels_kind" in chosen:
            chosen["kind"] = chosen.pop("qrels_kind")
        return chosen


class DecisionSerializer(StrictSerializer):
    """The decision about a waiting file. Without options, it is imported as uploaded."""

    kind = serializers.ChoiceField(
        choices=Upload.Kind.choices, required=False, help_text="file type to import it as"
    )
    tag = TextField(
        required=False, max_length=200, help_text="run: tag that replaces the one in the file"
    )


class TopicSerializer(serializers.ModelSerializer):
    class Meta:
        model = Topic
        fields = [
            "topic_id",
            "text",
            "description",
            "narrative",
            "fields",
            "position",
            "proposal",
            "same_as",
            "removed_reason",
            "decided_at",
        ]
        read_only_fields = fields


class CheckSerializer(StrictSerializer):
    level = serializers.ChoiceField(choices=LEVELS, default="exact")


class DecisionsSerializer(StrictSerializer):
    """Decisions by topic ID. Unknown topics are refused."""

    remove = serializers.ListField(child=TextField(), default=list)
    keep = serializers.ListField(child=TextField(), default=list)
    open = serializers.ListField(child=TextField(), default=list)
    reason = TextField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="reason for removing the topics in `remove` (default: as proposed, or by hand)",
    )


class DecidedSerializer(serializers.Serializer):
    changed = serializers.IntegerField()


class RunSerializer(StrictModelSerializer):
    """tag: unique in the collection. Pools that contain the run show the new tag. Finished reports
    and releases keep the old one."""

    class Meta:
        model = Run
        fields = [
            *[
                "id",
                "tag",
                "group",
                "description",
                "submitted_on",
                "baseline",
                "source_name",
                "digest",
                "n_rows",
                "n_topics",
            ],
            *["max_depth", "warnings", "created_at"],
        ]
        read_only_fields = [
            "id",
            "source_name",
            "digest",
            "n_rows",
            "n_topics",
            "max_depth",
            "warnings",
            "created_at",
        ]


class QrelsSerializer(serializers.ModelSerializer):
    class Meta:
        model = Qrels
        fields = [
            "id",
            "name",
            "kind",
            "source_name",
            "digest",
            "n_rows",
            "n_topics",
            "grades",
            "warnings",
            "created_at",
        ]
        read_only_fields = fields


class DocumentFileSerializer(serializers.ModelSerializer):
    class Meta:
        model = DocumentFile
        fields = [
            "id",
            "name",
            "digest",
            "n_bytes",
            "n_documents",
            "n_empty",
            "n_long",
            "n_words",
            "warnings",
            "created_at",
        ]
        read_only_fields = fields


class PoolSerializer(serializers.ModelSerializer):
    """kind: how the pairs were selected, described in words. depth: null for pairs from a file
    without ranks. built_at: null while the pool is being built. source, suggested: the file that
    contained the pairs, and the settings that came with it."""

    runs: Any = serializers.SlugRelatedField(slug_field="tag", many=True, read_only=True)
    words = serializers.CharField(read_only=True)

    class Meta:
        model = Pool
        fields = [
            *[
                "id",
                "name",
                "kind",
                "words",
                "depth",
                "parameters",
                "seed",
                "runs",
                "n_pairs",
                "by_depth",
                "coverage",
                "digest",
                "missing_documents",
            ],
            *["source", "suggested", "created_at", "built_at", "extended_at"],
        ]
        read_only_fields = fields


class NewPoolSerializer(StrictSerializer):
    """runs: tags, or empty for all runs of the collection. strata, stages (cumulative shares of the
    pool): for a sampled pool. llm_judge: for strata by an LLM judge's grades, the frozen judge as
    campaign/judge. goal, batch, audit: for a prioritised pool, whether batches contain the most
    likely relevant pairs or the same share of each topic, the number of pairs per batch, and the
    share that is sampled at random."""

    kind = serializers.ChoiceField(choices=["depth", "ordered", "sampled"], default="depth")
    goal = serializers.ChoiceField(
        choices=[goal.value for goal in BatchGoal], default=BatchGoal.RELEVANT.value
    )
    batch = serializers.IntegerField(min_value=1, max_value=MAX_IN_BATCH, default=DEFAULT_SIZE)
    audit = serializers.FloatField(min_value=0, max_value=MAX_AUDIT, default=DEFAULT_AUDIT)
    strata = serializers.ChoiceField(choices=sorted(STRATA_KINDS), default="rank")
    llm_judge = TextField(default="", allow_blank=True, max_length=200)
    stages = serializers.ListField(
        child=serializers.FloatField(min_value=0, max_value=1),
        default=list(DEFAULT_STAGES),
        max_length=MAX_STAGES,
    )

    depth = serializers.IntegerField(min_value=1, max_value=1000, default=10)
    runs = serializers.ListField(child=TextField(), default=list)
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**63 - 1)
    name = TextField(required=False, allow_blank=True, default="", max_length=200)


class RenamePoolSerializer(StrictSerializer):
    """name: unique among the collection's pools."""

    name = TextField(max_length=200, required=False)


class ExtendPoolSerializer(StrictSerializer):
    depth = serializers.IntegerField(min_value=1, max_value=1000, required=False)
    runs = serializers.ListField(child=TextField(), default=list)


class StageSerializer(StrictSerializer):
    """share: cumulative share of the pool that is sampled by the end of the new stage."""

    share = serializers.FloatField(min_value=0, max_value=1)


class EntrySerializer(serializers.ModelSerializer):
    topic = serializers.CharField(source="topic.topic_id", read_only=True)
    has_text = serializers.SerializerMethodField()
    entered = serializers.SerializerMethodField()

    class Meta:
        model = PoolEntry
        fields = [
            "topic",
            "docno",
            "other_docno",
            "best_rank",
            "priority",
            "everyone",
            "position",
            "contributions",
            "has_text",
            "stage",
            "entered",
        ]
        read_only_fields = fields

    def get_has_text(self, entry: PoolEntry) -> bool:
        has_other = not entry.other_docno or entry.other_document_id is not None
        return entry.document_id is not None and has_other

    @extend_schema_field(serializers.ChoiceField(choices=SELECTION_CHOICES, allow_null=True))
    def get_entered(self, entry: PoolEntry) -> str | None:
        """Return whether the pair was sampled or selected, or null if nothing was sampled."""
        return entry.entered or None
