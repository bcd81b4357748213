from django.db import migrations


def hold_back(apps, schema_editor):
    """Fill the new column for existing pairs."""
    Pair = apps.get_model("annotation", "Pair")
    Pair.objects.filter(entry__document=None).update(without_text=True)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_pairs_without_text"),
    ]

    operations = [migrations.RunPython(hold_back, migrations.RunPython.noop)]
