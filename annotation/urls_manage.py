"""Addresses of the pages on which a campaign is made and changed."""

from django.urls import path

from annotation.views import campaigns, machines, making, messages, questions, results_access

urlpatterns = [
    path("campaigns/", campaigns.index, name="campaigns"),
    path("campaigns/new", making.new, name="campaign-new"),
    path("campaigns/<slug:slug>/settings/", campaigns.settings, name="campaign-settings"),
    path("campaigns/<slug:slug>/settings/<str:key>/", campaigns.step, name="campaign-step"),
    path("campaigns/<slug:slug>/duplicate", making.duplicate, name="campaign-duplicate"),
    path("campaigns/<slug:slug>/known-pairs", making.known, name="campaign-known-pairs"),
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
    path("campaigns/<slug:slug>/remind", messages.remind, name="campaign-remind"),
    path("campaigns/<slug:slug>/readers/", results_access.page, name="campaign-readers"),
    path("campaigns/<slug:slug>/questions/", questions.index, name="campaign-questions"),
    path("campaigns/<slug:slug>/machines/", machines.index, name="campaign-machines"),
    path("campaigns/<slug:slug>/machines/<int:pk>/", machines.page, name="campaign-machine"),
    path(
        "campaigns/<slug:slug>/machines/<int:pk>/act",
        machines.act_on_machine,
        name="campaign-machine-act",
    ),
    path(
        "campaigns/<slug:slug>/machines/<int:pk>/labels.txt",
        machines.labels,
        name="campaign-machine-labels",
    ),
]
