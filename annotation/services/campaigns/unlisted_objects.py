"""Existing objects that a campaign file omits. They are reported, and removed only on request and
if nothing depends on them.

Omitting an object never removes it by default, so a file shortened by mistake removes no members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count

from annotation.core.campaign_file import INVITATIONS, WEBHOOKS, resolve_people
from annotation.models import Campaign, Membership
from annotation.services.people import accounts
from annotation.services.webhooks import delete_webhook
from assay.number_words import format_count
from pooling.core.declaration import Change, format_row, row_identity
from pooling.models import Collection


def find_unlisted(
    campaign: Campaign, stored: Mapping[str, Any], declared: Mapping[str, Any], *, prune: bool
) -> tuple[list[str], list[Change]]:
    """Return (objects that are kept, in words, and removals that prune requests).

    stored, declared: the campaign's table as stored and as in the file. Considers only lists in the
    file. Managers and people who have judged are always kept.
    """
    stays: list[str] = []
    removed: list[Change] = []
    if "people" in declared:
        named = {row["user"] for row in resolve_people(stored["people"], declared["people"])}
        beyond = [row for row in stored["people"] if row["user"] not in named]
        counts = _count_judgements(campaign, [row["user"] for row in beyond]) if beyond else {}
        for row in beyond:
            called, n = f"people: {row['user']} {row['pseudonym']}", counts.get(row["user"], 0)
            if row["role"] == Membership.Role.MANAGER or n:
                stays.append(
                    f"{called}: kept "
                    f"({'a manager' if row['role'] == Membership.Role.MANAGER else format_count(n, 'judgement')})"
                )
            elif prune:
                removed.append(
                    Change("campaign", "people", row, None, f"{called}: removed (no judgements)")
                )
            else:
                stays.append(f"{called}: kept (no judgements; removed with prune)")
    for key, ending in ((INVITATIONS, "withdrawn"), (WEBHOOKS, "deleted")):
        wanted = {row_identity(key, row) for row in declared.get(key.name, [])}
        for row in stored[key.name] if key.name in declared else []:
            if row_identity(key, row) in wanted:
                continue
            called = f"{key.name}: {format_row(key, row)}"
            if prune:
                removed.append(Change("campaign", key.name, row, None, f"{called}: {ending}"))
            else:
                stays.append(f"{called}: kept ({ending} with prune)")
    return stays, removed


def find_unlisted_in_collection(collection: Collection, declared: Mapping[str, Any]) -> list[str]:
    """Return a message for each run and qrels that the file omits. They are kept and can be
    deleted on their pages."""
    stays = []
    for name, key, rows in (("runs", "tag", collection.runs), ("qrels", "name", collection.qrels)):
        if name in declared:
            named = {one[key] for one in declared[name]}
            stays += [
                f"{name}: {one}: kept"
                for one in rows.order_by(key).values_list(key, flat=True)
                if one not in named
            ]
    return stays


def _count_judgements(campaign: Campaign, users: Sequence[str]) -> dict[str, int]:
    rows = campaign.memberships.filter(user__username__in=users).annotate(n=Count("judgements"))
    return dict(rows.values_list("user__username", "n"))


def remove_unlisted(removed: Sequence[Change], campaign: Campaign, *, actor: User | None) -> None:
    """Remove the objects that the file omits. Raises CampaignError if one of the people has judged
    since the plan was made."""
    for change in removed:
        if change.name == "people":
            accounts.remove_member(
                campaign.memberships.get(user__username=change.before["user"]), actor=actor
            )
        elif change.name == "webhooks":
            delete_webhook(campaign.webhooks.get(name=change.before["name"]), actor=actor)
        else:
            for invitation in campaign.invitations.filter(revoked_at=None, **change.before):
                accounts.revoke_invitation(invitation=invitation, actor=actor)
