"""Updates of campaigns after changes in the pooling app. They are registered as hooks, because
pooling must not import this app."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.core.audit_actions import AuditAction
from annotation.models import Campaign, LlmJudge, Membership, Pair
from annotation.services.audit import record_event
from annotation.services.campaigns.pairs import (
    add_new_pairs,
    apply_topic_decisions,
    release_pairs_with_text,
)
from annotation.services.judging.slots import BATCH
from pooling.models import Collection, Job, Pool, Run
from pooling.platform.jobs import ClaimedJob, Refused

MAX_RELATED = 500


def extend_campaigns(pool: Pool, work: ClaimedJob) -> None:
    """Update every campaign on a grown pool with its new pairs and order."""
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        work.progress(message=f"new pairs for {campaign.name}", now=True)
        add_new_pairs(campaign, actor=work.job.created_by)


def release_held_pairs(pool: Pool, work: ClaimedJob) -> None:
    """Release held-back pairs of every campaign on the pool after an import of documents."""
    for campaign in Campaign.objects.filter(pool=pool).order_by("pk"):
        release_pairs_with_text(campaign)


def apply_decisions_to_campaigns(collection: Collection, user: Any) -> None:
    """Apply the removal and restoration of topics to every campaign on the collection."""
    for campaign in Campaign.objects.filter(collection=collection).order_by("pk"):
        apply_topic_decisions(campaign, actor=user)


def withdraw_pairs(pool: Pool, entries: Sequence[int]) -> None:
    """Delete the campaigns' pairs of these entries, with their leases and skips. Raises Refused if
    one has been judged or has a known grade."""
    for start in range(0, len(entries), BATCH):
        pairs = Pair.objects.filter(entry__in=entries[start : start + BATCH])
        judged = pairs.filter(judgements__isnull=False).distinct().count()
        if judged:
            says = ngettext(
                "The extension can't be undone because %(n)s of its pairs has been judged.",
                "The extension can't be undone because %(n)s of its pairs have been judged.",
                judged,
            )
            raise Refused(says % {"n": f"{judged:,}"})
        if pairs.exclude(kind__in=[Pair.Kind.NORMAL, Pair.Kind.EVERYONE]).exists():
            raise Refused(
                _(
                    "Some of the pairs are gold or qualification questions. Make them ordinary pairs first."
                )
            )
        pairs.delete()


def log_renaming(thing: Run | Pool, old_name: str, user: Any) -> None:
    """Record the renaming of a run or pool in the audit log of every campaign that shows its
    name."""
    actor = user if user is not None and user.is_authenticated else None
    if isinstance(thing, Run):
        campaigns, action, now = (
            Campaign.objects.filter(collection=thing.collection_id),
            AuditAction.RENAMED_A_RUN,
            thing.tag,
        )
        _rename_related_run(thing, old_name)
    else:
        campaigns, action, now = (
            Campaign.objects.filter(pool=thing),
            AuditAction.RENAMED_THE_POOL,
            thing.name,
        )
    for campaign in campaigns.order_by("pk"):
        record_event(campaign, actor, action, now, name={"changed": [old_name, now]})


def _rename_related_run(run: Run, old_tag: str) -> None:
    """Rename the run in the LLM judges that list it as built with their model. Raises Refused if
    the tag contains a comma or a list would become too long."""
    for judge in LlmJudge.objects.filter(campaign__collection=run.collection_id).exclude(
        related=""
    ):
        names = [one.strip() for one in judge.related.split(",")]
        if old_tag.casefold() not in [one.casefold() for one in names]:
            continue
        others = [one for one in names if one.casefold() != old_tag.casefold()]
        also_a_group = run.collection.runs.filter(group__iexact=old_tag).exists()
        judge.related = ", ".join([*others, run.tag, *([old_tag] if also_a_group else [])])
        if "," in run.tag or len(judge.related) > MAX_RELATED:
            says = _(
                "The LLM judge %(judge)s lists %(before)s as a related system, and %(tag)s can't be "
                "listed there. Choose a shorter tag without commas."
            )
            raise Refused(says % {"judge": judge.name, "before": old_tag, "tag": run.tag})
        judge.save(update_fields=["related"])


def manages_job_campaign(user: Any, job: Job) -> bool:
    """Return whether the job belongs to a campaign that the user manages."""
    if job.campaign_id is None:
        return False
    return Membership.objects.filter(
        campaign=job.campaign_id, user=user, role=Membership.Role.MANAGER
    ).exists()
