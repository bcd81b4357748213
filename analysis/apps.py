from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        import analysis.kinds  # registers the app's kinds of jobs
        import analysis.permissions  # noqa: F401  managers see the work of their campaigns
