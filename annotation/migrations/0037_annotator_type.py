from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0036_webhooks")]
    operations = [
        migrations.RenameField("campaign", "judge_kind", "annotator_type"),
        migrations.RenameField("membership", "judge_kind", "annotator_type"),
    ]
