"""Collections with their topics, documents, runs, qrels and pools, and background jobs.

Runs and qrels are columnar files in the project's storage. Their rows hold metadata and the digest.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q, Value
from django.utils.translation import gettext_lazy as _

from assay.pools import pool_kinds
from assay.pools.pool_kinds import PoolKind
from assay.pools.topic_checks import join_information_need


class Collection(models.Model):
    """Topics, documents, runs and qrels that belong together. `managers` may change it and create
    campaigns with it."""

    class TextFormat(models.TextChoices):
        PLAIN = "plain", _("plain text")
        MARKDOWN = "markdown", "Markdown"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    n_documents = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        help_text="documents in the whole collection, not only the pooled ones",
    )
    text_format = models.CharField(
        max_length=10,
        choices=TextFormat,
        default=TextFormat.PLAIN,
        db_default=TextFormat.PLAIN.value,
        help_text="format of document texts on the judging page",
    )
    managers = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="collections", blank=True
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Topic(models.Model):
    """A topic of a collection. `position` is its position in the imported file. A removed topic
    keeps its row and the reason."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="topics")
    topic_id = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    description = models.TextField(blank=True)
    narrative = models.TextField(blank=True)
    fields = models.JSONField(default=dict, blank=True)
    position = models.PositiveIntegerField()
    proposal = models.CharField(
        max_length=20,
        blank=True,
        help_text="why the topic check proposes removal: duplicate, no text, suspect",
    )
    same_as = models.CharField(
        max_length=200, blank=True, help_text="id of the topic of which this is a duplicate"
    )
    removed_reason = models.CharField(
        max_length=200, blank=True, help_text="empty: the topic is kept"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "topic_id"], name="one_topic_per_id")
        ]

    def __str__(self) -> str:
        return f"{self.topic_id}: {self.text}"

    @property
    def need(self) -> str:
        return join_information_need(self.description, self.narrative)


class Upload(models.Model):
    """An uploaded file that is not yet part of the collection: to be inspected, imported or
    discarded."""

    class Kind(models.TextChoices):
        TOPICS = "topics", _("Topics")
        DOCUMENTS = "documents", _("Documents")
        RUN = "run", _("Run")
        QRELS = "qrels", _("Qrels")
        SET = "set", _("a whole set")

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="uploads")
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(
        max_length=255,
        help_text="file name without its folder, as shown on pages",
    )
    file = models.FileField(upload_to="uploads/%Y/%m", max_length=300)
    n_bytes = models.PositiveBigIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.name


class DocumentFile(models.Model):
    """An uploaded document file of a collection. It is read again whenever a pool needs more of its
    documents."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="document_files"
    )
    name = models.CharField(max_length=255)
    file = models.FileField(upload_to="documents/%Y/%m", max_length=300)
    ids = models.FileField(
        upload_to="documents/%Y/%m",
        max_length=300,
        blank=True,
        help_text="sorted 64-bit digests of its document ids",
    )
    format = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)
    n_bytes = models.PositiveBigIntegerField()
    n_documents = models.PositiveBigIntegerField(default=0)
    n_empty = models.PositiveBigIntegerField(default=0)
    n_long = models.PositiveBigIntegerField(default=0, help_text="documents of more than 512 words")
    n_words = models.PositiveBigIntegerField(default=0, help_text="words of all its documents")
    warnings = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "digest"], name="one_document_file_per_digest"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """A document that a pool needs, as text. Spans are offsets into `text` in Unicode code points."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="documents")
    docno = models.CharField(max_length=255, help_text="the document's own id")
    title = models.TextField(blank=True)
    text = models.TextField(blank=True)
    fields = models.JSONField(default=dict, blank=True)
    n_words = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "docno"], name="one_document_per_id")
        ]

    def __str__(self) -> str:
        return self.docno


class Run(models.Model):
    """One system's rankings: metadata of a columnar file (assay.formats.runs.load_run)."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="runs")
    tag = models.CharField(max_length=200)
    group = models.CharField(max_length=200, blank=True, help_text="group that submitted the run")
    description = models.TextField(blank=True)
    submitted_on = models.DateField(null=True, blank=True)
    baseline = models.BooleanField(default=False)
    source_name = models.CharField(max_length=255)
    columns = models.FileField(upload_to="runs/%Y/%m", max_length=300)
    digest = models.CharField(max_length=64)
    n_rows = models.PositiveBigIntegerField()
    n_topics = models.PositiveIntegerField()
    max_depth = models.PositiveIntegerField(default=0)
    warnings = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["tag"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "tag"], name="one_run_per_tag")
        ]

    def __str__(self) -> str:
        return self.tag


class Qrels(models.Model):
    """Imported relevance grades: metadata of a columnar file (assay.formats.qrels.load_qrels)."""

    class Kind(models.TextChoices):
        JUDGED = "judged", _("from judgements")
        CLICKS = "clicks", _("from clicks")

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="qrels")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.JUDGED)
    source_name = models.CharField(max_length=255)
    columns = models.FileField(upload_to="qrels/%Y/%m", max_length=300)
    digest = models.CharField(max_length=64)
    n_rows = models.PositiveBigIntegerField()
    n_topics = models.PositiveIntegerField()
    grades = models.JSONField(default=dict, help_text="grade -> pairs")
    warnings = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "qrels"
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="one_qrels_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class Pool(models.Model):
    """The pairs to judge, reproducible from runs and seed.

    They are the union over runs of the top `depth` of each topic, or the pairs of a file. Staged
    kinds assign some of them at a time.
    """

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="pools")
    name = models.CharField(max_length=200)
    kind = models.CharField(
        max_length=10,
        choices=pool_kinds.TYPE_CHOICES,
        default=PoolKind.DEPTH.value,
        db_default=PoolKind.DEPTH.value,
    )
    depth = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="number of ranks taken from each run; empty if the pairs come from a file without ranks",
    )
    parameters = models.JSONField(
        default=dict,
        blank=True,
        db_default=Value({}, models.JSONField()),
        help_text="parameters of a sampled or prioritised pool",
    )
    seed = models.BigIntegerField(default=0)
    runs = models.ManyToManyField(Run, related_name="pools")
    source = models.CharField(
        max_length=255,
        blank=True,
        help_text="file with its pairs; empty if they come from runs",
    )
    suggested = models.JSONField(
        default=dict,
        blank=True,
        help_text="campaign settings imported with the pairs",
    )
    n_pairs = models.PositiveIntegerField(default=0)
    by_depth = models.JSONField(default=dict, help_text="depth -> pairs of the pool of that depth")
    coverage = models.JSONField(
        default=dict, help_text="unique contributions and overlap between runs"
    )
    digest = models.CharField(max_length=64, blank=True)
    missing_documents = models.PositiveIntegerField(
        default=0, help_text="pairs whose document has no stored text"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    built_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="empty until the job that builds the pool has finished",
    )
    extended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="one_pool_per_name")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def words(self) -> str:
        """Return a short description of how the pairs were selected."""
        return pool_kinds.describe_pool(self.kind, depth=self.depth, source=self.source)

    @property
    def least_depth(self) -> int:
        """Return the smallest depth to which the pool can be extended. For pairs without ranks, it
        leaves room for new pairs below the file's priorities."""
        if self.depth is not None:
            return self.depth
        return 1 + max(self.entries.aggregate(most=models.Max("priority"))["most"] or 0, 0)

    @property
    def is_staged(self) -> bool:
        return self.kind in pool_kinds.STAGED_KINDS

    @property
    def is_sampled(self) -> bool:
        return self.kind == pool_kinds.PoolKind.SAMPLED

    @property
    def stage_shares(self) -> list[float]:
        """Return the cumulative shares of a sampled pool's stages without repetition. The stage of
        an unpooled run has the share of the previous one."""
        return list(dict.fromkeys(self.parameters.get("stages", [])))

    @property
    def level_word(self) -> str:
        return pool_kinds.get_level_word(self.kind, depth=self.depth)

    def level_of(self, priority: int) -> int:
        """Return the rank, batch or stage of the pairs with this priority."""
        return pool_kinds.compute_level(self.kind, priority, depth=self.depth)


class Stratum(models.Model):
    """A stratum of a pool from which pairs were sampled, or a set of selected pairs that are all
    judged.

    Its size is that at the time of sampling and never changes. Later pairs form new strata.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="strata", db_index=False)
    number = models.PositiveIntegerField(help_text="what its entries hold in `stratum`")
    name = models.CharField(
        max_length=300, help_text="topic/window, or *window if it spans all topics"
    )
    size = models.PositiveIntegerField(help_text="pairs at the time of sampling: N_h")
    drawn = models.JSONField(
        default=list,
        help_text="pairs drawn by the end of each stage of the pool, from the first on: n_h",
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "number"], name="one_stratum_per_number"),
            models.UniqueConstraint(fields=["pool", "name"], name="one_stratum_per_name"),
        ]

    def __str__(self) -> str:
        return self.name


class PoolEntry(models.Model):
    """A pair of a pool. `position` is its place in the judging order. Lower positions are judged
    earlier.

    stratum, place, stage, entered: for staged pools only. An entry without a stage is not judged
    yet.
    """

    LACKS_TEXT = Q(document=None) | ~Q(other_docno="") & Q(other_document=None)

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="entries")
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    docno = models.CharField(
        max_length=255,
        help_text="the document's own id; a pair exists before, and without, its stored text",
    )
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    best_rank = models.PositiveIntegerField()
    priority = models.IntegerField()
    other_docno = models.CharField(
        max_length=255,
        blank=True,
        default="",
        db_default="",
        help_text="of a battle: the document with which it is compared",
    )
    other_document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    systems = models.JSONField(
        default=list,
        blank=True,
        db_default=[],
        help_text="of a battle: [run of the document, run of the other], never shown to annotators",
    )
    everyone = models.BooleanField(
        default=False,
        db_default=False,
        help_text="each annotator judges it (FiRA's priority `all`)",
    )
    position = models.PositiveIntegerField()
    contributions = models.JSONField(default=dict, help_text="run tag -> rank")
    stratum = models.PositiveIntegerField(null=True, blank=True, help_text="number of its Stratum")
    place = models.PositiveIntegerField(
        null=True, blank=True, help_text="position in the shuffled stratum, from 0"
    )
    stage = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="stage in which it was selected, from 1"
    )
    entered = models.CharField(
        max_length=6,
        choices=pool_kinds.SELECTION_CHOICES,
        blank=True,
        default="",
        db_default="",
        help_text="selected at random or chosen",
    )

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["pool", "topic", "docno", "other_docno"], name="one_entry_per_pair"
            )
        ]
        indexes = [models.Index(fields=["pool", "position"], name="pool_order")]

    def __str__(self) -> str:
        return f"{self.topic.topic_id} {self.label}"

    @property
    def label(self) -> str:
        """Return the ID of the document, or those of a battle's documents."""
        return f"{self.docno} {self.other_docno}".rstrip()


class Job(models.Model):
    """A background job. This row is authoritative. The broker only carries a notification
    (docs/decisions)."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    ACTIVE = (State.QUEUED, State.RUNNING)
    """States of unfinished jobs."""

    kind = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED, db_index=True)
    label = models.CharField(max_length=300, help_text="description of the requested job")
    collection = models.ForeignKey(
        Collection, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    campaign_id = models.BigIntegerField(null=True, blank=True, db_index=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    progress = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True, blank=True)
    unit = models.CharField(max_length=20, default="rows")
    n_bytes = models.BigIntegerField(default=0)
    message = models.TextField(blank=True)
    report = models.JSONField(default=dict, blank=True, help_text="counts, warnings, refused lines")
    cancel_requested = models.BooleanField(default=False)
    attempt = models.PositiveSmallIntegerField(default=0)
    owner = models.CharField(
        max_length=40, blank=True, help_text="token of the worker that holds the job"
    )
    heartbeat = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["created_at"], condition=Q(state="queued"), name="queued_jobs")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"


class KeptAnswer(models.Model):
    """The stored response to an API request with an Idempotency-Key, returned if the request is
    repeated. digest: digest of the request."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    headers = models.JSONField(default=dict)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        verbose_name = "kept answer"
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return f"{self.key} of {self.user}: {self.status}"
