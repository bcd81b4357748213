"""Campaigns, members, guests, leases, judgements, and decisions of managers."""

from annotation.models.accounts import (
    EVERY_SCOPE,
    ApiTokenRow,
    Attempts,
    InstitutionAccount,
    OpenSession,
    Profile,
    Scope,
)
from annotation.models.campaigns import (
    AuditEvent,
    Campaign,
    GuidelineVersion,
    completion_code,
    default_scale,
)
from annotation.models.guests import Guest, GuestOutcome, GuestPanel, PanelEvent
from annotation.models.judgements import Judgement, Lease, Pair, Question, Skip
from annotation.models.llm_judges import LlmJudge, LlmLabel
from annotation.models.members import (
    Feedback,
    Invitation,
    Membership,
    Message,
    ResultsLink,
    invite_token,
)
from annotation.models.webhooks import Webhook, WebhookMessage

__all__ = [
    "EVERY_SCOPE",
    "ApiTokenRow",
    "Attempts",
    "AuditEvent",
    "Campaign",
    "Feedback",
    "Guest",
    "GuestOutcome",
    "GuestPanel",
    "GuidelineVersion",
    "InstitutionAccount",
    "Invitation",
    "Judgement",
    "Lease",
    "LlmJudge",
    "LlmLabel",
    "Membership",
    "Message",
    "OpenSession",
    "Pair",
    "PanelEvent",
    "Profile",
    "Question",
    "ResultsLink",
    "Scope",
    "Skip",
    "Webhook",
    "WebhookMessage",
    "completion_code",
    "default_scale",
    "invite_token",
]
