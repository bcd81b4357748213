"""Pairs, leases, judgements and questions."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.core.preferences import is_swapped
from annotation.models.campaigns import Campaign
from annotation.models.members import Membership
from pooling.models import PoolEntry


class Pair(models.Model):
    """A topic-document pair to be judged in a campaign. In a preference campaign, a battle of two
    documents.

    `open_slots` = needed - counted - held is updated by the services in the same transaction as
    leases and judgements, and the partial index depends on it. In this module, a foreign key that
    is the first column of another index has no index of its own, because every claim would have to
    update it.
    """

    class Kind(models.TextChoices):
        NORMAL = "normal"
        GOLD = "gold"
        EVERYONE = "everyone"
        QUALIFICATION = "qualification"

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="pairs", db_index=False
    )
    entry = models.ForeignKey(PoolEntry, on_delete=models.PROTECT, related_name="+")
    topic_row = models.BigIntegerField(
        help_text="primary key of the topic, copied from the pool entry"
    )
    kind = models.CharField(max_length=15, choices=Kind, default=Kind.NORMAL)
    priority = models.IntegerField()
    position = models.PositiveIntegerField()
    needed = models.PositiveSmallIntegerField()
    counted = models.PositiveSmallIntegerField(default=0, help_text="judgements that fill a slot")
    held = models.PositiveSmallIntegerField(default=0, help_text="live leases")
    open_slots = models.SmallIntegerField()
    asked_more = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="additional judgements requested by managers",
    )
    started = models.BooleanField(default=False, help_text="has a judgement or a live lease")
    without_text = models.BooleanField(
        default=False,
        db_default=False,
        help_text="its document has no stored text yet, so it is not assigned; kept by the services",
    )
    removed = models.BooleanField(
        default=False,
        db_default=False,
        help_text="its topic is removed, so it is neither assigned nor counted; kept by the services",
    )
    beyond_depth = models.BooleanField(
        default=False,
        db_default=False,
        help_text=(
            "its priority is below the campaign's lowest, so it is assigned only if it has judgements; "
            "kept by the services"
        ),
    )
    gold_grade = models.SmallIntegerField(null=True, blank=True)
    gold_explanation = models.TextField(blank=True)
    unjudgeable = models.BooleanField(
        default=False,
        help_text=("enough annotators said that it cannot be judged, so it is no longer assigned"),
    )
    adjudicated_grade = models.SmallIntegerField(null=True, blank=True)
    adjudicated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    adjudicated_at = models.DateTimeField(null=True, blank=True)
    adjudicated_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "entry"], name="one_pair_per_entry"),
            models.CheckConstraint(
                condition=Q(open_slots=F("needed") - F("counted") - F("held")), name="slots_add_up"
            ),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "-priority", "-started", "position"],
                condition=Q(open_slots__gt=0, kind="normal", without_text=False),
                name="open_pairs",
            ),
            models.Index(
                fields=["campaign", "topic_row", "-priority", "-started", "position"],
                condition=Q(open_slots__gt=0, kind="normal", without_text=False),
                name="open_pairs_of_topic",
            ),
            models.Index(
                fields=["campaign", "-priority", "position"],
                condition=Q(open_slots__gt=0, kind="normal", without_text=False, started=True),
                name="half_judged_pairs",
            ),
            models.Index(
                fields=["campaign", "kind"], condition=~Q(kind="normal"), name="special_pairs"
            ),
            models.Index(
                fields=["campaign"], condition=Q(without_text=True), name="pairs_without_text"
            ),
            models.Index(
                fields=["campaign"],
                condition=Q(adjudicated_grade__isnull=False),
                name="ruled_pairs",
            ),
        ]

    def __str__(self) -> str:
        return f"pair {self.pk}"

    @property
    def is_excluded_by_depth(self) -> bool:
        """Whether the pair is unjudged and beyond the judging depth, so that it is not assigned."""
        return self.beyond_depth and not self.counted


class Lease(models.Model):
    """A time-limited reservation of a pair's judgement for one annotator."""

    class State(models.TextChoices):
        LIVE = "live"
        SUBMITTED = "submitted"
        RELEASED = "released"
        EXPIRED = "expired"

    token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="leases")
    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="leases", db_index=False
    )
    state = models.CharField(max_length=10, choices=State, default=State.LIVE)
    takes_slot = models.BooleanField(default=True, help_text="false for control pairs")
    served_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    why = models.JSONField(default=dict, help_text="rule that chose this pair, with its numbers")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["membership", "pair"],
                condition=Q(state="live"),
                name="one_live_lease_per_annotator",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(state="live"), name="live_leases"),
            models.Index(fields=["membership", "state"], name="leases_of_annotator"),
        ]

    def __str__(self) -> str:
        return str(self.token)


class Judgement(models.Model):
    """One revision of an annotator's judgement of a pair. Rows are only added, and the newest
    revision is `current`."""

    class Status(models.TextChoices):
        COUNTED = "counted", "fills a slot of its pair"
        EXTRA = "extra", "kept, never in labels"
        TOO_FAST = "too fast", "kept as raw data"
        CANNOT = "cannot judge", "has no grade, fills no slot"
        EXCLUDED = "excluded", "its annotator is excluded: kept as raw data"

    key = models.UUIDField(help_text="idempotency key created by the browser")
    pair = models.ForeignKey(
        Pair, on_delete=models.PROTECT, related_name="judgements", db_index=False
    )
    membership = models.ForeignKey(
        Membership, on_delete=models.PROTECT, related_name="judgements", db_index=False
    )
    lease = models.ForeignKey(
        Lease, null=True, blank=True, on_delete=models.SET_NULL, related_name="judgements"
    )
    revision = models.PositiveSmallIntegerField(default=1)
    current = models.BooleanField(default=True)
    grade = models.SmallIntegerField(
        null=True,
        blank=True,
        help_text="null if it cannot be judged; a preference refers to the entry's two documents",
    )
    cannot_reason = models.CharField(
        max_length=20,
        blank=True,
        help_text="unclear query, broken document, language, expertise, other",
    )
    answers = models.JSONField(
        default=dict,
        blank=True,
        db_default={},
        help_text="answers to further questions by key; null if it cannot be judged",
    )
    presentation = models.JSONField(
        default=dict,
        blank=True,
        db_default={},
        help_text="how the page presented the pair, such as the side of a document",
    )
    note = models.TextField(blank=True)
    spans = models.JSONField(
        default=list, blank=True, help_text="[[start, end)] in code points of the stored text"
    )
    status = models.CharField(max_length=12, choices=Status, default=Status.COUNTED)
    late = models.BooleanField(default=False, help_text="whether the lease had expired")
    after_deadline = models.BooleanField(
        default=False, help_text="arrived in the grace after the deadline"
    )
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    idle_ms = models.PositiveIntegerField(null=True, blank=True)
    hidden_ms = models.PositiveIntegerField(null=True, blank=True)
    wall_ms = models.PositiveIntegerField(null=True, blank=True)
    server_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="time from lease to arrival, by the server's clock"
    )
    guideline_version = models.PositiveIntegerField(default=0)
    device = models.CharField(max_length=20, blank=True)
    served_at = models.DateTimeField(null=True, blank=True)
    judged_at = models.DateTimeField(
        help_text="when the key was pressed, estimated by the server's clock"
    )
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["membership", "key"], name="one_judgement_per_key"),
            models.UniqueConstraint(
                fields=["pair", "membership", "revision"], name="one_judgement_per_revision"
            ),
            models.UniqueConstraint(
                fields=["pair", "membership"],
                condition=Q(current=True),
                name="one_current_judgement",
            ),
        ]
        indexes = [models.Index(fields=["membership", "-judged_at"], name="own_history")]

    def __str__(self) -> str:
        return f"{self.grade} r{self.revision}"


class Skip(models.Model):
    """A pair that an annotator skipped. It is assigned to them again only when no other pair is
    left."""

    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="skips", db_index=False)
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="skips")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pair", "membership"], name="one_skip_per_annotator")
        ]

    def __str__(self) -> str:
        return f"later: {self.pair_id}"


class Question(models.Model):
    """An annotator's question about a pair. The answer can be published as an example in the
    guidelines, without the name."""

    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="questions")
    key = models.UUIDField(
        default=uuid.uuid4,
        help_text="random key chosen by the page, so that a repeated question is stored once",
    )
    text = models.TextField()
    asked_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="when the annotator opened the answer"
    )
    example_in = models.PositiveIntegerField(
        null=True, blank=True, help_text="version of the guidelines that contains it as an example"
    )

    class Meta:
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["membership", "key"], name="one_question_per_key")
        ]
        indexes = [
            models.Index(fields=["pair"], condition=Q(answered_at=None), name="open_questions")
        ]

    def __str__(self) -> str:
        return self.text[:40]

    @property
    def document_names(self) -> list[str]:
        """Return the title of the document or else its ID. Of a battle, those of the left and the
        right document, as the annotator saw them."""
        entry = self.pair.entry
        sides = ((entry.docno, entry.document), (entry.other_docno, entry.other_document))
        names = [(stored.title if stored else "") or docno for docno, stored in sides if docno]
        swapped = is_swapped(seed=self.membership.seed, topic=self.pair.topic_row)
        return names[::-1] if swapped else names
