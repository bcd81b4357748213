"""Addresses of the people pages."""

from django.urls import path

from annotation.views import account, institution, people

urlpatterns = [
    path("sign-in", people.sign_in, name="sign-in"),
    path("sign-in/institution", institution.by_header, name="sign-in-institution"),
    path("sign-in/oidc", institution.oidc_ask, name="sign-in-oidc"),
    path("sign-in/oidc/back", institution.oidc_back, name="sign-in-oidc-back"),
    path("sign-in/link", people.ask_for_link, name="sign-in-link"),
    path("sign-in/link/<str:identifier>/<str:token>", people.use_link, name="sign-in-link-use"),
    path("sign-out", people.sign_out, name="sign-out"),
    path("language", people.choose_language, name="language"),
    path("join", people.join_by_code, name="join-code"),
    path("join/<str:token>", people.join, name="join"),
    path("account", account.account, name="account"),
    path("accounts", people.accounts, name="accounts"),
]
