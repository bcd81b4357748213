"""Rewrite stored actions of the audit trail, and store the reason of an automatic pause as a code
that is translated when it is shown."""

from __future__ import annotations

import re
from typing import Any

from django.db import migrations

ACTIONS = {
    "made the campaign": "created the campaign",
    "set the pool": "chose the pool",
    "made a pair normal": "made a pair ordinary",
    "made a pair everyone": "made a pair a calibration pair",
    "made a pair gold": "made a pair a gold question",
    "made a pair qualification": "made a pair a qualification question",
    "asked for one more judgement": "requested an additional judgement",
    "took back one more judgement": "cancelled an additional judgement",
    "made a link to the results": "created a results link",
    "revoked a link to the results": "revoked a results link",
    "revoked an invitation": "withdrew an invitation",
    "passed the qualification": "passed the qualification test",
    "failed the qualification": "failed the qualification test",
    "let in without qualification": "admitted an annotator without a passed test",
    "let try the qualification again": "allowed another qualification attempt",
    "wrote a message": "sent a message",
    "made a machine judge": "created an LLM judge",
    "froze a machine judge": "froze an LLM judge",
    "deleted a machine judge": "deleted an LLM judge",
    "wrote a recipe": "saved a recipe",
    "brought judgements made elsewhere": "imported judgements made elsewhere",
}


def rename_actions(apps: Any, schema_editor: Any) -> None:
    events = apps.get_model("annotation.AuditEvent").objects
    for old, new in ACTIONS.items():
        events.filter(action=old).update(action=new)


def store_codes(apps: Any, schema_editor: Any) -> None:
    members = apps.get_model("annotation.Membership").objects
    members.filter(status_reason__startswith="The qualification was not passed. ").update(
        status_reason="failed the qualification test"
    )
    for member in members.filter(status_reason__contains=" of your answers came faster than "):
        if number := re.match(r"\d+(?= of your answers came faster than )", member.status_reason):
            member.status_reason = f"too-fast judgements: {number.group()}"
            member.save(update_fields=["status_reason"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0028_status")]
    operations = [
        migrations.RunPython(rename_actions, migrations.RunPython.noop),
        migrations.RunPython(store_codes, migrations.RunPython.noop),
    ]
