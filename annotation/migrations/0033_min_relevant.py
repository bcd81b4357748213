from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0032_annotator_types")]
    operations = [migrations.RenameField("campaign", "threshold", "min_relevant")]
