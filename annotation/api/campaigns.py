"""The API of campaigns: their list, and the document that creates and changes them. It uses the
same services as files and pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api import campaign_schema as shapes
from annotation.core.campaign_file import (
    CampaignDescription,
    CampaignMistakes,
    format_path,
    make_document,
    parse_campaign_file,
)
from annotation.models import Campaign, Membership
from annotation.permissions import get_managed_campaign
from annotation.selectors.campaign_description import describe_all
from annotation.services.campaigns import declaration
from annotation.services.errors import CampaignError
from assay.formats.errors import FormatError
from assay.formats.toml_text import read_toml
from pooling.api.lists import ListFilter, choice_filter
from pooling.api.parsers import JsonBody
from pooling.api.repeats import make_idempotent
from pooling.api.views import Conflict, ServiceView
from pooling.core.declaration import Mistake, find_line
from pooling.models import Collection
from pooling.permissions import get_managed_collection, require_creator

DRY_RUN = OpenApiParameter("dry_run", bool, description="report the changes without applying them")
PRUNE = OpenApiParameter(
    "prune",
    bool,
    description=(
        "remove annotators without judgements that `people` does not list, withdraw "
        "invitations and delete webhooks that the document does not list"
    ),
)


class TomlBody(dict[str, Any]):
    """A campaign file as the body of a request, with its text, so that errors have line numbers."""

    def __init__(self, content: Mapping[str, Any], text: str) -> None:
        super().__init__(content)
        self.text = text


class TomlParser(BaseParser):
    media_type = "application/toml"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> TomlBody:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ParseError("Invalid UTF-8, expected TOML in UTF-8.") from None
        try:
            return TomlBody(read_toml("body", text), text)
        except FormatError as error:
            raise ParseError(str(error)) from None


class CampaignServiceView(ServiceView):
    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, CampaignMistakes):
            errors: dict[str, list[str]] = {}
            text = getattr(self.request.data, "text", "")
            for one in exc.mistakes:
                line = find_line(text, one.path) if text else None
                place = f"line {line}: " if line else ""
                errors.setdefault(format_path(one.path), []).append(
                    f"{place}{one.problem}, expected {one.expected}"
                )
            return super().handle_exception(ValidationError(errors))
        return super().handle_exception(
            Conflict(str(exc)) if isinstance(exc, CampaignError) else exc
        )

    def apply(self, request: Request, said: CampaignDescription) -> dict[str, Any]:
        """Apply the document or, with dry_run, plan the changes. Raises the exceptions that
        handle_exception handles."""
        dry_run = is_requested(request, "dry_run")
        actor: Any = request.user  # signed in, because permissions were checked before
        prune = is_requested(request, "prune")
        plan = declaration.plan_campaign(said, folder=None, actor=actor, prune=prune)
        changes = plan.all_changes
        if plan.collection.is_slow or any(change.name == "topic_check" for change in changes):
            words = next(
                change.words
                for change in changes
                if change.table == "pool" or change.name == "topic_check"
            )
            raise Conflict(
                f"“{words}” runs in the background. First send it to the collection's endpoint, "
                "then use its result here."
            )
        if dry_run:
            declaration.rehearse_plan(plan, actor=actor)
        elif changes:
            declaration.apply_plan(plan, actor=actor)
        names = {"campaign": said.campaign.get("slug"), "collection": said.collection["slug"]}
        told = {
            "changes": [declaration.serialize_change(one) for one in changes],
            "unnamed": plan.unnamed,
            "warnings": plan.warnings,
        }
        return {**names, **told, "applied": bool(changes) and not dry_run, "dry_run": dry_run}


def is_requested(request: Request, name: str) -> bool:
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise ValidationError({name: ["Must be true or false."]})
    return text == "true"


def check_permission(request: Request, said: CampaignDescription) -> None:
    """Raise 404 or 403 if the user must not create or change the objects in the document. Called
    before anything else is read."""
    campaign = (
        Campaign.objects.filter(slug=said.campaign["slug"]).first() if said.campaign else None
    )
    collection = Collection.objects.filter(slug=said.collection["slug"]).first()
    if campaign is not None:
        get_managed_campaign(request, campaign.slug)
    if campaign is None or collection is None:
        require_creator(request)
    further = set(said.collection) - {"slug"} or (said.pool and campaign is None)
    if collection is not None and (
        campaign is None or collection != campaign.collection or further
    ):
        get_managed_collection(request, collection.slug)


class CampaignList(CampaignServiceView):
    serializer_class = shapes.DocumentSerializer
    parser_classes = [JsonBody, TomlParser]
    queryset = Campaign.objects.none()
    orders = ("name", "slug", "created_at", "opened_at", "closed_at")
    filters = (
        choice_filter("state", Campaign.State.values),
        ListFilter("collection", "collection__slug"),
    )

    @extend_schema(responses=shapes.CampaignSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the campaigns that the user can see."""
        mine: QuerySet[Campaign] = Campaign.objects.select_related("collection", "pool").order_by(
            "-created_at", "-pk"
        )
        user: Any = request.user
        if not user.is_superuser:
            mine = mine.filter(memberships__user=user, memberships__role=Membership.Role.MANAGER)
        return self.pages(mine, shapes.CampaignSerializer)

    @extend_schema(
        parameters=[DRY_RUN],
        responses={200: shapes.AppliedSerializer, 201: shapes.AppliedSerializer},
    )
    @make_idempotent
    def post(self, request: Request) -> Response:
        """Create a campaign, and its collection if it is new, from a campaign file.
        With `dry_run`, the status is 200, and nothing is created.

        The body can also be TOML (Content-Type: application/toml).
        """
        require_creator(request)
        said = parse_campaign_file(request.data)
        try:
            check_permission(request, said)
        except Http404:
            raise PermissionDenied("You can only use collections that you manage.") from None
        if said.campaign and Campaign.objects.filter(slug=said.campaign["slug"]).exists():
            raise Conflict(
                f"Campaign {said.campaign['slug']} already exists. To change it, send the document to its address with PUT."
            )
        answer = self.apply(request, said)
        if answer["dry_run"]:
            return Response(answer)
        made = (
            reverse("api-campaign", args=[answer["campaign"]])
            if answer["campaign"]
            else reverse("api-collection", args=[answer["collection"]])
        )
        return Response(answer, status=status.HTTP_201_CREATED, headers={"Location": made})


class CampaignDetail(CampaignServiceView):
    serializer_class = shapes.CampaignSerializer

    def get(self, request: Request, slug: str) -> Response:
        """Return a campaign."""
        return Response(shapes.CampaignSerializer(get_managed_campaign(request, slug)).data)


class CampaignDocument(CampaignServiceView):
    serializer_class = shapes.DocumentSerializer
    parser_classes = [JsonBody, TomlParser]

    @extend_schema(operation_id="campaigns_document")
    def get(self, request: Request, slug: str) -> Response:
        """Return the campaign file of the campaign."""
        return Response(
            omit_file_keys(
                make_document(describe_all(get_managed_campaign(request, slug)), as_text=True)
            )
        )

    @extend_schema(
        operation_id="campaigns_apply",
        parameters=[DRY_RUN, PRUNE],
        responses=shapes.AppliedSerializer,
    )
    def put(self, request: Request, slug: str) -> Response:
        """Update the campaign to match the document: rules, scale, guidelines, gold, people
        and state.
        Repeating the request changes nothing.

        The body can also be TOML (Content-Type: application/toml). `unnamed` lists existing objects
        that the document omits.
        """
        get_managed_campaign(request, slug)
        said = parse_campaign_file(request.data)
        if said.campaign.get("slug") != slug:
            raise CampaignMistakes(
                [Mistake(("campaign", "slug"), "another campaign than that of the address", slug)]
            )
        check_permission(request, said)
        return Response(self.apply(request, said))


def omit_file_keys(document: dict[str, Any]) -> dict[str, Any]:
    """Remove keys about the import of files, which do not belong in an API document."""
    for rows in (document["collection"].get(name, []) for name in ("runs", "qrels")):
        for row in rows:
            for name in shapes.OMITTED_KEYS & set(row):
                del row[name]
    return document
