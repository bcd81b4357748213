"""Admin pages for single sign-on accounts. Only administrators can link an existing account to an
identity at the institution."""

from __future__ import annotations

from django.contrib import admin

from annotation.models import InstitutionAccount


@admin.register(InstitutionAccount)
class InstitutionAccountAdmin(admin.ModelAdmin):
    list_display = ["user", "subject", "created_at"]
    search_fields = ["user__username", "subject"]
    raw_id_fields = ["user"]
