"""Questions about pairs in the API: an annotator's own on the judging page, and those of a campaign
for its managers."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api import shapes
from annotation.api.judging import JudgingView, answer_of, situation_of
from annotation.api.refusals import refusal_of
from annotation.models import Question
from annotation.permissions import managed_campaign
from annotation.selectors import questions as selectors
from annotation.services.errors import CampaignError
from annotation.services.judging import questions
from pooling.api.bodies import Body, TextField
from pooling.permissions import found_or_404


class AskedQuestionSerializer(serializers.Serializer):
    key = serializers.UUIDField(help_text="drawn by the page: sent again, it is the same question")
    pair = serializers.IntegerField(min_value=1)
    text = serializers.CharField(max_length=questions.MOST_CHARACTERS)


class OwnQuestions(JudgingView):
    serializer_class = AskedQuestionSerializer

    @extend_schema(responses=shapes.QuestionsSerializer, operation_id="judging_questions")
    def get(self, request: Request, slug: str) -> Response:
        """One's own questions with the manager's answers, the latest first."""
        annotator = self.annotator(request, slug)
        return answer_of(situation_of(annotator), items=selectors.own_questions(annotator))

    @extend_schema(
        request=AskedQuestionSerializer,
        responses=shapes.QuestionsSerializer,
        operation_id="judging_ask",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask the manager about a pair that one was given. The same key again: the same
        question."""
        annotator, data = self.annotator(request, slug), self.data(request)
        questions.ask(annotator, pair_id=data["pair"], key=data["key"], text=data["text"])
        return answer_of(situation_of(annotator), items=selectors.own_questions(annotator))


class TakeBackQuestion(JudgingView):
    @extend_schema(
        request=None,
        responses=shapes.QuestionsSerializer,
        operation_id="judging_take_back_question",
    )
    def post(self, request: Request, slug: str, question_id: int) -> Response:
        """Undo asking, as long as there is no answer (409 `question_answered`). One that is not
        there is taken back already."""
        annotator = self.annotator(request, slug)
        questions.take_back(annotator, question_id)
        return answer_of(situation_of(annotator), items=selectors.own_questions(annotator))


class ReadAnswer(JudgingView):
    @extend_schema(
        request=None, responses=shapes.SituationSerializer, operation_id="judging_answer_read"
    )
    def post(self, request: Request, slug: str, question_id: int) -> Response:
        """The answer was opened."""
        annotator = self.annotator(request, slug)
        questions.read_answer(annotator, question_id)
        return answer_of(situation_of(annotator))


class CampaignQuestionSerializer(serializers.Serializer):
    """A question with who asked, by pseudonym, and its answer."""

    id = serializers.IntegerField()
    pair = serializers.IntegerField()
    topic = shapes.NamedTopicSerializer()
    document = shapes.NamedDocumentSerializer()
    annotator = serializers.CharField()
    text = serializers.CharField()
    asked_at = serializers.DateTimeField()
    answer = serializers.CharField(allow_blank=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    is_read = serializers.BooleanField(help_text="whether the annotator opened the answer")
    example_in = serializers.IntegerField(
        allow_null=True, help_text="version of the guidelines that has it as an example"
    )


class ReplySerializer(Body):
    answer = TextField(max_length=5000)
    publish = serializers.BooleanField(
        default=False, help_text="also as an example of the guidelines"
    )


def _shown(row: Question) -> dict[str, Any]:
    return {**selectors.question_shown(row), "annotator": row.membership.pseudonym}


class CampaignQuestions(APIView):
    serializer_class = CampaignQuestionSerializer

    @extend_schema(
        responses=CampaignQuestionSerializer(many=True), operation_id="campaign_questions"
    )
    def get(self, request: Request, slug: str) -> Response:
        """The questions of a campaign's annotators: those without an answer first, the oldest
        first."""
        return Response(
            [_shown(row) for row in selectors.questions_of(managed_campaign(request, slug))]
        )


class ReplyToQuestion(APIView):
    serializer_class = ReplySerializer

    @extend_schema(
        request=ReplySerializer,
        responses=CampaignQuestionSerializer,
        operation_id="campaign_question_answer",
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Answer a question, and with `publish` add both to the guidelines as an example. Another
        answer takes the place of the first."""
        question = found_or_404(selectors.questions_of(managed_campaign(request, slug)), pk=pk)
        body = ReplySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actor = cast(User, request.user)
        try:
            questions.reply(question, body.validated_data["answer"], actor=actor)
            if body.validated_data["publish"]:
                questions.publish(question, actor=actor)
        except CampaignError as error:
            raise refusal_of(error) from None
        return Response(_shown(question))
