from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0034_campaign_publication")]
    operations = [
        migrations.AddField(
            "campaign",
            "further_questions",
            models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text="questions after the grade (annotation.core.campaign_questions)",
            ),
        ),
        migrations.AddField(
            "judgement",
            "answers",
            models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="answers to further questions by key; null if it cannot be judged",
            ),
        ),
        migrations.AddField(
            "judgement",
            "presentation",
            models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="how the page presented the pair, such as the side of a document",
            ),
        ),
    ]
