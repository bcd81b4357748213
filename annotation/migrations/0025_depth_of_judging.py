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
                help_text="pairs of a lower priority that nobody has judged wait; null: the whole pool is judged",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="pair",
            name="beyond_depth",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="its priority is below the campaign's least: served only if somebody has judged it; kept by the services",
            ),
        ),
    ]
