import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pooling", "0009_names_of_llm_judges")]
    operations = [
        migrations.RemoveConstraint("poolentry", "one_entry_per_pair"),
        migrations.AddField(
            "poolentry",
            "other_docno",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="of a battle: the document with which it is compared",
                max_length=255,
            ),
        ),
        migrations.AddField(
            "poolentry",
            "other_document",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="pooling.document",
            ),
        ),
        migrations.AddField(
            "poolentry",
            "systems",
            models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text=(
                    "of a battle: [run of the document, run of the other], "
                    "never shown to annotators"
                ),
            ),
        ),
        migrations.AlterField(
            "pool",
            "kind",
            models.CharField(
                choices=[
                    ("depth", "depth"),
                    ("ordered", "ordered"),
                    ("sampled", "sampled"),
                    ("given", "given"),
                    ("battles", "battles"),
                ],
                db_default="depth",
                default="depth",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            "poolentry",
            models.UniqueConstraint(
                fields=("pool", "topic", "docno", "other_docno"), name="one_entry_per_pair"
            ),
        ),
    ]
