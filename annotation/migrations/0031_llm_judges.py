"""Name the tables of LLM judges and the annotator types by the terms of the field."""

import django.db.models.deletion
from django.db import migrations, models

KINDS = [("human", "human"), ("simulated", "simulated"), ("llm", "llm")]


class Migration(migrations.Migration):
    dependencies = [("annotation", "0030_help_texts")]
    operations = [
        migrations.RenameModel("MachineJudge", "LlmJudge"),
        migrations.RenameModel("MachineLabel", "LlmLabel"),
        migrations.AlterModelOptions(
            "llmjudge", {"ordering": ["created_at", "pk"], "verbose_name": "LLM judge"}
        ),
        migrations.AlterField(
            "llmjudge",
            "campaign",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="llm_judges",
                to="annotation.campaign",
            ),
        ),
        migrations.RemoveConstraint("llmjudge", "one_machine_per_name"),
        migrations.AddConstraint(
            "llmjudge",
            models.UniqueConstraint(fields=("campaign", "name"), name="one_llm_judge_per_name"),
        ),
        migrations.RemoveConstraint("llmlabel", "one_machine_label_per_sample"),
        migrations.AddConstraint(
            "llmlabel",
            models.UniqueConstraint(
                fields=("judge", "topic", "docno", "sample"), name="one_llm_label_per_sample"
            ),
        ),
        migrations.AlterField(
            "campaign",
            "judge_kind",
            models.CharField(
                choices=KINDS,
                db_default="human",
                default="human",
                help_text="whether it contains judgements of simulated annotators, which every page states",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            "membership",
            "judge_kind",
            models.CharField(choices=KINDS, db_default="human", default="human", max_length=10),
        ),
    ]
