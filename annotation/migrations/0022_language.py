from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0021_pause_after_too_fast")]

    operations = [
        migrations.AddField(
            model_name="profile",
            name="language",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="language code of the pages; empty for the browser's language",
                max_length=10,
            ),
        ),
    ]
