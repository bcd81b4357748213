from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0033_min_relevant")]
    operations = [
        migrations.AddField(
            "campaign",
            "publication",
            models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="publication metadata (annotation.core.publication)",
            ),
        )
    ]
