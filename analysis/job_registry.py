"""Imports of all services that register a kind of background job."""

# ruff: noqa: F401

from analysis.dashboard import (
    agreement_metrics,
    exclusions,
    home_summary,
    method_effect,
    ranking_effects,
    to_do_mail,
    webhook_checks,
)
from analysis.judgements import interim_checks
from analysis.publishing import (
    engines,
    import_job,
    recipe_rankings,
    recipes,
)
from analysis.results import example
from analysis.studies import stored_studies
from analysis.systems import answers, tasks
