"""Creation and changes of a campaign from a campaign file. A plan is made without changes, and then
applied by the services that the pages use, in one transaction.

    plan = plan_campaign(described, folder=".", actor=user)    # CampaignMistakes if impossible
    rehearse_plan(plan, actor=user)                # finds errors of the services, changes nothing
    campaign = apply_plan(plan, actor=user)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import ngettext

from annotation.core.campaign_file import (
    PANEL_CODES,
    SETTINGS,
    CampaignDescription,
    CampaignMistakes,
    map_gold_to_scale,
    plan_campaign_changes,
)
from annotation.core.campaign_questions import find_question_problems
from annotation.models import Campaign, GuestPanel, Membership, Pair
from annotation.selectors.campaign_description import describe_campaign, describe_known_pairs
from annotation.selectors.qualification import make_single_key_warnings
from annotation.services import webhooks
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.pairs import set_pair_kind, set_pool
from annotation.services.campaigns.unlisted_objects import (
    find_unlisted,
    find_unlisted_in_collection,
    remove_unlisted,
)
from annotation.services.errors import CampaignError
from annotation.services.people import accounts, exclusion, guests
from annotation.services.people.panel_settings import find_panel_problems
from pooling.core.declaration import Change, Mistake
from pooling.models import Collection
from pooling.services import declaration as of_collections
from pooling.services.collections import delete_files

SETTING_NAMES = {key.name for key in SETTINGS}
State = Campaign.State


@dataclass
class CampaignPlan:
    """The planned changes.

    collection: the plan for the collection. campaign: None if it will be created or the file has
    none. unnamed: existing objects that the file omits and that are kept, in words. warnings:
    sentences about changes that are possible but probably not intended. managers: usernames of the
    campaign's managers after the changes.
    """

    description: CampaignDescription
    collection: of_collections.CollectionPlan
    campaign: Campaign | None
    changes: list[Change]
    unnamed: list[str]
    warnings: list[str]
    managers: list[str]

    @property
    def all_changes(self) -> list[Change]:
        return [*self.collection.changes, *self.changes]

    def get_changes(self, name: str) -> list[Change]:
        return [change for change in self.changes if change.name == name]


def plan_campaign(
    description: CampaignDescription, *, folder: str | None, actor: User | None, prune: bool = False
) -> CampaignPlan:
    """Plan the changes for a campaign file.

    folder: base of the file's relative paths, None if there are no files. actor: will manage what
    is created. prune: remove invitations that the file omits, and people that it omits and who have
    not judged. Raises CampaignMistakes
    for all impossible changes, and FormatError for a file that cannot be read.
    """
    declared = description.campaign
    collection_plan = of_collections.plan_collection(
        description.collection, description.pool, folder=folder
    )
    campaign = (
        Campaign.objects.select_related("collection", "pool").filter(slug=declared["slug"]).first()
        if declared
        else None
    )
    refused = [*collection_plan.refused]
    changes: list[Change] = []
    stays = (
        []
        if collection_plan.collection is None
        else find_unlisted_in_collection(collection_plan.collection, description.collection)
    )
    warnings = _warn_without_manager(collection_plan, campaign, description, actor)
    if declared:
        wanted = _preview_campaign(campaign, declared)
        declared = map_gold_to_scale(declared, wanted.grades)
        warnings += make_single_key_warnings(
            [
                (row["kind"], row["grade"])
                for row in declared.get("gold", [])
                if row["grade"] is not None
            ],
            wanted,
        )
        description = replace(description, campaign=declared)
        stored = _read_current_state(campaign, declared)
        declared = _complete_settings(campaign, stored, declared)
        changed, wrong = plan_campaign_changes(stored, declared)
        # the reader of the files has already inserted their contents
        files = [name for name in ("guidelines_file", "gold_file") if name in declared]
        refused += [
            Mistake(
                ("campaign", name),
                f"{name} works only on the command line",
                f"the key {name.removesuffix('_file')}",
            )
            for name in files
        ]
        refused += wrong + _invalid_values(declared) + _unknown_people(declared)
        refused += _invalid_webhooks(stored, declared) + _invalid_panel(declared)
        refused += [
            Mistake(("campaign", "further_questions", *path), problem, expected)
            for path, problem, expected in find_question_problems(
                wanted.further_questions, primary=wanted.grades
            )
        ]
        if campaign is None:
            changes.append(
                Change(
                    "campaign",
                    "slug",
                    None,
                    declared["slug"],
                    f"create the campaign {declared['slug']}",
                )
            )
            refused += (
                []
                if declared.get("name")
                else [
                    Mistake(
                        ("campaign",),
                        f"there is no campaign with the slug {declared['slug']}, and a new one needs a name",
                        'name = "..."',
                    )
                ]
            )
        elif campaign.collection.slug != description.collection["slug"]:
            refused.append(
                Mistake(
                    ("collection", "slug"),
                    f"{campaign.slug} belongs to collection {campaign.collection.slug}",
                    campaign.collection.slug,
                )
            )
        changes += _pool_changes(campaign, description, stored) + changed
        if campaign is not None:
            further, removed = find_unlisted(campaign, stored, declared, prune=prune)
            stays += further
            changes += removed
    if refused:
        raise CampaignMistakes(refused)
    managers = list_planned_managers(campaign, declared, actor) if declared else []
    return CampaignPlan(description, collection_plan, campaign, changes, stays, warnings, managers)


def _preview_campaign(campaign: Campaign | None, declared: Mapping[str, Any]) -> Campaign:
    """Return the campaign with its future questions and rules for gold, without saving it."""
    now, names = (
        campaign or Campaign(),
        ("scale", "min_relevant", "gold_rule", "qualification_pass", "further_questions"),
    )
    return Campaign(**{name: declared.get(name, getattr(now, name)) for name in names})


def _read_current_state(campaign: Campaign | None, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the campaign's current values in the form of a campaign file. Pairs that the file
    names are included even if their topic is removed. Other pairs of removed topics are omitted."""
    if campaign is None:
        return {}
    settings = describe_campaign(campaign)
    named = {(row["topic"], row["document"]) for row in declared.get("gold", [])}
    settings["gold"] += [
        row
        for row in describe_known_pairs(campaign.pairs.filter(removed=True))
        if (row["topic"], row["document"]) in named
    ]
    return settings


def _complete_settings(
    campaign: Campaign | None, stored: Mapping[str, Any], declared: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the file's campaign table with the stored completion codes that it omits. Unchanged
    webhook addresses are replaced by the form that is shown."""
    declared = dict(declared)
    if "panel" in declared:
        codes = {name: stored.get("panel", {}).get(name, "") for name in PANEL_CODES}
        declared["panel"] = {
            name: value or codes.get(name, value) for name, value in declared["panel"].items()
        }
    if "webhooks" in declared and campaign is not None:
        known = {(one.name, one.url): one.shown_address for one in campaign.webhooks.all()}
        declared["webhooks"] = [
            {**row, "url": known.get((row["name"], row["url"]), row["url"])}
            for row in declared["webhooks"]
        ]
    return declared


def _invalid_webhooks(stored: Mapping[str, Any], declared: Mapping[str, Any]) -> list[Mistake]:
    kept = {(row["name"], row["url"]) for row in stored.get("webhooks", [])}
    return [
        Mistake(
            ("campaign", "webhooks", number, "url"),
            "the path of the address is left out" if "…" in row["url"] else problem.rstrip("."),
            "the complete address",
        )
        for number, row in enumerate(declared.get("webhooks", []))
        if (row["name"], row["url"]) not in kept
        and ("…" in row["url"] or (problem := webhooks.find_address_problem(row["url"])))
    ]


def _invalid_panel(declared: Mapping[str, Any]) -> list[Mistake]:
    values = declared.get("panel", {})
    problems = find_panel_problems(values)
    try:
        GuestPanel(**values).clean_fields(exclude=["campaign", *PANEL_CODES])
    except ValidationError as error:
        problems += [(name, " ".join(texts)) for name, texts in error.message_dict.items()]
    return [
        Mistake(("campaign", "panel", name), problem.rstrip("."), "another value")
        for name, problem in (problems if values else [])
    ]


def _pool_changes(
    campaign: Campaign | None, description: CampaignDescription, stored: Mapping[str, Any]
) -> list[Change]:
    if not description.pool:
        return []
    was = campaign.pool.name if campaign is not None and campaign.pool is not None else None
    name = description.pool["name"]
    return (
        []
        if was == name
        else [Change("campaign", "pool", was, name, f"pool: {was or 'none'} → {name}")]
    )


def _invalid_values(declared: Mapping[str, Any]) -> list[Mistake]:
    """Return an error for each value that the database columns refuse, such as a long text or an
    invalid address."""
    given = {name: declared[name] for name in SETTING_NAMES & set(declared)}
    try:
        trial = Campaign(slug=declared["slug"], **given)
        trial.clean_fields(
            exclude=[one.name for one in Campaign._meta.fields if one.name not in {*given, "slug"}]
        )
    except ValidationError as error:
        return [
            Mistake(("campaign", name), " ".join(texts).rstrip("."), "another value")
            for name, texts in error.message_dict.items()
        ]
    return []


def _unknown_people(declared: Mapping[str, Any]) -> list[Mistake]:
    rows = [
        (number, row["user"])
        for number, row in enumerate(declared.get("people", []))
        if row["user"]
    ]
    known = set(
        get_user_model()
        .objects.filter(username__in=[name for _, name in rows])
        .values_list("username", flat=True)
    )
    return [
        Mistake(
            ("campaign", "people", number, "user"),
            f"there is no account with the username {name}",
            "an existing account, or an invitation instead",
        )
        for number, name in rows
        if name not in known
    ]


def _warn_without_manager(
    collection_plan: of_collections.CollectionPlan,
    campaign: Campaign | None,
    description: CampaignDescription,
    actor: User | None,
) -> list[str]:
    """Return warnings about a collection or campaign that will have no manager."""
    warnings = []
    collection, declared = collection_plan.collection, description.campaign
    named = description.collection.get("managers") or (
        actor is not None if collection is None else collection.managers.exists()
    )
    if not named:
        warnings.append(
            f"Collection {description.collection['slug']} has no manager, so only administrators see "
            'it. Add managers = ["NAME"] to the table collection.'
        )
    if declared and not list_planned_managers(campaign, declared, actor):
        warnings.append(
            f"Campaign {declared['slug']} has no manager, so only administrators see it. Add a row with "
            'role = "manager" to campaign.people.'
        )
    return warnings


def list_planned_managers(
    campaign: Campaign | None, declared: Mapping[str, Any], actor: User | None
) -> list[str]:
    """Return the usernames of the managers that the campaign will have. campaign: None if it will be
    created. declared: the table campaign of the file."""
    role_of = {row["user"]: row["role"] for row in declared.get("people", [])}
    if campaign is not None:
        members = campaign.memberships.values_list("user__username", "role")
        role_of |= dict(members)  # the file does not change roles
    elif actor is not None:
        role_of.setdefault(actor.get_username(), Membership.Role.MANAGER)
    return sorted(name for name, role in role_of.items() if role == Membership.Role.MANAGER)


class _RehearsalDone(Exception):
    pass


def rehearse_plan(plan: CampaignPlan, *, actor: User | None) -> None:
    """Apply the plan and roll it back, so that the user sees the services' errors before
    confirming.

    Steps that read files or create pairs are not rehearsed. Raises CampaignError,
    pooling.platform.jobs.Refused or FormatError.
    """
    if plan.collection.is_slow or plan.get_changes("pool") or not plan.all_changes:
        return
    try:
        with transaction.atomic():
            _apply_changes(plan, actor)
            raise _RehearsalDone
    except _RehearsalDone:
        pass
    finally:
        if plan.campaign is not None:
            plan.campaign.refresh_from_db()


def apply_plan(plan: CampaignPlan, *, actor: User | None) -> tuple[Collection, Campaign | None]:
    """Apply all planned changes, or none if one fails. Raises CampaignError,
    pooling.platform.jobs.Refused or FormatError."""
    try:
        with transaction.atomic():
            return _apply_changes(plan, actor)
    except BaseException:
        delete_files(plan.collection.stray_files)
        raise


def _apply_changes(plan: CampaignPlan, actor: User | None) -> tuple[Collection, Campaign | None]:
    collection, pool = of_collections.apply_plan(plan.collection, user=actor)
    if not plan.description.campaign:
        return collection, None
    campaign = _apply_settings(plan, collection, actor)
    _add_people(plan, campaign, actor)
    if pool is not None and plan.get_changes("pool"):
        set_pool(campaign, pool, actor=actor)
    if plan.get_changes("guidelines"):
        lifecycle.save_guideline(
            campaign,
            plan.description.campaign["guidelines"],
            note=plan.description.campaign.get("guidelines_note", ""),
            actor=actor,
        )
    _apply_gold(plan, campaign, actor)
    for change in plan.get_changes("invitations"):
        if change.after is not None:
            accounts.create_invitation(campaign=campaign, actor=actor, **change.after)
    for change in plan.get_changes("panel"):
        guests.save_panel(campaign, _panel_values(change.after), actor=actor)
    _apply_webhooks(plan, campaign, actor)
    _apply_member_states(plan, campaign, actor)
    remove_unlisted(
        [
            change
            for change in plan.changes
            if change.name in ("people", "invitations", "webhooks") and change.after is None
        ],
        campaign,
        actor=actor,
    )
    _apply_state(plan, campaign, actor)
    return collection, campaign


def _apply_settings(plan: CampaignPlan, collection: Collection, actor: User | None) -> Campaign:
    declared = plan.description.campaign
    changed = {change.name for change in plan.changes} & SETTING_NAMES
    given = {
        name: declared[name]
        for name in sorted(SETTING_NAMES & set(declared))
        if plan.campaign is None or name in changed
    }
    if plan.campaign is not None:
        return (
            lifecycle.update_campaign(plan.campaign, actor=actor, **given)
            if given
            else plan.campaign
        )
    further = {name: declared[name] for name in ("seed", "annotator_type") if name in declared}
    name = given.pop("name")
    return lifecycle.create_campaign(
        name=name,
        collection=collection,
        actor=actor,
        slug=declared["slug"],
        joins=False,
        **further,
        **given,
    )


def _add_people(plan: CampaignPlan, campaign: Campaign, actor: User | None) -> None:
    """Add the people that the file names and the campaign lacks. The creator of a campaign becomes
    its manager even if the file omits them."""
    rows = [change.after for change in plan.get_changes("people") if change.before is None]
    users = {
        user.get_username(): user
        for user in get_user_model().objects.filter(username__in=[row["user"] for row in rows])
    }
    # people with a pseudonym in the file first, so that no generated one takes theirs
    for row in sorted(rows, key=lambda row: not row["pseudonym"]):
        kind = campaign.annotator_type if row["role"] == Membership.Role.ANNOTATOR else "human"
        accounts.add_member(
            campaign=campaign,
            user=users[row["user"]],
            role=row["role"],
            annotator_type=kind,
            pseudonym=row["pseudonym"],
        )
    if (
        plan.campaign is None
        and actor is not None
        and not campaign.memberships.filter(user=actor).exists()
    ):
        accounts.add_member(campaign=campaign, user=actor, role=Membership.Role.MANAGER)


def _apply_gold(plan: CampaignPlan, campaign: Campaign, actor: User | None) -> None:
    rows = plan.get_changes("gold")
    wanted = {
        (row["topic"], row["document"])
        for row in (change.after or change.before for change in rows)
    }
    pairs = Pair.objects.filter(
        campaign=campaign, entry__docno__in={document for _, document in wanted}
    ).select_related("campaign", "entry__topic")
    pair_of = {(pair.entry.topic.topic_id, pair.entry.docno): pair for pair in pairs}
    if absent := sorted(wanted - set(pair_of)):
        says = ngettext(
            "Gold question %(first)s is not in the campaign's pool.",
            "Gold question %(first)s and %(more)s more are not in the campaign's pool.",
            len(absent),
        )
        raise CampaignError(says % {"first": " ".join(absent[0]), "more": len(absent) - 1})
    for change in rows:
        row = change.after or {
            **change.before,
            "kind": Pair.Kind.NORMAL,
            "grade": None,
            "explanation": "",
        }
        set_pair_kind(
            pair_of[row["topic"], row["document"]],
            row["kind"],
            gold_grade=row["grade"],
            explanation=row["explanation"],
            actor=actor,
        )
    if rows:
        campaign.refresh_from_db()


def _panel_values(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a panel's row in a campaign file to model fields, without the codes to be generated."""
    return {
        name: Decimal(str(value)) if isinstance(value, float) else value
        for name, value in row.items()
        if value or name not in PANEL_CODES
    }


def _apply_webhooks(plan: CampaignPlan, campaign: Campaign, actor: User | None) -> None:
    for change in plan.get_changes("webhooks"):
        row, old = change.after, change.before
        if row is not None and old is None:
            webhooks.create_webhook(campaign, webhooks.NewWebhook(**row), actor=actor)
        elif row is not None:
            changed = {name: value for name, value in row.items() if old[name] != value}
            webhook = campaign.webhooks.select_related("campaign").get(name=row["name"])
            webhooks.update_webhook(webhook, changed, actor=actor)


def _apply_member_states(plan: CampaignPlan, campaign: Campaign, actor: User | None) -> None:
    for row in (change.after for change in plan.get_changes("people") if change.after is not None):
        member = campaign.memberships.select_related("campaign").get(user__username=row["user"])
        if (member.status, member.status_reason) == (row["status"], row["reason"]):
            continue
        if member.status == Membership.Status.EXCLUDED:
            exclusion.include_annotator(member, actor=actor)
        if row["status"] == Membership.Status.EXCLUDED:
            exclusion.exclude_annotator(member, reason=row["reason"], actor=actor)
        elif row["status"] == Membership.Status.PAUSED:
            exclusion.pause_annotator(member, reason=row["reason"], actor=actor)
        elif member.status == Membership.Status.PAUSED:
            exclusion.resume_annotator(member, actor=actor)


def _apply_state(plan: CampaignPlan, campaign: Campaign, actor: User | None) -> None:
    """Change the campaign's state by opening, pausing, resuming or closing it, as a manager would."""
    declared = plan.description.campaign
    wanted, reason = declared.get("state", campaign.state), declared.get("paused_reason", "")
    if (campaign.state, wanted) == (State.PAUSED, State.PAUSED) and plan.get_changes(
        "paused_reason"
    ):
        lifecycle.resume_campaign(campaign, actor=actor)
    if wanted == campaign.state:
        return
    if campaign.state == State.PAUSED and wanted == State.OPEN:
        lifecycle.resume_campaign(campaign, actor=actor)
    elif campaign.state in (State.DRAFT, State.CLOSED):
        lifecycle.open_campaign(campaign, actor=actor)
    if wanted == State.PAUSED:
        lifecycle.pause_campaign(campaign, reason=reason, actor=actor)
    elif wanted == State.CLOSED:
        lifecycle.close_campaign(campaign, actor=actor)


def serialize_change(change: Change) -> dict[str, Any]:
    """Return a change as JSON values."""
    plain = json.loads(
        json.dumps([change.before, change.after], default=lambda value: value.isoformat())
    )
    return {
        "table": change.table,
        "key": change.name,
        "from": plain[0],
        "to": plain[1],
        "words": change.words,
    }
