import django.db.models.deletion
from django.db import migrations, models


def name_kinds(apps, schema_editor):
    """Pairs that a file named are of their own kind. Only where every priority follows from a rank does it have a depth."""
    Pool, PoolEntry = apps.get_model("pooling", "Pool"), apps.get_model("pooling", "PoolEntry")
    for pool in Pool.objects.exclude(source=""):
        unranked = PoolEntry.objects.filter(pool=pool.pk).exclude(
            best_rank__gt=0, priority=pool.depth - models.F("best_rank")
        )
        ranked = pool.runs.exists() or not unranked.exists()
        Pool.objects.filter(pk=pool.pk).update(kind="given", **({} if ranked else {"depth": None}))


def give_depths(apps, schema_editor):
    """The depth that the first versions gave to such pairs: the deepest rank, or one more than the highest priority."""
    Pool, PoolEntry = apps.get_model("pooling", "Pool"), apps.get_model("pooling", "PoolEntry")
    for pool in Pool.objects.filter(depth=None):
        most = PoolEntry.objects.filter(pool=pool.pk).aggregate(
            rank=models.Max("best_rank"), priority=models.Max("priority")
        )
        Pool.objects.filter(pk=pool.pk).update(
            depth=max(most["rank"] or 1, 1 + (most["priority"] or 0))
        )


class Migration(migrations.Migration):
    dependencies = [
        ("pooling", "0004_words_of_unspaced_scripts"),
    ]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="kind",
            field=models.CharField(
                choices=[
                    ("depth", "depth"),
                    ("ordered", "ordered"),
                    ("sampled", "sampled"),
                    ("given", "given"),
                ],
                db_default="depth",
                default="depth",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="pool",
            name="parameters",
            field=models.JSONField(
                blank=True,
                db_default=models.Value({}, models.JSONField()),
                default=dict,
                help_text="parameters of a sampled or prioritised pool",
            ),
        ),
        migrations.AddField(
            model_name="poolentry",
            name="entered",
            field=models.CharField(
                blank=True,
                choices=[("chance", "chance"), ("choice", "choice")],
                db_default="",
                default="",
                help_text="selected at random or chosen",
                max_length=6,
            ),
        ),
        migrations.AddField(
            model_name="poolentry",
            name="place",
            field=models.PositiveIntegerField(
                blank=True, help_text="position in the shuffled stratum, from 0", null=True
            ),
        ),
        migrations.AddField(
            model_name="poolentry",
            name="stage",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="stage in which it was selected, from 1", null=True
            ),
        ),
        migrations.AddField(
            model_name="poolentry",
            name="stratum",
            field=models.PositiveIntegerField(
                blank=True, help_text="number of its Stratum", null=True
            ),
        ),
        migrations.AlterField(
            model_name="pool",
            name="depth",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="number of ranks taken from each run; empty if the pairs come from a file without ranks",
                null=True,
            ),
        ),
        migrations.RunPython(name_kinds, give_depths),
        migrations.CreateModel(
            name="Stratum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(help_text="what its entries hold in `stratum`"),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="topic/window, or *window if it spans all topics", max_length=300
                    ),
                ),
                (
                    "size",
                    models.PositiveIntegerField(help_text="pairs at the time of sampling: N_h"),
                ),
                (
                    "drawn",
                    models.JSONField(
                        default=list,
                        help_text="pairs drawn by the end of each stage of the pool, from the first on: n_h",
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="strata",
                        to="pooling.pool",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("pool", "number"), name="one_stratum_per_number"
                    ),
                    models.UniqueConstraint(fields=("pool", "name"), name="one_stratum_per_name"),
                ],
            },
        ),
    ]
