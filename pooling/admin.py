"""Read-only administration pages of collections, pools and jobs. Changes go through the pages,
whose services enforce the rules."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from pooling.models import Collection, DocumentFile, Job, Pool, Qrels, Run, Upload


class ReadOnlyAdmin(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False


@admin.register(Collection)
class CollectionAdmin(ReadOnlyAdmin):
    list_display = ["name", "slug", "created_by", "created_at"]
    search_fields = ["name", "slug"]


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = [
        "label",
        "kind",
        "state",
        "attempt",
        "collection",
        "created_by",
        "created_at",
        "finished_at",
    ]
    list_filter = ["state", "kind"]
    list_select_related = ["collection", "created_by"]


@admin.register(Run, Qrels, DocumentFile, Pool, Upload)
class FileAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "collection", "created_at"]
    list_select_related = ["collection"]
