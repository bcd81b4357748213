"""Campaigns, the people in them, leases, judgements and what managers decide about them."""

from __future__ import annotations

import secrets
import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from pooling.models import Collection, Pool, PoolEntry


def invite_token() -> str:
    return secrets.token_urlsafe(24)


def completion_code() -> str:
    return secrets.token_hex(4).upper()


def default_scale() -> list[dict[str, object]]:
    """The four grades of TripJudge, lowest first. `shape` is the sign shown beside the colour."""
    return [
        {"value": 0, "name": "Wrong", "explanation": "Not about the topic.", "example": "", "shape": "cross"},
        {"value": 1, "name": "Topic", "explanation": "About the topic, but does not answer the query.", "example": "", "shape": "ring"},
        {"value": 2, "name": "Partial", "explanation": "Answers a part of the query.", "example": "", "shape": "half"},
        {"value": 3, "name": "Perfect", "explanation": "Answers the query.", "example": "", "shape": "disc"},
    ]


class Profile(models.Model):
    """A person's own settings: time zone, keys, look of the judging page."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile")
    time_zone = models.CharField(max_length=60, blank=True)
    choices = models.JSONField(default=dict, blank=True, help_text="keys, text size, theme, highlighting, confirm mode")
    may_create = models.BooleanField(default=False, help_text="may make collections and campaigns")

    def __str__(self) -> str:
        return str(self.user)


class ApiTokenRow(models.Model):
    """A token for scripts; only its SHA-256 digest is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Campaign(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class Spans(models.TextChoices):
        OFF = "off"
        OPTIONAL = "optional"
        REQUIRED = "required", "required from a grade up"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="campaigns")
    pool = models.ForeignKey(Pool, null=True, blank=True, on_delete=models.PROTECT, related_name="campaigns")
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    paused_reason = models.TextField(blank=True)
    scale = models.JSONField(default=default_scale, help_text="2 to 9 grades: value, name, explanation, example, shape")
    threshold = models.PositiveSmallIntegerField(default=2, help_text="lowest relevant grade")
    judgements_per_pair = models.PositiveSmallIntegerField(default=3)
    target_per_annotator = models.PositiveIntegerField(default=300)
    daily_limit = models.PositiveIntegerField(null=True, blank=True)
    continue_after_target = models.BooleanField(default=True)
    deadline = models.DateTimeField(null=True, blank=True)
    grace_minutes = models.PositiveSmallIntegerField(default=10)
    min_active_seconds = models.FloatField(default=1.0)
    idle_seconds = models.PositiveSmallIntegerField(default=60, help_text="idle limit for a short document; it grows with its length")
    lease_minutes = models.PositiveSmallIntegerField(default=10)
    lease_window = models.PositiveSmallIntegerField(default=3, help_text="pairs leased ahead")
    block_length = models.PositiveSmallIntegerField(default=10, help_text="pairs of one topic in a row before another is offered")
    expected_seconds = models.FloatField(default=48.0, help_text="expected seconds per judgement, for the cost preview")
    truncate_words = models.PositiveIntegerField(null=True, blank=True)
    spans = models.CharField(max_length=10, choices=Spans, default=Spans.OFF)
    spans_from = models.PositiveSmallIntegerField(default=2, help_text="lowest grade for which a span is required")
    rotate_text = models.BooleanField(default=False)
    gold_every = models.PositiveSmallIntegerField(default=20, help_text="one gold or everyone pair in so many pairs, on average")
    closing_hours = models.PositiveSmallIntegerField(
        default=24, help_text="from so many hours before the deadline, pairs that have judgements come first whatever their priority"
    )
    n_pairs = models.PositiveIntegerField(default=0, help_text="kept by the services")
    n_topics = models.PositiveIntegerField(default=0, help_text="topics with a pair, kept by the services")
    n_gold = models.PositiveIntegerField(default=0, help_text="kept by the services")
    n_everyone = models.PositiveIntegerField(default=0, help_text="kept by the services")
    min_common = models.PositiveSmallIntegerField(default=0, help_text="planned overlap: pairs that two annotators should share")
    min_partners = models.PositiveSmallIntegerField(default=0, help_text="planned overlap: with how many others")
    consent_text = models.TextField(blank=True, help_text="Markdown; empty: no consent is asked for")
    thanks_text = models.TextField(blank=True)
    completion_code = models.CharField(max_length=40, blank=True, default=completion_code)
    completion_url = models.URLField(blank=True)
    qualification_pass = models.FloatField(default=0.0, help_text="share of qualification pairs to get right; 0: no qualification")
    simulated = models.BooleanField(default=False, help_text="holds judgements of simulated annotators; said everywhere")
    seed = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class GuidelineVersion(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown")
    note = models.CharField(max_length=300, blank=True, help_text="what changed")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["campaign", "number"], name="one_guideline_per_number")]

    def __str__(self) -> str:
        return f"v{self.number}"


class Membership(models.Model):
    """One person's role in one campaign. Annotators appear under their pseudonym wherever data leave the campaign."""

    class Role(models.TextChoices):
        MANAGER = "manager"
        ANNOTATOR = "annotator"

    class Standing(models.TextChoices):
        ACTIVE = "active"
        PAUSED = "paused"
        EXCLUDED = "excluded"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    pseudonym = models.CharField(max_length=60)
    standing = models.CharField(max_length=10, choices=Standing, default=Standing.ACTIVE)
    standing_reason = models.TextField(blank=True, help_text="why paused or excluded; shown to the annotator when paused")
    target = models.PositiveIntegerField(null=True, blank=True, help_text="own target; empty: the campaign's")
    daily_limit = models.PositiveIntegerField(null=True, blank=True)
    topic_ids = models.JSONField(default=list, blank=True, help_text="rows of Topic this annotator may judge; empty: all")
    consented_at = models.DateTimeField(null=True, blank=True)
    guideline_read = models.PositiveIntegerField(default=0, help_text="last guideline version acknowledged")
    qualified_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    last_seen = models.DateTimeField(null=True, blank=True)
    simulated = models.BooleanField(default=False)
    seed = models.BigIntegerField(default=0, help_text="spreads gold and everyone pairs unpredictably over this annotator's sequence")
    n_counted = models.PositiveIntegerField(default=0, help_text="pairs with a submitted judgement, kept by the services")
    current_topic_id = models.BigIntegerField(null=True, blank=True, help_text="the topic of the current block")
    block_served = models.PositiveIntegerField(default=0)
    n_served = models.PositiveIntegerField(default=0)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="one_membership_per_person"),
            models.UniqueConstraint(fields=["campaign", "pseudonym"], name="one_person_per_pseudonym"),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def goal(self) -> int | None:
        """The annotator's own target, else the campaign's (with `campaign` loaded); None for no target."""
        return (self.campaign.target_per_annotator if self.target is None else self.target) or None

    @property
    def day_limit(self) -> int | None:
        """The annotator's own daily limit, else the campaign's; None for no limit."""
        return self.campaign.daily_limit if self.daily_limit is None else self.daily_limit


class Invitation(models.Model):
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role, default=Membership.Role.ANNOTATOR)
    token = models.CharField(max_length=64, unique=True, default=invite_token)
    code = models.CharField(max_length=20, unique=True, null=True, blank=True, help_text="short code to type in")
    name = models.CharField(max_length=200, blank=True, help_text="the person for whom it is, if for one")
    email = models.EmailField(blank=True)
    max_uses = models.PositiveIntegerField(null=True, blank=True)
    n_uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name or self.token[:6]


class Pair(models.Model):
    """A pair of the campaign as the scheduler sees it. `open_slots` = needed - counted - held is kept exact by the
    services in the same transaction as the lease or judgement, and is what the partial index is over.
    Here and below a foreign key that begins another index has none of its own: every claim writes to all of them."""

    class Kind(models.TextChoices):
        NORMAL = "normal"
        GOLD = "gold"
        EVERYONE = "everyone"
        QUALIFICATION = "qualification"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="pairs", db_index=False)
    entry = models.ForeignKey(PoolEntry, on_delete=models.PROTECT, related_name="+")
    topic_row = models.BigIntegerField(help_text="row of Topic, copied from the entry")
    kind = models.CharField(max_length=15, choices=Kind, default=Kind.NORMAL)
    priority = models.IntegerField()
    position = models.PositiveIntegerField()
    needed = models.PositiveSmallIntegerField()
    counted = models.PositiveSmallIntegerField(default=0, help_text="judgements that fill a slot")
    held = models.PositiveSmallIntegerField(default=0, help_text="live leases")
    open_slots = models.SmallIntegerField()
    started = models.BooleanField(default=False, help_text="has a judgement or a live lease")
    without_text = models.BooleanField(
        default=False, db_default=False, help_text="its document has no stored text yet: held back from annotators; kept by the services"
    )
    gold_grade = models.SmallIntegerField(null=True, blank=True)
    gold_explanation = models.TextField(blank=True)
    unjudgeable = models.BooleanField(
        default=False, help_text="as many annotators as it needs said that its query or document cannot be judged: not offered any more"
    )
    adjudicated_grade = models.SmallIntegerField(null=True, blank=True)
    adjudicated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    adjudicated_at = models.DateTimeField(null=True, blank=True)
    adjudicated_reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "entry"], name="one_pair_per_entry"),
            models.CheckConstraint(condition=Q(open_slots=F("needed") - F("counted") - F("held")), name="slots_add_up"),
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
            models.Index(fields=["campaign", "kind"], condition=~Q(kind="normal"), name="special_pairs"),
            models.Index(fields=["campaign"], condition=Q(without_text=True), name="pairs_without_text"),
        ]

    def __str__(self) -> str:
        return f"pair {self.pk}"


class Lease(models.Model):
    """One missing judgement of one pair, reserved for one annotator."""

    class State(models.TextChoices):
        LIVE = "live"
        SUBMITTED = "submitted"
        RELEASED = "released"
        EXPIRED = "expired"

    token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="leases")
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="leases", db_index=False)
    state = models.CharField(max_length=10, choices=State, default=State.LIVE)
    takes_slot = models.BooleanField(default=True, help_text="false for gold and everyone pairs")
    served_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    why = models.JSONField(default=dict, help_text="the rule and the numbers behind this claim")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["membership", "pair"], condition=Q(state="live"), name="one_live_lease_per_annotator"),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(state="live"), name="live_leases"),
            models.Index(fields=["membership", "state"], name="leases_of_annotator"),
        ]

    def __str__(self) -> str:
        return str(self.token)


class Judgement(models.Model):
    """One version of one annotator's judgement of one pair. Rows are only added; the newest revision is `current`."""

    class Standing(models.TextChoices):
        COUNTED = "counted", "fills a slot of its pair"
        EXTRA = "extra", "kept, never in labels"
        TOO_FAST = "too fast", "kept as raw data"
        CANNOT = "cannot judge", "has no grade, fills no slot"
        EXCLUDED = "excluded", "its annotator is excluded: kept as raw data"

    key = models.UUIDField(help_text="idempotency key made by the browser")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, related_name="judgements", db_index=False)
    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="judgements", db_index=False)
    lease = models.ForeignKey(Lease, null=True, blank=True, on_delete=models.SET_NULL, related_name="judgements")
    revision = models.PositiveSmallIntegerField(default=1)
    current = models.BooleanField(default=True)
    grade = models.SmallIntegerField(null=True, blank=True, help_text="null: cannot judge")
    cannot_reason = models.CharField(max_length=20, blank=True, help_text="unclear query, broken document, language, expertise, other")
    note = models.TextField(blank=True)
    spans = models.JSONField(default=list, blank=True, help_text="[[start, end)] in code points of the stored text")
    standing = models.CharField(max_length=12, choices=Standing, default=Standing.COUNTED)
    late = models.BooleanField(default=False, help_text="the lease had expired")
    after_deadline = models.BooleanField(default=False, help_text="arrived in the grace after the deadline")
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    idle_ms = models.PositiveIntegerField(null=True, blank=True)
    hidden_ms = models.PositiveIntegerField(null=True, blank=True)
    wall_ms = models.PositiveIntegerField(null=True, blank=True)
    server_ms = models.PositiveIntegerField(null=True, blank=True, help_text="lease to arrival by the server's clock")
    guideline_version = models.PositiveIntegerField(default=0)
    device = models.CharField(max_length=20, blank=True)
    served_at = models.DateTimeField(null=True, blank=True)
    judged_at = models.DateTimeField(help_text="when the key was pressed, by the server's clock as far as it can tell")
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["membership", "key"], name="one_judgement_per_key"),
            models.UniqueConstraint(fields=["pair", "membership", "revision"], name="one_judgement_per_revision"),
            models.UniqueConstraint(fields=["pair", "membership"], condition=Q(current=True), name="one_current_judgement"),
        ]
        indexes = [models.Index(fields=["membership", "-judged_at"], name="own_history")]

    def __str__(self) -> str:
        return f"{self.grade} r{self.revision}"


class Skip(models.Model):
    """A pair that an annotator put aside: not offered again until there is nothing else (judge later)."""

    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="skips", db_index=False)
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="skips")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["pair", "membership"], name="one_skip_per_annotator")]

    def __str__(self) -> str:
        return f"later: {self.pair_id}"


class Feedback(models.Model):
    class Score(models.TextChoices):
        VERY_GOOD = "VERY_GOOD", "Very good"
        GOOD = "GOOD", "Good"
        DECENT = "DECENT", "Decent"
        DONT_LIKE_IT = "DONT_LIKE_IT", "Don't like it"

    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="feedback")
    score = models.CharField(max_length=20, choices=Score)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.get_score_display()


class Message(models.Model):
    """A manager's message to an annotator, shown on the judging page until read."""

    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="messages")
    text = models.TextField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.text[:40]


class AuditEvent(models.Model):
    """Who changed what and when. Rows are only added."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="audit")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        indexes = [models.Index(fields=["campaign", "-at"], name="audit_by_time")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
