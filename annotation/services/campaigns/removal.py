"""Deletion of campaigns with everything in them."""

from __future__ import annotations

import logging

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils.translation import gettext as _

from annotation.models import Campaign, Judgement, Lease, LlmJudge, LlmLabel, Pair, Skip
from annotation.services.errors import CampaignError
from annotation.services.judging.slots import BATCH
from pooling import hooks
from pooling.models import Job

logger = logging.getLogger(__name__)

DELETABLE = {Campaign.State.DRAFT, Campaign.State.CLOSED}


def count_judgements(campaign: Campaign) -> int:
    """Return the number of judgements that deleting the campaign would remove, in all revisions and
    statuses."""
    return Judgement.objects.filter(pair__campaign=campaign).count()


def delete_campaign(campaign: Campaign, *, actor: User | None) -> int:
    """Delete a campaign with its memberships, judgements, reports and releases. Returns the number
    of judgements.

    Collection, pool and accounts other than those of guests are kept. Raises CampaignError while the campaign is open or
    paused, because answers may still arrive. The audit log is deleted with the campaign, and the
    log records the user who deleted it.
    """
    name, slug = campaign.name, campaign.slug
    with transaction.atomic():
        state = (
            Campaign.objects.select_for_update().values_list("state", flat=True).get(pk=campaign.pk)
        )
        if state not in DELETABLE:
            raise CampaignError(
                _("The campaign is %(state)s. Close it before you delete it.") % {"state": state}
            )
        after = [forget(campaign) for forget in hooks.before_deleting_campaign]
        jobs = Job.objects.filter(campaign_id=campaign.pk)
        jobs.filter(state=Job.State.RUNNING).update(cancel_requested=True)
        jobs.exclude(state=Job.State.RUNNING).delete()
        n = count_judgements(campaign)
        _delete_rows(campaign)
        guests = User.objects.filter(memberships__guest__panel__campaign=campaign)
        guest_ids = list(guests.values_list("pk", flat=True))
        campaign.delete()
        for start in range(0, len(guest_ids), BATCH):
            User.objects.filter(pk__in=guest_ids[start : start + BATCH]).delete()
        for remove in after:
            transaction.on_commit(remove)
    logger.warning(
        "%s deleted the campaign %s (%s) with %d judgements", actor or "a command", slug, name, n
    )
    return n


def _delete_rows(campaign: Campaign) -> None:
    """Delete the campaign's rows in large tables with one statement per table. A cascade would load
    every row."""
    quote = connection.ops.quote_name
    pairs = f"SELECT id FROM {quote(Pair._meta.db_table)} WHERE campaign_id = %s"
    with connection.cursor() as cursor:
        for model in (Judgement, Lease, Skip):
            cursor.execute(
                f"DELETE FROM {quote(model._meta.db_table)} WHERE pair_id IN ({pairs})",
                [campaign.pk],
            )
        llm_judges = f"SELECT id FROM {quote(LlmJudge._meta.db_table)} WHERE campaign_id = %s"
        cursor.execute(
            f"DELETE FROM {quote(LlmLabel._meta.db_table)} WHERE judge_id IN ({llm_judges})",
            [campaign.pk],
        )
        cursor.execute(
            f"DELETE FROM {quote(Pair._meta.db_table)} WHERE campaign_id = %s", [campaign.pk]
        )
