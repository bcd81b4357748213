"""Deleting a campaign with everything in it: what collections have, for campaigns."""

from __future__ import annotations

import logging

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils.translation import gettext as _

from annotation.models import Campaign, Judgement, Lease, MachineJudge, MachineLabel, Pair, Skip
from annotation.services.errors import CampaignError
from pooling import hooks
from pooling.models import Job

logger = logging.getLogger(__name__)

DELETABLE = {Campaign.State.DRAFT, Campaign.State.CLOSED}


def count_judgements(campaign: Campaign) -> int:
    """All that deleting it would take away: of every revision and standing."""
    return Judgement.objects.filter(pair__campaign=campaign).count()


def delete_campaign(campaign: Campaign, *, actor: User | None) -> int:
    """Delete it with its people's part in it, judgements, reports and releases; returns how many
    judgements there were.

    Collection, pool and accounts stay. Refused while it is open or paused, since answers may still
    be on their way. The audit goes with the campaign; who deleted it is in the log."""
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
        campaign.delete()
        for remove in after:
            transaction.on_commit(remove)
    logger.warning(
        "%s deleted the campaign %s (%s) with %d judgements", actor or "a command", slug, name, n
    )
    return n


def _delete_rows(campaign: Campaign) -> None:
    """The large tables, each by one statement: a cascade would load every row."""
    quote = connection.ops.quote_name
    pairs = f"SELECT id FROM {quote(Pair._meta.db_table)} WHERE campaign_id = %s"
    with connection.cursor() as cursor:
        for model in (Judgement, Lease, Skip):
            cursor.execute(
                f"DELETE FROM {quote(model._meta.db_table)} WHERE pair_id IN ({pairs})",
                [campaign.pk],
            )
        machines = f"SELECT id FROM {quote(MachineJudge._meta.db_table)} WHERE campaign_id = %s"
        cursor.execute(
            f"DELETE FROM {quote(MachineLabel._meta.db_table)} WHERE judge_id IN ({machines})",
            [campaign.pk],
        )
        cursor.execute(
            f"DELETE FROM {quote(Pair._meta.db_table)} WHERE campaign_id = %s", [campaign.pk]
        )
