from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0016_accounts_of_institutions"),
    ]

    operations = [
        migrations.RenameField("membership", "topic_ids", "topic_rows"),
        migrations.RenameField("membership", "current_topic_id", "current_topic_row"),
        migrations.RenameField("membership", "n_counted", "n_judged"),
        migrations.AlterField(
            model_name="membership",
            name="current_topic_row",
            field=models.BigIntegerField(
                blank=True, help_text="row of the Topic of the current block", null=True
            ),
        ),
        migrations.AlterField(
            model_name="membership",
            name="n_judged",
            field=models.PositiveIntegerField(
                default=0,
                help_text="judged pairs without too-fast and qualification ones; kept by the services",
            ),
        ),
    ]
