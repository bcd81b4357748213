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
                help_text="code of a language of these pages; empty: what the browser asks for",
                max_length=10,
            ),
        ),
    ]
