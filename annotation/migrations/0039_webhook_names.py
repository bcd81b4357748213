from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def number_repeated_names(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Append the ID to each repeated name of a campaign's webhooks."""
    seen: Counter[tuple[int, str]] = Counter()
    for webhook in apps.get_model("annotation", "Webhook").objects.order_by("pk"):
        seen[webhook.campaign_id, webhook.name] += 1
        if seen[webhook.campaign_id, webhook.name] > 1:
            ending = f" ({webhook.pk})"
            webhook.name = webhook.name[: 100 - len(ending)] + ending
            webhook.save(update_fields=["name"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0038_guests")]

    operations = [
        migrations.RunPython(number_repeated_names, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.UniqueConstraint(
                fields=("campaign", "name"), name="one_webhook_name_per_campaign"
            ),
        ),
    ]
