"""Imports every service that registers a kind of job."""

from analysis.dashboard import (
    agreement_figures,  # noqa: F401
    exclusions,  # noqa: F401
    home_figures,  # noqa: F401
    method_effect,  # noqa: F401
    to_do_mail,  # noqa: F401
)
from analysis.judgements import stopping_looks  # noqa: F401  registered on import
from analysis.publishing import (  # noqa: F401  registered on import
    import_job,
    recipe_rankings,
    recipes,
)
from analysis.studies import keeping  # noqa: F401  registered on import
from analysis.systems import answers, tasks  # noqa: F401  registered on import; reports
