"""Counts the words of stored documents again where the script has no spaces: Chinese and Japanese documents counted as one word."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from assay.word_count import count_words

BATCH = 500


def count_again(apps: Any, _editor: object) -> None:
    documents = apps.get_model("pooling", "Document").objects
    changed = []
    for document in (
        documents.only("pk", "text", "n_words").order_by("pk").iterator(chunk_size=BATCH)
    ):
        words = count_words(document.text)
        if words != document.n_words:
            document.n_words = words
            changed.append(document)
        if len(changed) == BATCH:
            documents.bulk_update(changed, ["n_words"])
            changed = []
    documents.bulk_update(changed, ["n_words"])


class Migration(migrations.Migration):
    dependencies = [("pooling", "0003_whole_sets")]
    operations = [migrations.RunPython(count_again, migrations.RunPython.noop)]
