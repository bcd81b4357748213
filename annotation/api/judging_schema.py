"""Schemas of the judging API's answers. Selectors and views create the answers, and
tests/annotation/api/test_judging_schema.py compares them with these schemas."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.preferences import TASK_CHOICES
from annotation.core.scale import SHAPES
from annotation.models import Campaign, GuestOutcome, Judgement, Lease
from annotation.services.judging.submission import CANNOT_JUDGE_REASONS
from pooling.models import Collection

STATE_CHOICES = [
    ("judging", "pairs can be judged"),
    ("qualification", "the qualification test comes first"),
    ("consent_needed", "consent is required first"),
    ("guideline_changed", "the new guidelines must be read first"),
    ("paused", "the campaign or this person is paused"),
    ("nothing_now", "all remaining pairs are assigned to others or lack documents"),
    ("done", "nothing is left for this person"),
    ("target_reached", "the target is reached"),
    ("daily_limit", "the daily limit is reached"),
    ("deadline_passed", "the deadline has passed"),
    ("closed", "the campaign is closed"),
    ("draft", "not opened yet"),
    ("excluded", "this person no longer takes part"),
]


class ProgressSerializer(serializers.Serializer):
    judged = serializers.IntegerField()
    target = serializers.IntegerField(allow_null=True)
    today = serializers.IntegerField(
        help_text="judgements since midnight in the annotator's time zone"
    )
    daily_limit = serializers.IntegerField(allow_null=True)
    unread_answers = serializers.IntegerField(
        help_text="unread answers of managers to own questions"
    )


class GuidelineSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    html = serializers.CharField()
    note = serializers.CharField(allow_blank=True, help_text="what changed")
    acknowledged = serializers.IntegerField(
        required=False, help_text="last version that this person has read; at setup"
    )


class SituationSerializer(serializers.Serializer):
    """Whether the annotator may judge now and, if not, why. The fields after `server_time` are
    present in the states that they name."""

    state = serializers.ChoiceField(choices=STATE_CHOICES)
    message = serializers.CharField(
        allow_blank=True, help_text="`state` as a sentence for the annotator"
    )
    progress = ProgressSerializer()
    server_time = serializers.DateTimeField()
    judged = serializers.IntegerField(
        required=False, help_text="answered questions; with state qualification"
    )
    right = serializers.IntegerField(
        required=False, help_text="correct answers; with state qualification"
    )
    total = serializers.IntegerField(
        required=False, help_text="number of questions; with state qualification"
    )
    needed = serializers.IntegerField(
        required=False, help_text="correct answers needed to pass; with state qualification"
    )
    consent_html = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="consent text; with state consent_needed, and at setup",
    )
    guideline = GuidelineSerializer(
        required=False,
        allow_null=True,
        help_text="newest guidelines; with state guideline_changed, with judging if there is a new "
        "example, and at setup",
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, help_text="reason for the pause; with state paused"
    )
    who = serializers.ChoiceField(
        required=False,
        choices=["campaign", "person"],
        help_text="whether the campaign or the person is paused; with state paused",
    )
    may_continue = serializers.BooleanField(
        required=False, help_text="whether judging can continue; with state target_reached"
    )
    deadline = serializers.DateTimeField(
        required=False, help_text="time of the deadline; with state deadline_passed"
    )
    completion_code = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="completion code; with states done and target_reached, and if it was earned also "
        "with closed and deadline_passed",
    )
    completion_url = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="address shown at the end; with the same states as completion_code",
    )
    panel = serializers.CharField(
        required=False,
        help_text="name of the panel that a guest came from; with the end of the guest's participation",
    )
    outcome = serializers.ChoiceField(
        required=False,
        choices=list(GuestOutcome),
        help_text="how the guest's participation ended; with panel",
    )
    thanks_html = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="thank-you message; with states done, target_reached, closed and deadline_passed",
    )
    retry_after_s = serializers.IntegerField(
        required=False, help_text="seconds until the next request; with state nothing_now"
    )
    may_return = serializers.IntegerField(
        required=False, help_text="number of pairs assigned to others; with state nothing_now"
    )
    next_return_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="time at which the first of them may be released; with state nothing_now",
    )
    without_documents = serializers.IntegerField(
        required=False,
        help_text="number of pairs without a stored document; with state nothing_now",
    )


class NamedTopicSerializer(serializers.Serializer):
    id = serializers.CharField()
    text = serializers.CharField(allow_blank=True)


class NamedDocumentSerializer(serializers.Serializer):
    id = serializers.CharField()
    title = serializers.CharField(allow_blank=True)


class ShownTopicSerializer(NamedTopicSerializer):
    description = serializers.CharField(allow_blank=True)
    narrative = serializers.CharField(allow_blank=True)


class ShownDocumentSerializer(NamedDocumentSerializer):
    text = serializers.CharField(allow_blank=True)
    fields = serializers.DictField(help_text="other fields of the document, as imported")  # type: ignore[assignment]
    missing = serializers.BooleanField(help_text="whether its text is missing")
    n_words = serializers.IntegerField()
    shown_words = serializers.IntegerField(
        allow_null=True, help_text="number of words shown at first; null for all"
    )
    shown_end = serializers.IntegerField(
        help_text="end of the shown part, in characters of the text"
    )
    idle_limit_s = serializers.IntegerField(help_text="inactivity timeout in seconds")
    rotation = serializers.IntegerField(help_text="character at which the shown text begins")
    lang = serializers.CharField(
        allow_blank=True,
        help_text=(
            "language (BCP 47) from the document's `lang` or `language` field; empty if unknown"
        ),
    )
    dir = serializers.ChoiceField(
        choices=["auto", "ltr", "rtl"],
        help_text="text direction from its field dir, otherwise from its language",
    )


class RevisionSerializer(serializers.Serializer):
    grade = serializers.IntegerField(allow_null=True)
    cannot_reason = serializers.ChoiceField(choices=["", *CANNOT_JUDGE_REASONS])
    answers = serializers.DictField(
        child=serializers.IntegerField(allow_null=True),
        help_text="answers to further questions by key; null if it cannot be judged",
    )
    judged_at = serializers.DateTimeField()


class HistoryItemSerializer(RevisionSerializer):
    """A judgement by the annotator with its revisions, oldest first."""

    judgement = serializers.IntegerField(help_text="ID of the newest revision")
    pair = serializers.IntegerField()
    topic = NamedTopicSerializer()
    document = NamedDocumentSerializer()
    other = NamedDocumentSerializer(required=False, help_text="right document of a battle")
    note = serializers.CharField(allow_blank=True)
    spans = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2)
    )
    status = serializers.ChoiceField(choices=Judgement.Status.choices)
    practice = serializers.BooleanField(
        help_text="whether the pair belongs to the qualification test"
    )
    may_revise = serializers.BooleanField()
    revisions = RevisionSerializer(many=True)


class PairSerializer(serializers.Serializer):
    """A topic and a document to judge, limited to what annotators may see."""

    pair = serializers.IntegerField()
    topic = ShownTopicSerializer()
    document = ShownDocumentSerializer()
    other = ShownDocumentSerializer(
        required=False, help_text="right document of a battle, whose left one is `document`"
    )
    skipped_before = serializers.BooleanField(help_text="whether the pair was skipped before")
    previous = HistoryItemSerializer(allow_null=True)


class LeasedPairSerializer(PairSerializer):
    lease = serializers.UUIDField()
    order = serializers.IntegerField(
        help_text="position in which pairs are shown, regardless of the order of responses"
    )
    served_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    left_in_topic = serializers.IntegerField(
        help_text="estimated number of further pairs of the topic"
    )


class JudgedPairSerializer(PairSerializer):
    lease = serializers.UUIDField(allow_null=True, help_text="null when a judgement is revised")


class ServedSerializer(SituationSerializer):
    pairs = LeasedPairSerializer(many=True, help_text="newly assigned pairs")


class JudgementSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    pair = serializers.IntegerField()
    revision = serializers.IntegerField()
    grade = serializers.IntegerField(allow_null=True)
    status = serializers.ChoiceField(choices=Judgement.Status.choices)
    late = serializers.BooleanField(help_text="whether it arrived after its lease ended")
    after_deadline = serializers.BooleanField()
    message = serializers.CharField(help_text="whether it counts, and if not, why")


class PracticeSerializer(serializers.Serializer):
    """The result of an answer in the qualification test, and of the test so far."""

    right = serializers.BooleanField(
        help_text="whether the answer is correct by the campaign's `gold_rule`"
    )
    grade = serializers.IntegerField(allow_null=True)
    gold_grade = serializers.IntegerField(allow_null=True)
    explanation = serializers.CharField(allow_blank=True)
    judged = serializers.IntegerField()
    n_right = serializers.IntegerField()
    total = serializers.IntegerField()
    needed = serializers.IntegerField()
    passed = serializers.BooleanField(allow_null=True, help_text="null while pairs are left")


class SubmittedSerializer(ServedSerializer):
    judgement = JudgementSerializer()
    feedback = PracticeSerializer(
        allow_null=True, help_text="null except for pairs of the qualification test"
    )


class HeldLeaseSerializer(serializers.Serializer):
    state = serializers.ChoiceField(choices=Lease.State.choices)
    expires_at = serializers.DateTimeField()


class RenewedSerializer(SituationSerializer):
    leases = serializers.DictField(
        child=HeldLeaseSerializer(), help_text="leases by token; unknown tokens are omitted"
    )


class ReleasedSerializer(SituationSerializer):
    released = serializers.IntegerField(help_text="number of released leases")


class AsideSerializer(serializers.Serializer):
    pair = serializers.IntegerField()
    topic = NamedTopicSerializer()
    document = NamedDocumentSerializer()
    at = serializers.DateTimeField()


class PutAsideSerializer(SituationSerializer):
    items = AsideSerializer(many=True, help_text="most recent first")


class HistorySerializer(SituationSerializer):
    items = HistoryItemSerializer(many=True, help_text="most recently judged first")


class JudgedSerializer(SituationSerializer):
    pair = JudgedPairSerializer()
    judgement = HistoryItemSerializer()


class NearDuplicateSerializer(serializers.Serializer):
    """A near-duplicate of a document, with the annotator's own judgement."""

    resemblance = serializers.FloatField(
        help_text="Jaccard similarity of five-word shingles; 1 for identical word sequences"
    )
    document = ShownDocumentSerializer()
    judgement = HistoryItemSerializer()


class NearDuplicatesSerializer(SituationSerializer):
    items = NearDuplicateSerializer(many=True, help_text="at most three, most similar first")


class QuestionSerializer(serializers.Serializer):
    """A question by the annotator about a pair."""

    id = serializers.IntegerField()
    pair = serializers.IntegerField()
    topic = NamedTopicSerializer()
    document = NamedDocumentSerializer()
    text = serializers.CharField()
    asked_at = serializers.DateTimeField()
    answer = serializers.CharField(allow_blank=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    is_read = serializers.BooleanField(help_text="whether the answer has been read")
    example_in = serializers.IntegerField(
        allow_null=True, help_text="version of the guidelines that contains it as an example"
    )
    judgement = serializers.IntegerField(
        allow_null=True, help_text="own judgement of the pair, if it can be opened again"
    )


class QuestionsSerializer(SituationSerializer):
    items = QuestionSerializer(many=True, help_text="most recent first")


class SavedSettingsSerializer(SituationSerializer):
    profile = serializers.DictField(help_text="the person's own settings of the judging page")


class GradeSerializer(serializers.Serializer):
    value = serializers.IntegerField()
    name = serializers.CharField()
    explanation = serializers.CharField(required=False, allow_blank=True)
    example = serializers.CharField(required=False, allow_blank=True)
    shape = serializers.ChoiceField(
        required=False, choices=SHAPES, help_text="sign shown with its colour"
    )


class FurtherQuestionSerializer(serializers.Serializer):
    """A question about the document that is asked after the grade."""

    key = serializers.CharField()
    title = serializers.CharField()
    prompt = serializers.CharField()
    scale = GradeSerializer(many=True, help_text="lowest value first")
    min_relevant = serializers.IntegerField(help_text="lowest value counted as 1 in binary labels")
    required = serializers.BooleanField(required=False, help_text="default true")  # type: ignore[assignment]
    asked_from = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="lowest grade at which it is asked; null for always",
    )


class CampaignSettingsSerializer(serializers.Serializer):
    slug = serializers.CharField()
    name = serializers.CharField()
    deadline = serializers.DateTimeField(allow_null=True)
    grace_minutes = serializers.IntegerField()
    spans = serializers.ChoiceField(choices=Campaign.Spans.choices)
    spans_from = serializers.IntegerField(help_text="lowest grade that requires a passage")
    rotate_text = serializers.BooleanField()
    show_near_duplicates = serializers.BooleanField(
        help_text="whether near-duplicates graded by the annotator are shown"
    )
    truncate_words = serializers.IntegerField(allow_null=True)
    idle_seconds = serializers.IntegerField()
    lease_minutes = serializers.IntegerField()
    lease_window = serializers.IntegerField(help_text="pairs assigned ahead")
    continue_after_target = serializers.BooleanField()
    simulated = serializers.BooleanField()
    min_relevant = serializers.IntegerField(help_text="minimum relevant grade")
    task = serializers.ChoiceField(
        choices=TASK_CHOICES, help_text="whether annotators grade one document or compare two"
    )
    text_format = serializers.ChoiceField(
        choices=Collection.TextFormat.choices, help_text="format of the document texts"
    )


class UnreadSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class SetupSerializer(SavedSettingsSerializer):
    consent_html = serializers.CharField(allow_blank=True)
    guideline = GuidelineSerializer(allow_null=True)
    campaign = CampaignSettingsSerializer()
    scale = GradeSerializer(many=True, help_text="lowest grade first")
    further_questions = FurtherQuestionSerializer(
        many=True, help_text="asked after the grade, in this order"
    )
    pseudonym = serializers.CharField()
    part = serializers.IntegerField(
        allow_null=True,
        help_text="target, limited to the pairs available to one person; null without a target",
    )
    feedback_given = serializers.BooleanField()
    has_judged = serializers.BooleanField(help_text="whether a judgement can be opened again")
    messages = UnreadSerializer(many=True, help_text="unread messages")


class KnownGradeSerializer(serializers.Serializer):
    grade = serializers.IntegerField()
    right = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="grades that count as correct by the campaign's `gold_rule`",
    )
    explanation = serializers.CharField(allow_blank=True)


class AlikeSerializer(serializers.Serializer):
    pair = serializers.IntegerField()
    resemblance = serializers.FloatField(help_text="similarity of the texts, from 0.5 to 1")


class TrialPairSerializer(PairSerializer):
    known = KnownGradeSerializer(
        allow_null=True,
        help_text="for pairs of the qualification test, otherwise null",
    )
    near = AlikeSerializer(
        many=True,
        help_text="near-duplicates in the trial; empty if the campaign does not show them",
    )


class TrialSerializer(serializers.Serializer):
    """All data of a manager's trial of the judging page. Nothing is stored."""

    campaign = CampaignSettingsSerializer()
    scale = GradeSerializer(many=True, help_text="lowest grade first")
    further_questions = FurtherQuestionSerializer(
        many=True, help_text="asked after the grade, in this order"
    )
    guideline = GuidelineSerializer(allow_null=True)
    consent_html = serializers.CharField(allow_blank=True)
    profile = serializers.DictField(help_text="the person's own settings of the judging page")
    min_active_ms = serializers.IntegerField(help_text="minimum active time in milliseconds")
    needed = serializers.IntegerField(
        help_text="correct answers needed to pass the qualification test; 0 without a test"
    )
    pairs = TrialPairSerializer(
        many=True,
        help_text="pairs of the qualification test, then four pairs of each of three topics",
    )
    server_time = serializers.DateTimeField()
