"""Imports every service that registers a kind of job."""

# ruff: noqa: F401

from analysis.dashboard import (
    agreement_figures,
    exclusions,
    home_figures,
    method_effect,
    to_do_mail,
)
from analysis.judgements import stopping_looks
from analysis.publishing import (
    import_job,
    recipe_rankings,
    recipes,
)
from analysis.studies import keeping
from analysis.systems import answers, tasks
