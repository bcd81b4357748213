"""URLs of the app: accounts, judging and campaign management."""

from django.urls import path

from annotation.views import (
    account,
    campaign_creation,
    campaigns,
    guests,
    judging,
    llm_judges,
    messages,
    panel,
    people,
    questions,
    results_access,
    search,
    single_sign_on,
    webhooks,
)

urlpatterns = [
    # Accounts and people
    path("sign-in", people.sign_in, name="sign-in"),
    path("sign-in/institution", single_sign_on.by_header, name="sign-in-institution"),
    path("sign-in/oidc", single_sign_on.oidc_ask, name="sign-in-oidc"),
    path("sign-in/oidc/back", single_sign_on.oidc_back, name="sign-in-oidc-back"),
    path("sign-in/link", people.ask_for_link, name="sign-in-link"),
    path("sign-in/link/<str:identifier>/<str:token>", people.use_link, name="sign-in-link-use"),
    path("sign-out", people.sign_out, name="sign-out"),
    path("language", people.choose_language, name="language"),
    path("join", people.join_by_code, name="join-code"),
    path("join/<str:token>", guests.join, name="join"),
    path("join/<str:token>/events", guests.receive_event, name="panel-events"),
    path("account", account.account, name="account"),
    path("accounts", people.accounts, name="accounts"),
    # Judging
    path("judge/<slug:slug>/", judging.judge, name="judge"),
    path("judge/<slug:slug>/try", judging.trial, name="judge-try"),
    path("judge/<slug:slug>/history", judging.history, name="judge-history"),
    path("judge/<slug:slug>/build", judging.current_build, name="judge-build"),
    # Creating and changing campaigns
    path("search", search.page, name="search"),
    path("campaigns/", campaigns.index, name="campaigns"),
    path("campaigns/new", campaign_creation.new, name="campaign-new"),
    path("campaigns/<slug:slug>/settings/", campaigns.settings, name="campaign-settings"),
    path("campaigns/<slug:slug>/settings/<str:key>/", campaigns.step, name="campaign-step"),
    path("campaigns/<slug:slug>/duplicate", campaign_creation.duplicate, name="campaign-duplicate"),
    path("campaigns/<slug:slug>/known-pairs", campaign_creation.known, name="campaign-known-pairs"),
    path("campaigns/<slug:slug>/delete", campaigns.delete, name="campaign-delete"),
    path("campaigns/<slug:slug>/state", campaigns.change_state, name="campaign-state"),
    path(
        "campaigns/<slug:slug>/guidelines/<int:number>",
        campaigns.guideline,
        name="campaign-guideline",
    ),
    path(
        "campaigns/<slug:slug>/invitations.csv",
        campaigns.invitation_links,
        name="campaign-invitations",
    ),
    path("campaigns/<slug:slug>/invitations/", campaigns.invitations, name="campaign-invite"),
    path("campaigns/<slug:slug>/panel/", panel.page, name="campaign-panel"),
    path("campaigns/<slug:slug>/remind", messages.remind, name="campaign-remind"),
    path("campaigns/<slug:slug>/readers/", results_access.page, name="campaign-readers"),
    path("campaigns/<slug:slug>/webhooks/", webhooks.page, name="campaign-webhooks"),
    path("campaigns/<slug:slug>/questions/", questions.index, name="campaign-questions"),
    path("campaigns/<slug:slug>/llm-judges/", llm_judges.index, name="campaign-llm-judges"),
    path("campaigns/<slug:slug>/llm-judges/<int:pk>/", llm_judges.page, name="campaign-llm-judge"),
    path(
        "campaigns/<slug:slug>/llm-judges/<int:pk>/act",
        llm_judges.act_on_llm_judge,
        name="campaign-llm-judge-act",
    ),
    path(
        "campaigns/<slug:slug>/llm-judges/<int:pk>/labels.txt",
        llm_judges.labels,
        name="campaign-llm-judge-labels",
    ),
]
