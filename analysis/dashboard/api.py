"""API of a campaign's progress and agreement, with the statistics of the pages."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from analysis.dashboard import agreement_metrics
from analysis.dashboard.progress import compute_progress
from analysis.dashboard.to_do_list import ToDoKind, get_to_do_list
from analysis.judgements.live import get_snapshot
from annotation.permissions import get_managed_campaign
from pooling import tasks


class LevelSerializer(serializers.Serializer):
    rank = serializers.IntegerField(help_text="rank; batch or stage of a staged pool")
    pairs = serializers.IntegerField()
    complete = serializers.IntegerField(help_text="judged as often as needed")
    started = serializers.IntegerField()


FORECAST_MOMENTS = ("expected", "early", "late", "possible_from")


class ForecastSerializer(serializers.Serializer):
    """The expected time of the last judgement. expected is null without a forecast, and reason then
    gives the reason."""

    expected = serializers.DateTimeField(allow_null=True)
    early = serializers.DateTimeField(allow_null=True)
    late = serializers.DateTimeField(
        allow_null=True, help_text="null also if the date is more than two years away"
    )
    per_day = serializers.FloatField(
        allow_null=True,
        help_text="pace: judgements per working day, with recent days weighted more; null until a forecast is possible",
    )
    reason = serializers.CharField(allow_blank=True)
    possible_from = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "without a forecast: time from which there are enough working days; null if "
            "there are enough, and before the first judgement"
        ),
    )
    n_short = serializers.IntegerField(
        help_text="without a forecast: judgements still needed within the last two working days"
    )
    is_vague = serializers.BooleanField(
        help_text="whether the 95% prediction interval (early to late) is too wide to plan by"
    )
    trend = serializers.FloatField(
        allow_null=True,
        help_text="relative change of the pace per working day; null if it is not significant",
    )


class ProgressOfCampaignSerializer(serializers.Serializer):
    needed = serializers.IntegerField(help_text="total judgements")
    counted = serializers.IntegerField(help_text="judgements that fill a required slot")
    pairs = serializers.IntegerField()
    complete = serializers.IntegerField(help_text="pairs with the required number of judgements")
    complete_depth = serializers.IntegerField(
        help_text="deepest rank (batch, stage) down to which every pair is complete"
    )
    one_judgement = serializers.IntegerField(
        help_text="pairs with one of several required judgements"
    )
    unjudgeable = serializers.IntegerField()
    per_12h = serializers.IntegerField()
    per_24h = serializers.IntegerField()
    active_now = serializers.IntegerField(help_text="annotators who have a pair assigned")
    live_leases = serializers.IntegerField()
    on_gold = serializers.IntegerField(
        help_text="judgements of gold and calibration pairs, which count but are not required"
    )
    stalled = serializers.IntegerField()
    short_at_deadline = serializers.IntegerField(
        allow_null=True, help_text="judgements expected to be missing; null if unknown"
    )
    moment = serializers.DateTimeField()
    forecast = ForecastSerializer()
    levels = LevelSerializer(many=True)


class AgreementOfCampaignSerializer(serializers.Serializer):
    figures = serializers.DictField(
        allow_null=True,
        help_text=(
            "keys of the command `agreement`, and alpha by day, topic, length and guidelines, and "
            "without each annotator; "
            "null until computed"
        ),
    )
    computed_at = serializers.DateTimeField(allow_null=True)
    current = serializers.BooleanField(help_text="whether the statistics include all judgements")
    working = serializers.BooleanField(
        help_text=(
            "whether the statistics are being recalculated; if true, request them again later"
        )
    )


class ProgressOfCampaign(APIView):
    serializer_class = ProgressOfCampaignSerializer

    @extend_schema(operation_id="campaigns_progress", responses=ProgressOfCampaignSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the progress of the campaign."""
        now = compute_progress(get_managed_campaign(request, slug))
        ahead = asdict(now.forecast)
        moments = {
            name: None if ahead[name] is None else datetime.fromtimestamp(ahead[name], UTC)
            for name in FORECAST_MOMENTS
        }
        values = {
            name: value for name, value in vars(now).items() if name not in ("depths", "forecast")
        }
        levels = [
            {"rank": one.rank, "pairs": one.pairs, "complete": one.complete, "started": one.started}
            for one in now.depths
        ]
        return Response(
            ProgressOfCampaignSerializer(
                {**values, "forecast": {**ahead, **moments}, "levels": levels}
            ).data
        )


class ToDoActionSerializer(serializers.Serializer):
    words = serializers.CharField()
    address = serializers.CharField(help_text="path of a page, or the path to post `fields` to")
    fields_to_post = serializers.DictField(
        source="fields",
        child=serializers.CharField(),
        help_text="form fields; empty if the path is a page",
    )
    about = serializers.CharField(
        allow_blank=True, help_text="annotator concerned, if the item groups several"
    )


class ToDoSerializer(serializers.Serializer):
    kind = serializers.ChoiceField(choices=[kind.value for kind in ToDoKind])
    campaign = serializers.CharField(source="campaign.slug")
    words = serializers.CharField()
    count = serializers.IntegerField(help_text="number of people, questions, judgements or pairs")
    as_of = serializers.DateTimeField(allow_null=True, help_text="time of the count; null: now")
    actions = ToDoActionSerializer(many=True)


class ToDoListSerializer(serializers.Serializer):
    items = ToDoSerializer(many=True)


class ToDoListView(APIView):
    serializer_class = ToDoListSerializer

    @extend_schema(operation_id="to_do", responses=ToDoListSerializer)
    def get(self, request: Request) -> Response:
        """Return the to-do list of the campaigns that the user manages, as on Home."""
        # the permission check has refused anonymous users
        items, asked = get_to_do_list(cast("User", request.user))
        for job in asked:
            tasks.send(job)
        return Response(ToDoListSerializer({"items": items}).data)


class AgreementOfCampaign(APIView):
    serializer_class = AgreementOfCampaignSerializer

    @extend_schema(operation_id="campaigns_agreement", responses=AgreementOfCampaignSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the newest statistics. If they are out of date, the request starts a new
        computation."""
        campaign = get_managed_campaign(request, slug)
        figures, job = agreement_metrics.agreement_with_refresh(campaign, get_snapshot(campaign))
        if job is not None:
            tasks.send(job)
        agreement: dict[str, Any] = figures or {}
        shown = {
            name: value
            for name, value in agreement.items()
            if name not in ("age", "current", "finished_at")
        }
        working = agreement_metrics.is_running(campaign)
        answer = {
            "figures": shown or None,
            "computed_at": agreement.get("finished_at"),
            "current": agreement.get("current", False),
            "working": working,
        }
        return Response(AgreementOfCampaignSerializer(answer).data)
