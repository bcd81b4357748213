from django.db import migrations, models
from django.db.models import Max


def fill(apps, schema_editor):
    """Keep the order of priorities in existing campaigns, and count the new counters once. The
    services update them from now on."""
    Campaign, Pair = apps.get_model("annotation", "Campaign"), apps.get_model("annotation", "Pair")
    GuidelineVersion = apps.get_model("annotation", "GuidelineVersion")
    for campaign in Campaign.objects.only("pk"):
        pairs, versions = (
            Pair.objects.filter(campaign=campaign.pk),
            GuidelineVersion.objects.filter(campaign=campaign.pk),
        )
        Campaign.objects.filter(pk=campaign.pk).update(
            band=1,
            top_priority=pairs.aggregate(n=Max("priority"))["n"] or 0,
            newest_guideline=versions.aggregate(n=Max("number"))["n"] or 0,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_hold_back_pairs_without_text"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="band",
            field=models.PositiveSmallIntegerField(
                db_default=3,
                default=3,
                help_text="number of neighbouring priorities judged together; 1 for strict order",
            ),
        ),
        migrations.AddField(
            model_name="campaign",
            name="newest_guideline",
            field=models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text="number of the last version, kept by the services",
            ),
        ),
        migrations.AddField(
            model_name="campaign",
            name="top_priority",
            field=models.IntegerField(
                db_default=0, default=0, help_text="of its pairs, kept by the services"
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="n_today",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="pairs judged since `today_since`"
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="today_since",
            field=models.DateTimeField(
                blank=True,
                help_text="midnight from which `n_today` counts; empty if not counted",
                null=True,
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
