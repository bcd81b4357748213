"""Imports every service that registers a kind of job."""

from analysis.dashboard import agreement_figures, exclusions, home_figures, method_effect, to_do_mail  # noqa: F401  registered on import
from analysis.judgements import stopping_looks  # noqa: F401  registered on import
from analysis.publishing import import_job, recipe_rankings, recipes  # noqa: F401  registered on import
from analysis.studies import keeping  # noqa: F401  registered on import
from analysis.systems import answers, tasks  # noqa: F401  registered on import; reports
