"""URLs of this app's API under /api/v1/."""

from django.urls import path

from annotation.api import campaigns, judging, llm_judges, questions, webhooks

urlpatterns = [
    path("judging/<slug:slug>/leases", judging.Leases.as_view(), name="api-judging-leases"),
    path(
        "judging/<slug:slug>/leases/renew", judging.RenewLeases.as_view(), name="api-judging-renew"
    ),
    path(
        "judging/<slug:slug>/judgements",
        judging.JudgementsView.as_view(),
        name="api-judging-judgements",
    ),
    path("judging/<slug:slug>/setup", judging.Setup.as_view(), name="api-judging-setup"),
    path(
        "judging/<slug:slug>/leases/release",
        judging.ReleaseLeases.as_view(),
        name="api-judging-release",
    ),
    path(
        "judging/<slug:slug>/judgements/<int:judgement_id>/revise",
        judging.Revise.as_view(),
        name="api-judging-revise",
    ),
    path("judging/<slug:slug>/skip", judging.SkipView.as_view(), name="api-judging-skip"),
    path(
        "judging/<slug:slug>/skipped", judging.SkippedPairList.as_view(), name="api-judging-skipped"
    ),
    path(
        "judging/<slug:slug>/skipped/<int:pair_id>/resume",
        judging.ResumeSkippedPair.as_view(),
        name="api-judging-resume",
    ),
    path("judging/<slug:slug>/history", judging.HistoryView.as_view(), name="api-judging-history"),
    path(
        "judging/<slug:slug>/history/<int:judgement_id>",
        judging.HistoryItem.as_view(),
        name="api-judging-history-item",
    ),
    path(
        "judging/<slug:slug>/pairs/<int:pair_id>/near-duplicates",
        judging.NearDuplicates.as_view(),
        name="api-judging-near-duplicates",
    ),
    path(
        "judging/<slug:slug>/guideline/acknowledge",
        judging.AcknowledgeGuideline.as_view(),
        name="api-judging-acknowledge",
    ),
    path("judging/<slug:slug>/consent", judging.Consent.as_view(), name="api-judging-consent"),
    path("judging/<slug:slug>/profile", judging.OwnSettings.as_view(), name="api-judging-profile"),
    path(
        "judging/<slug:slug>/messages/<int:message_id>/read",
        judging.ReadMessage.as_view(),
        name="api-judging-message-read",
    ),
    path(
        "judging/<slug:slug>/questions",
        questions.OwnQuestions.as_view(),
        name="api-judging-questions",
    ),
    path(
        "judging/<slug:slug>/questions/<int:question_id>/withdraw",
        questions.WithdrawQuestion.as_view(),
        name="api-judging-withdraw",
    ),
    path(
        "judging/<slug:slug>/questions/<int:question_id>/read",
        questions.ReadAnswer.as_view(),
        name="api-judging-answer-read",
    ),
    path(
        "judging/<slug:slug>/feedback", judging.GiveFeedback.as_view(), name="api-judging-feedback"
    ),
    path("campaigns/", campaigns.CampaignList.as_view(), name="api-campaigns"),
    path("campaigns/<slug:slug>/", campaigns.CampaignDetail.as_view(), name="api-campaign"),
    path(
        "campaigns/<slug:slug>/document",
        campaigns.CampaignDocument.as_view(),
        name="api-campaign-document",
    ),
    path("campaigns/<slug:slug>/trial", judging.Trial.as_view(), name="api-campaign-trial"),
    path(
        "campaigns/<slug:slug>/llm-judges/",
        llm_judges.LlmJudgeList.as_view(),
        name="api-llm-judges",
    ),
    path(
        "campaigns/<slug:slug>/llm-judges/<int:pk>/",
        llm_judges.LlmJudgeDetail.as_view(),
        name="api-llm-judge",
    ),
    path(
        "campaigns/<slug:slug>/llm-judges/<int:pk>/run",
        llm_judges.RunLlmJudge.as_view(),
        name="api-llm-judge-run",
    ),
    path(
        "campaigns/<slug:slug>/llm-judges/<int:pk>/freeze",
        llm_judges.FreezeLlmJudge.as_view(),
        name="api-llm-judge-freeze",
    ),
    path(
        "campaigns/<slug:slug>/llm-judges/<int:pk>/labels.txt",
        llm_judges.LlmLabels.as_view(),
        name="api-llm-judge-labels",
    ),
    path(
        "campaigns/<slug:slug>/questions/",
        questions.CampaignQuestions.as_view(),
        name="api-questions",
    ),
    path(
        "campaigns/<slug:slug>/questions/<int:pk>/answer",
        questions.ReplyToQuestion.as_view(),
        name="api-question-answer",
    ),
    path("campaigns/<slug:slug>/webhooks/", webhooks.WebhookList.as_view(), name="api-webhooks"),
    path(
        "campaigns/<slug:slug>/webhooks/<int:pk>/",
        webhooks.WebhookDetail.as_view(),
        name="api-webhook",
    ),
    path(
        "campaigns/<slug:slug>/webhooks/<int:pk>/test",
        webhooks.SendTestMessage.as_view(),
        name="api-webhook-test",
    ),
    path(
        "campaigns/<slug:slug>/webhooks/<int:pk>/secret",
        webhooks.RenewWebhookSecret.as_view(),
        name="api-webhook-secret",
    ),
    path(
        "campaigns/<slug:slug>/webhook-messages/",
        webhooks.WebhookMessageList.as_view(),
        name="api-webhook-messages",
    ),
    path(
        "campaigns/<slug:slug>/webhook-messages/<int:pk>/",
        webhooks.WebhookMessageDetail.as_view(),
        name="api-webhook-message",
    ),
]
