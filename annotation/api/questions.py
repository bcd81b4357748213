"""The API of questions about pairs: the annotator's own on the judging page, and all of a campaign
for its managers."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api import judging_schema
from annotation.api.judging import JudgingView, get_situation, situation_response
from annotation.api.refusals import to_api_exception
from annotation.models import Question
from annotation.permissions import get_managed_campaign
from annotation.selectors import questions as selectors
from annotation.services.errors import CampaignError
from annotation.services.judging import questions
from pooling.api.bodies import StrictSerializer, TextField
from pooling.permissions import get_row_or_404


class AskedQuestionSerializer(serializers.Serializer):
    key = serializers.UUIDField(
        help_text="random key chosen by the client, so that a repeated question is stored once"
    )
    pair = serializers.IntegerField(min_value=1)
    text = serializers.CharField(max_length=questions.MAX_CHARACTERS)


class OwnQuestions(JudgingView):
    serializer_class = AskedQuestionSerializer

    @extend_schema(responses=judging_schema.QuestionsSerializer, operation_id="judging_questions")
    def get(self, request: Request, slug: str) -> Response:
        """List the annotator's questions with the manager's answers, latest first."""
        annotator = self.annotator(request, slug)
        return situation_response(
            get_situation(annotator), items=selectors.get_own_questions(annotator)
        )

    @extend_schema(
        request=AskedQuestionSerializer,
        responses=judging_schema.QuestionsSerializer,
        operation_id="judging_ask",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask the manager about an assigned pair. The same key returns the same question."""
        annotator, data = self.annotator(request, slug), self.data(request)
        questions.ask_question(annotator, pair_id=data["pair"], key=data["key"], text=data["text"])
        return situation_response(
            get_situation(annotator), items=selectors.get_own_questions(annotator)
        )


class WithdrawQuestion(JudgingView):
    @extend_schema(
        request=None,
        responses=judging_schema.QuestionsSerializer,
        operation_id="judging_withdraw_question",
    )
    def post(self, request: Request, slug: str, question_id: int) -> Response:
        """Withdraw a question without an answer (409 `question_answered` otherwise). Does nothing
        if it does not exist."""
        annotator = self.annotator(request, slug)
        questions.withdraw_question(annotator, question_id)
        return situation_response(
            get_situation(annotator), items=selectors.get_own_questions(annotator)
        )


class ReadAnswer(JudgingView):
    @extend_schema(
        request=None,
        responses=judging_schema.SituationSerializer,
        operation_id="judging_answer_read",
    )
    def post(self, request: Request, slug: str, question_id: int) -> Response:
        """Record that the annotator has read the answer."""
        annotator = self.annotator(request, slug)
        questions.mark_answer_read(annotator, question_id)
        return situation_response(get_situation(annotator))


class CampaignQuestionSerializer(serializers.Serializer):
    """A question with the annotator's pseudonym and its answer."""

    id = serializers.IntegerField()
    pair = serializers.IntegerField()
    topic = judging_schema.NamedTopicSerializer()
    document = judging_schema.NamedDocumentSerializer()
    annotator = serializers.CharField()
    text = serializers.CharField()
    asked_at = serializers.DateTimeField()
    answer = serializers.CharField(allow_blank=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    is_read = serializers.BooleanField(help_text="whether the annotator opened the answer")
    example_in = serializers.IntegerField(
        allow_null=True, help_text="version of the guidelines that contains it as an example"
    )


class ReplySerializer(StrictSerializer):
    answer = TextField(max_length=5000)
    publish = serializers.BooleanField(
        default=False, help_text="add it to the guidelines as an example"
    )


def _serialize_question(row: Question) -> dict[str, Any]:
    return {**selectors.render_question(row), "annotator": row.membership.pseudonym}


class CampaignQuestions(APIView):
    serializer_class = CampaignQuestionSerializer

    @extend_schema(
        responses=CampaignQuestionSerializer(many=True), operation_id="campaign_questions"
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the questions of a campaign's annotators: unanswered ones first, oldest first."""
        return Response(
            [
                _serialize_question(row)
                for row in selectors.get_questions(get_managed_campaign(request, slug))
            ]
        )


class ReplyToQuestion(APIView):
    serializer_class = ReplySerializer

    @extend_schema(
        request=ReplySerializer,
        responses=CampaignQuestionSerializer,
        operation_id="campaign_question_answer",
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Answer a question and, with `publish`, add both to the guidelines as an example. A new
        answer replaces the previous one."""
        question = get_row_or_404(
            selectors.get_questions(get_managed_campaign(request, slug)), pk=pk
        )
        body = ReplySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actor = cast(User, request.user)
        try:
            questions.answer_question(question, body.validated_data["answer"], actor=actor)
            if body.validated_data["publish"]:
                questions.publish_example(question, actor=actor)
        except CampaignError as error:
            raise to_api_exception(error) from None
        return Response(_serialize_question(question))
