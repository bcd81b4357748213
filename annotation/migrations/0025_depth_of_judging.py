from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0024_one_more_judgement"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="least_priority",
            field=models.IntegerField(
                blank=True,
                help_text="lowest priority that is judged; null for the whole pool",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="pair",
            name="beyond_depth",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="its priority is below the campaign's lowest, so it is assigned only if it has judgements; kept by the services",
            ),
        ),
    ]
