from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0027_gold_rule")]
    operations = [
        migrations.RenameField("judgement", "standing", "status"),
        migrations.RenameField("membership", "standing", "status"),
        migrations.RenameField("membership", "standing_reason", "status_reason"),
    ]
