"""Accounts of the institution for administrators: the one place where an account that was there
before is connected with its person."""

from __future__ import annotations

from django.contrib import admin

from annotation.models import InstitutionAccount


@admin.register(InstitutionAccount)
class InstitutionAccountAdmin(admin.ModelAdmin):
    list_display = ["user", "subject", "created_at"]
    search_fields = ["user__username", "subject"]
    raw_id_fields = ["user"]
