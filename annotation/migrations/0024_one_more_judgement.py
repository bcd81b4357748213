from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0023_viewers_and_links_to_results"),
    ]

    operations = [
        migrations.AddField(
            model_name="pair",
            name="asked_more",
            field=models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                help_text="additional judgements requested by managers",
            ),
        ),
    ]
