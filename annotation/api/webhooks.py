"""The API of a campaign's webhooks and their messages, for its managers."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.refusals import to_api_exception
from annotation.core.webhook_messages import SUBSCRIBED_EVENTS, MessageForm, WebhookEvent
from annotation.models import Webhook, WebhookMessage
from annotation.permissions import get_managed_campaign, get_person
from annotation.services import webhooks
from annotation.services.errors import CampaignError
from annotation.services.webhooks import NewWebhook
from pooling import tasks
from pooling.api.bodies import StrictSerializer, TextField
from pooling.api.lists import choice_filter
from pooling.api.repeats import make_idempotent
from pooling.api.views import ServiceView
from pooling.permissions import get_row_or_404


class WebhookSerializer(StrictSerializer):
    id = serializers.IntegerField(read_only=True)
    name = TextField(max_length=100, help_text="unique within the campaign")
    url = TextField(
        max_length=500,
        write_only=True,
        help_text="address that receives the messages; not returned, because it can be a secret",
    )
    address = serializers.CharField(
        read_only=True, source="shown_address", help_text="the address without its path"
    )
    form = serializers.ChoiceField(
        choices=list(MessageForm),
        default=MessageForm.STANDARD,
        help_text="standard (signed JSON) or text (one sentence, for Slack and Teams)",
    )
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=SUBSCRIBED_EVENTS), allow_empty=False
    )
    created_at = serializers.DateTimeField(read_only=True)


class SecretSerializer(WebhookSerializer):
    """A webhook with its secret, which no other response contains."""

    secret = serializers.CharField(read_only=True)


class WebhookMessageSerializer(serializers.ModelSerializer):
    """A message with its last answer."""

    webhook = serializers.IntegerField(source="webhook_id", help_text="ID of the webhook")
    event = serializers.ChoiceField(choices=list(WebhookEvent))
    state = serializers.ChoiceField(choices=WebhookMessage.State.values)

    class Meta:
        model = WebhookMessage
        fields = (
            *("id", "webhook", "message_id", "event", "state", "n_attempts", "due_at"),
            *("answered_at", "status", "answer", "created_at"),
        )


class WebhookView(ServiceView):
    serializer_class: type[serializers.BaseSerializer[Any]] = WebhookSerializer

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(
            to_api_exception(exc) if isinstance(exc, CampaignError) else exc
        )

    def webhook(self, slug: str, pk: int) -> Webhook:
        campaign = get_managed_campaign(self.request, slug)
        return get_row_or_404(campaign.webhooks.select_related("campaign"), pk=pk)


class WebhookList(WebhookView):
    queryset = Webhook.objects.none()
    orders = ("name", "created_at")

    @extend_schema(operation_id="campaigns_webhooks_list", responses=WebhookSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the webhooks of the campaign."""
        campaign = get_managed_campaign(request, slug)
        return self.pages(campaign.webhooks.order_by("name"), WebhookSerializer)

    @extend_schema(operation_id="campaigns_webhooks_create", responses={201: SecretSerializer})
    @make_idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Create a webhook. The response contains its secret."""
        campaign = get_managed_campaign(request, slug)
        site = request.build_absolute_uri("/")
        wanted = NewWebhook(**self.read(request).validated_data, site=site)
        webhook = webhooks.create_webhook(campaign, wanted, actor=get_person(request))
        return Response(
            SecretSerializer(webhook).data,
            status=status.HTTP_201_CREATED,
            headers={"Location": reverse("api-webhook", args=[slug, webhook.pk])},
        )


class WebhookDetail(WebhookView):
    @extend_schema(operation_id="campaigns_webhook")
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return a webhook."""
        return Response(WebhookSerializer(self.webhook(slug, pk)).data)

    @extend_schema(operation_id="campaigns_webhook_change")
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change the given keys. Waiting messages are sent to a new address."""
        webhook = self.webhook(slug, pk)
        body = WebhookSerializer(webhook, data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        webhooks.update_webhook(webhook, body.validated_data, actor=get_person(request))
        return Response(WebhookSerializer(webhook).data)

    @extend_schema(operation_id="campaigns_webhook_delete", responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete a webhook with its messages. Waiting messages are not sent."""
        webhooks.delete_webhook(self.webhook(slug, pk), actor=get_person(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class RenewWebhookSecret(WebhookView):
    @extend_schema(
        operation_id="campaigns_webhook_renew_secret", request=None, responses=SecretSerializer
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Replace the secret. The response contains the new secret, which signs all messages from
        now on."""
        webhook = webhooks.renew_secret(self.webhook(slug, pk), actor=get_person(request))
        return Response(SecretSerializer(webhook).data)


class SendTestMessage(WebhookView):
    @extend_schema(
        operation_id="campaigns_webhook_test",
        request=None,
        responses={202: WebhookMessageSerializer},
    )
    @make_idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Send a test message, in the background. Get the message at its address until it has an
        answer."""
        message = webhooks.queue_test(self.webhook(slug, pk))
        for job in webhooks.request_due_messages():
            tasks.send(job)
        address = reverse("api-webhook-message", args=[slug, message.pk])
        return Response(
            WebhookMessageSerializer(message).data,
            status=status.HTTP_202_ACCEPTED,
            headers={"Location": address},
        )


class WebhookMessageList(WebhookView):
    serializer_class = WebhookMessageSerializer
    queryset = WebhookMessage.objects.none()
    orders = ("created_at", "due_at", "answered_at")
    filters = (
        choice_filter("state", WebhookMessage.State.values),
        choice_filter("event", WebhookEvent),
    )

    @extend_schema(
        operation_id="campaigns_webhook_messages_list",
        responses=WebhookMessageSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the messages of all webhooks with their last answers, newest first."""
        campaign = get_managed_campaign(request, slug)
        rows = WebhookMessage.objects.filter(webhook__campaign=campaign)
        return self.pages(rows.order_by("-created_at", "-pk"), WebhookMessageSerializer)


class WebhookMessageDetail(WebhookView):
    serializer_class = WebhookMessageSerializer

    @extend_schema(operation_id="campaigns_webhook_message")
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Return a message of a webhook."""
        campaign = get_managed_campaign(request, slug)
        rows = WebhookMessage.objects.filter(webhook__campaign=campaign)
        return Response(WebhookMessageSerializer(get_row_or_404(rows, pk=pk)).data)
