from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0039_webhook_names"), ("pooling", "0010_battles")]
    operations = [
        migrations.AddField(
            "campaign",
            "task",
            models.CharField(
                choices=[("grades", "grades"), ("preferences", "preferences")],
                db_default="grades",
                default="grades",
                help_text="whether annotators grade one document or compare two",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            "judgement",
            "grade",
            models.SmallIntegerField(
                blank=True,
                help_text=(
                    "null if it cannot be judged; a preference refers to the entry's two documents"
                ),
                null=True,
            ),
        ),
    ]
