from django.db import migrations, models
from django.db.models import Count, F, Max, Q


def leave_out(apps, schema_editor):
    """Remove the pairs of topics that were removed after their campaign got its pairs, with a row
    in the audit trail."""
    Campaign, Pair = apps.get_model("annotation", "Campaign"), apps.get_model("annotation", "Pair")
    AuditEvent = apps.get_model("annotation", "AuditEvent")
    gone = Pair.objects.exclude(entry__topic__removed_reason="")
    for campaign in Campaign.objects.filter(pk__in=gone.values("campaign")):
        pairs = Pair.objects.filter(campaign=campaign.pk)
        topics = dict(
            gone.filter(campaign=campaign.pk).values_list(
                "entry__topic__topic_id", "entry__topic__removed_reason"
            )
        )
        n = pairs.filter(pk__in=gone.values("pk")).update(removed=True)
        pairs.filter(removed=True, kind="normal").update(
            needed=F("counted") + F("held"), open_slots=0
        )
        counts = pairs.filter(removed=False).aggregate(
            n_pairs=Count("pk"),
            n_topics=Count("topic_row", distinct=True),
            n_gold=Count("pk", filter=Q(kind="gold")),
            n_everyone=Count("pk", filter=Q(kind="everyone")),
            top_priority=Max("priority"),
        )
        Campaign.objects.filter(pk=campaign.pk).update(
            **{name: value or 0 for name, value in counts.items()}
        )
        details = {"topics": topics, "pairs": n}
        AuditEvent.objects.create(
            campaign=campaign,
            action="removed topics",
            subject=", ".join(topics)[:200],
            details=details,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_qualification_tries"),
    ]

    operations = [
        migrations.AddField(
            model_name="pair",
            name="removed",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="its topic is removed, so it is neither assigned nor counted; kept by the services",
            ),
        ),
        migrations.RunPython(leave_out, migrations.RunPython.noop),
    ]
