"""Imports every service that registers a kind of job."""

from analysis import tasks  # noqa: F401  reports
from analysis.services import arrivals, exclusions, figures, method_effect, recipe_rankings, releases  # noqa: F401  registered on import
