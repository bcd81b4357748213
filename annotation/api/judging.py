"""The API of the judging page, under /api/v1/judging/<slug>/. Every answer includes `server_time`,
`state`, `message` and `progress`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, cast

from django.contrib.auth.models import User
from django.http import Http404
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import permissions
from annotation.api import judging_schema
from annotation.models import Feedback, Membership, Message
from annotation.selectors import judging as selectors
from annotation.selectors.near_duplicates import find_near_duplicates, get_assigned_pair
from annotation.selectors.setup import get_setup, get_trial
from annotation.services.errors import AnswerRefused, CampaignError
from annotation.services.judging import assignment, leases
from annotation.services.judging import submission as judging
from annotation.services.judging.statements import defer_disk_sync
from annotation.services.people import participation
from pooling.api.bodies import TextField
from pooling.api.lists import read_integer
from pooling.api.parsers import JsonBody
from pooling.api.problems import problem_response

MAX_MS = 7 * 86_400_000
HISTORY, MOST_HISTORY = 50, 200
MAX_ID = 2**63 - 1


class LeaseSerializer(serializers.Serializer):
    """Leases of the page. want: number of leases to hold. held: tokens of the leases that the page
    has. offline: the annotator wants to judge without a connection."""

    want = serializers.IntegerField(min_value=0, max_value=50, default=3)
    held = serializers.ListField(child=serializers.UUIDField(), default=list, max_length=100)
    continue_after_target = serializers.BooleanField(default=False)
    offline = serializers.BooleanField(default=False)


class TokensSerializer(serializers.Serializer):
    leases = serializers.ListField(child=serializers.UUIDField(), max_length=100)


class AnswerSerializer(LeaseSerializer):
    """A judgement. Durations are milliseconds of this opening of the pair. Times are by the page's
    clock."""

    key = serializers.UUIDField()
    grade = serializers.IntegerField(allow_null=True)
    cannot_reason = serializers.ChoiceField(choices=["", *judging.CANNOT_JUDGE_REASONS], default="")
    answers = serializers.DictField(
        child=serializers.IntegerField(allow_null=True),
        default=dict,
        help_text="answers to further questions by key; null if it cannot be judged",
    )
    note = serializers.CharField(allow_blank=True, default="", max_length=10_000)
    spans = serializers.ListField(
        child=serializers.ListField(
            child=serializers.IntegerField(min_value=0), min_length=2, max_length=2
        ),
        default=list,
        max_length=500,
    )
    active_ms = serializers.IntegerField(
        min_value=0, max_value=MAX_MS, allow_null=True, default=None
    )
    idle_ms = serializers.IntegerField(min_value=0, max_value=MAX_MS, allow_null=True, default=None)
    hidden_ms = serializers.IntegerField(
        min_value=0, max_value=MAX_MS, allow_null=True, default=None
    )
    wall_ms = serializers.IntegerField(min_value=0, max_value=MAX_MS, allow_null=True, default=None)
    judged_at = serializers.DateTimeField(allow_null=True, default=None)
    sent_at = serializers.DateTimeField(allow_null=True, default=None)
    guideline_version = serializers.IntegerField(min_value=0, default=0)
    device = serializers.CharField(allow_blank=True, default="", max_length=20)


def _read_answer(data: dict[str, Any]) -> judging.Answer:
    """Convert the data of an AnswerSerializer."""
    names = (
        "grade",
        "cannot_reason",
        "answers",
        "note",
        "active_ms",
        "idle_ms",
        "hidden_ms",
        "wall_ms",
        "judged_at",
        "sent_at",
        "guideline_version",
        "device",
    )
    return judging.Answer(
        **{name: data[name] for name in names}, spans=[(start, end) for start, end in data["spans"]]
    )


class SubmitSerializer(AnswerSerializer):
    lease = serializers.UUIDField()


class SkipSerializer(LeaseSerializer):
    lease = serializers.UUIDField()
    key = serializers.UUIDField(required=False)


class NumberSerializer(serializers.Serializer):
    number = serializers.IntegerField(min_value=1)


class FeedbackSerializer(serializers.Serializer):
    score = serializers.ChoiceField(choices=Feedback.Score.choices)
    text = TextField(allow_blank=True, default="", max_length=10_000)


@cache
def _cached_serializer(
    serializer_class: type[serializers.Serializer], language: str
) -> serializers.Serializer:
    """Return one serializer for all requests in a language. Reading does not change it, and
    creating one costs more than reading a judgement. Its fields keep the first text of some of
    their errors, so each language needs its own."""
    return serializer_class()


class JudgingView(APIView):
    """A view of the judging API, which finds the annotator and returns errors for display on the
    page (format: pooling.api.problems)."""

    judging = True
    serializer_class: type[serializers.Serializer] | None = None

    def annotator(self, request: Request, slug: str) -> Membership:
        return permissions.get_annotator(request, slug)

    def data(self, request: Request) -> dict[str, Any]:
        """Return the validated body."""
        if self.serializer_class is None:
            raise TypeError("this view does not read the body")
        serializer = _cached_serializer(self.serializer_class, get_language())
        read: dict[str, Any] = serializer.run_validation(request.data)
        return read

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, AnswerRefused):
            return problem_response(exc.status, exc.code, exc.message)
        if isinstance(exc, CampaignError):
            return problem_response(409, "refused", str(exc))
        challenge = {"WWW-Authenticate": self.get_authenticate_header(self.request)}
        if isinstance(exc, exceptions.NotAuthenticated):
            return problem_response(
                401,
                "signed_out",
                _("You are signed out. Sign in again to continue. Nothing is lost."),
                headers=challenge,
            )
        if isinstance(exc, exceptions.AuthenticationFailed):
            return problem_response(401, "token_invalid", str(exc.detail), headers=challenge)
        if isinstance(exc, Http404):
            return problem_response(
                404, "not_found", _("Campaign not found, or you do not take part in it.")
            )
        return super().handle_exception(exc)


def situation_response(situation: selectors.Situation, **more: Any) -> Response:
    return Response(
        {
            **situation.details,
            # The requested data override details of the same name, because they contain more (for
            # example the
            # guidelines last read).
            **more,
            "state": situation.state,
            "message": situation.message,
            "progress": vars(situation.progress),
            "server_time": timezone.now(),
        }
    )


def get_situation(annotator: Membership) -> selectors.Situation:
    return selectors.get_situation(annotator, now=timezone.now())


def _refill_response(annotator: Membership, data: dict[str, Any], **more: Any) -> Response:
    served = assignment.refill_leases(
        annotator,
        want=data["want"],
        held=data["held"],
        continue_after_target=data["continue_after_target"],
        offline=data["offline"],
    )
    return situation_response(
        served.situation, pairs=selectors.render_leases(served.leases, annotator), **more
    )


class Setup(JudgingView):
    @extend_schema(responses=judging_schema.SetupSerializer, operation_id="judging_setup")
    def get(self, request: Request, slug: str) -> Response:
        """Return what the page needs once: the campaign's settings, scale and guidelines, and the
        annotator's settings and unread messages."""
        annotator = self.annotator(request, slug)
        return situation_response(get_situation(annotator), **get_setup(annotator))


class Trial(JudgingView):
    judging = False

    @extend_schema(responses=judging_schema.TrialSerializer, operation_id="campaign_trial")
    def get(self, request: Request, slug: str) -> Response:
        """Return a trial of the page for managers: settings and a few pairs. The page judges them
        locally, and nothing is stored."""
        campaign = permissions.get_managed_campaign(request, slug)
        nobody = Membership(campaign=campaign, user=cast(User, request.user))
        return Response({**get_trial(campaign, nobody), "server_time": timezone.now()})


class Leases(JudgingView):
    serializer_class = LeaseSerializer

    @extend_schema(
        request=LeaseSerializer,
        responses=judging_schema.ServedSerializer,
        operation_id="judging_lease",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Claim pairs until `want` leases are held. Active leases missing from `held` are sent
        again, so the request can be repeated."""
        annotator = self.annotator(request, slug)
        return _refill_response(annotator, self.data(request))


class RenewLeases(JudgingView):
    serializer_class = TokensSerializer

    @extend_schema(
        request=TokensSerializer,
        responses=judging_schema.RenewedSerializer,
        operation_id="judging_renew",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Extend active leases. A visible page calls this regularly. Returns the state of each
        lease."""
        annotator = self.annotator(request, slug)
        known = leases.renew_leases(annotator, self.data(request)["leases"])
        shown = {
            token: {"state": lease.state, "expires_at": lease.expires_at}
            for token, lease in known.items()
        }
        return situation_response(get_situation(annotator), leases=shown)


def _parse_beacon(tokens: list[Any]) -> Any:
    if len(tokens) != 1 or not isinstance(tokens[0], str) or not tokens[0].startswith("["):
        return tokens
    try:
        return json.loads(tokens[0])
    except (ValueError, RecursionError):
        raise AnswerRefused("malformed", "leases: not a list of tokens") from None


class ReleaseLeases(JudgingView):
    serializer_class = TokensSerializer
    parser_classes = [JsonBody, FormParser, MultiPartParser]

    @extend_schema(
        request=TokensSerializer,
        responses=judging_schema.ReleasedSerializer,
        operation_id="judging_release",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Release leases, for example when the page is closed. A beacon sends a form with `leases`
        as JSON or repeated."""
        annotator = self.annotator(request, slug)
        read: Any = request.data
        if hasattr(read, "getlist"):
            read = {"leases": _parse_beacon(read.getlist("leases"))}
        serializer = TokensSerializer(
            data={"leases": [], **read} if isinstance(read, dict) else read
        )
        serializer.is_valid(raise_exception=True)
        released = leases.release_leases(annotator, serializer.validated_data["leases"])
        return situation_response(get_situation(annotator), released=released)


class JudgementsView(JudgingView):
    serializer_class = SubmitSerializer

    @extend_schema(
        request=SubmitSerializer,
        responses=judging_schema.SubmittedSerializer,
        operation_id="judging_submit",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Submit a judgement for a lease, active or expired, and return the next pairs. The same
        key returns the same answer."""
        annotator, data = self.annotator(request, slug), self.data(request)
        with defer_disk_sync():
            outcome = judging.submit_judgement(
                annotator, lease=data["lease"], key=data["key"], answer=_read_answer(data)
            )
            return _refill_response(annotator, data, **_serialize_outcome(outcome))


class Revise(JudgingView):
    serializer_class = AnswerSerializer

    @extend_schema(
        request=AnswerSerializer,
        responses=judging_schema.SubmittedSerializer,
        operation_id="judging_revise",
    )
    def post(self, request: Request, slug: str, judgement_id: int) -> Response:
        """Add a revision to one of the annotator's judgements. All revisions are kept, and the last
        one counts."""
        annotator, data = self.annotator(request, slug), self.data(request)
        with defer_disk_sync():
            outcome = judging.revise_judgement(
                annotator, judgement_id, key=data["key"], answer=_read_answer(data)
            )
            return _refill_response(annotator, data, **_serialize_outcome(outcome))


def _serialize_outcome(outcome: judging.AnswerOutcome) -> dict[str, Any]:
    row = outcome.judgement
    return {
        "judgement": {
            "id": row.pk,
            "pair": row.pair_id,
            "revision": row.revision,
            "grade": selectors.get_shown_grade(row),
            "status": row.status,
            "late": row.late,
            "after_deadline": row.after_deadline,
            "message": outcome.message,
        },
        "feedback": outcome.feedback,
    }


class SkipView(JudgingView):
    serializer_class = SkipSerializer

    @extend_schema(
        request=SkipSerializer,
        responses=judging_schema.ServedSerializer,
        operation_id="judging_skip",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Skip a pair. It is assigned again when no other pair is left."""
        annotator, data = self.annotator(request, slug), self.data(request)
        with defer_disk_sync():
            judging.skip_pair(annotator, lease=data["lease"])
            return _refill_response(annotator, data)


class SkippedPairList(JudgingView):
    @extend_schema(responses=judging_schema.PutAsideSerializer, operation_id="judging_later")
    def get(self, request: Request, slug: str) -> Response:
        """List the skipped pairs, latest first."""
        annotator = self.annotator(request, slug)
        return situation_response(
            get_situation(annotator), items=selectors.get_skipped_pairs(annotator)
        )


class ResumeSkippedPair(JudgingView):
    @extend_schema(
        request=None, responses=judging_schema.ServedSerializer, operation_id="judging_resume"
    )
    def post(self, request: Request, slug: str, pair_id: int) -> Response:
        """Resume a skipped pair. Returns a lease for it, in addition to active leases."""
        annotator = self.annotator(request, slug)
        situation = get_situation(annotator)
        if not situation.may_claim:
            raise AnswerRefused(
                situation.state, situation.message or _("You can't judge right now."), 409
            )
        lease = assignment.resume_skipped_pair(annotator, pair_id)
        taken = [one for one in selectors.get_active_leases(annotator) if one.token == lease.token]
        return situation_response(situation, pairs=selectors.render_leases(taken, annotator))


class HistoryView(JudgingView):
    @extend_schema(
        parameters=[
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": MOST_HISTORY, "default": HISTORY},
            ),
            OpenApiParameter(
                "before",
                {"type": "integer", "minimum": 1, "maximum": MAX_ID},
                description="only judgements before this one",
            ),
            OpenApiParameter("topic", str, description="only judgements of the topic with this ID"),
        ],
        responses=judging_schema.HistorySerializer,
        operation_id="judging_history",
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the annotator's judgements, latest first, each with its revisions."""
        annotator = self.annotator(request, slug)
        limit = read_integer(request, "limit", least=1, most=MOST_HISTORY, default=HISTORY)
        before = read_integer(request, "before", least=1, most=MAX_ID, default=None)
        topic = request.query_params.get("topic", "")
        return situation_response(
            get_situation(annotator),
            items=selectors.get_history(annotator, limit=limit, before=before, topic=topic),
        )


class HistoryItem(JudgingView):
    @extend_schema(responses=judging_schema.JudgedSerializer, operation_id="judging_history_item")
    def get(self, request: Request, slug: str, judgement_id: int) -> Response:
        """Return one of the annotator's judgements with its pair, to read it again or revise it."""
        annotator = self.annotator(request, slug)
        revisions = selectors.get_revisions(annotator, judgement_id)
        if not revisions:
            raise AnswerRefused("judgement_unknown", _("Judgement not found."), 404)
        shown = selectors.render_judgement(revisions)
        pair = {
            **selectors.render_pair(selectors.get_pair_text(revisions[-1].pair), annotator),
            "lease": None,
            "previous": shown,
        }
        return situation_response(get_situation(annotator), pair=pair, judgement=shown)


class AcknowledgeGuideline(JudgingView):
    serializer_class = NumberSerializer

    @extend_schema(
        request=NumberSerializer,
        responses=judging_schema.SituationSerializer,
        operation_id="judging_acknowledge",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Record that the annotator has read the newest guidelines."""
        annotator = self.annotator(request, slug)
        participation.acknowledge_guideline(annotator, self.data(request)["number"])
        return situation_response(get_situation(annotator))


class Consent(JudgingView):
    @extend_schema(
        request=None, responses=judging_schema.SituationSerializer, operation_id="judging_consent"
    )
    def post(self, request: Request, slug: str) -> Response:
        """Record that the annotator agrees to the consent text."""
        annotator = self.annotator(request, slug)
        participation.record_consent(annotator)
        return situation_response(get_situation(annotator))


class OwnSettings(JudgingView):
    @extend_schema(
        request=OpenApiTypes.OBJECT,
        responses=judging_schema.SavedSettingsSerializer,
        operation_id="judging_profile",
    )
    def put(self, request: Request, slug: str) -> Response:
        """Save the user's settings of the page as one JSON object. They apply to all campaigns."""
        annotator = self.annotator(request, slug)
        if not isinstance(request.data, dict):
            raise AnswerRefused("malformed", _("The settings must be a JSON object."))
        return situation_response(
            get_situation(annotator),
            profile=participation.save_display_settings(annotator, dict(request.data)),
        )


class ReadMessage(JudgingView):
    @extend_schema(
        request=None,
        responses=judging_schema.SituationSerializer,
        operation_id="judging_message_read",
    )
    def post(self, request: Request, slug: str, message_id: int) -> Response:
        """Record that the annotator has read a message."""
        annotator = self.annotator(request, slug)
        if not Message.objects.filter(pk=message_id, membership=annotator).exists():
            raise AnswerRefused("message_unknown", _("Message not found."), 404)
        participation.mark_message_read(annotator, message_id)
        return situation_response(get_situation(annotator))


class GiveFeedback(JudgingView):
    serializer_class = FeedbackSerializer

    @extend_schema(
        request=FeedbackSerializer,
        responses=judging_schema.SituationSerializer,
        operation_id="judging_feedback",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store the annotator's feedback. New feedback replaces the previous feedback."""
        annotator = self.annotator(request, slug)
        data = self.data(request)
        participation.save_feedback(annotator, score=data["score"], text=data["text"])
        return situation_response(get_situation(annotator))


class NearDuplicates(JudgingView):
    @extend_schema(
        responses=judging_schema.NearDuplicatesSerializer, operation_id="judging_near_duplicates"
    )
    def get(self, request: Request, slug: str, pair_id: int) -> Response:
        """List near-duplicates of an assigned pair's document among documents of its topic that the
        annotator has graded, with the annotator's own judgements.

        Answers 404 `near_duplicates_off` if the campaign does not allow it.
        """
        annotator = self.annotator(request, slug)
        if not annotator.campaign.show_near_duplicates:
            raise AnswerRefused(
                "near_duplicates_off", _("Documents can't be compared in this campaign."), 404
            )
        pair = get_assigned_pair(annotator, pair_id)
        if pair is None:
            raise AnswerRefused(
                "pair_unknown", _("This document was not assigned to you in this campaign."), 404
            )
        return situation_response(
            get_situation(annotator), items=find_near_duplicates(annotator, pair)
        )
