from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0025_depth_of_judging"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="show_near_duplicates",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="offer a very similar document with the annotator's own grade of it",
            ),
        ),
    ]
