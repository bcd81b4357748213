from django.db import migrations, models

KINDS = [("person", "person"), ("simulated", "simulated"), ("machine", "machine")]


def name_kinds(apps, schema_editor):
    for name in ("Membership", "Campaign"):
        apps.get_model("annotation", name).objects.filter(simulated=True).update(
            judge_kind="simulated"
        )


def mark_simulated(apps, schema_editor):
    for name in ("Membership", "Campaign"):
        apps.get_model("annotation", name).objects.filter(judge_kind="simulated").update(
            simulated=True
        )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_pairs_of_removed_topics"),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="judge_kind",
            field=models.CharField(
                choices=KINDS, db_default="person", default="person", max_length=10
            ),
        ),
        migrations.AddField(
            model_name="campaign",
            name="judge_kind",
            field=models.CharField(
                choices=KINDS,
                db_default="person",
                default="person",
                help_text="whether it contains judgements of simulated annotators, which every page states",
                max_length=10,
            ),
        ),
        migrations.RunPython(name_kinds, mark_simulated),
        migrations.RemoveField(model_name="membership", name="simulated"),
        migrations.RemoveField(model_name="campaign", name="simulated"),
    ]
