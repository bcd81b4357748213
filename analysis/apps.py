from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        import analysis.kinds  # registers the app's kinds of jobs
        import analysis.permissions  # noqa: F401  managers see the work of their campaigns
        from analysis.selectors.reports import files_of_collection
        from analysis.services.forgetting import forget_campaign
        from annotation.services.removal import forgetters
        from pooling.services.collections import further_files

        further_files.append(files_of_collection)
        forgetters.append(forget_campaign)
