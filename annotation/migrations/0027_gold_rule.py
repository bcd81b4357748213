from django.db import migrations, models

CHOICES = [
    ("side", "side"),
    ("near", "near"),
    ("exact", "exact"),
]
HELP = "when a judgement of a gold or qualification pair counts as right"


class Migration(migrations.Migration):
    """Existing campaigns keep the rule of their earlier feedback, and new ones use the rule "side"."""

    dependencies = [
        ("annotation", "0026_show_near_duplicates"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="gold_rule",
            field=models.CharField(
                choices=CHOICES, db_default="exact", default="exact", help_text=HELP, max_length=10
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="gold_rule",
            field=models.CharField(
                choices=CHOICES, db_default="side", default="side", help_text=HELP, max_length=10
            ),
        ),
    ]
