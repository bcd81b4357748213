from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        import analysis.kinds  # noqa: F401  registers the app's kinds of jobs
        from analysis.dashboard.progress import cost_of_more
        from analysis.dashboard.to_do_mail import mail_when_due
        from analysis.deletion import forget_campaign
        from analysis.systems.selectors import files_of_collection
        from analysis.systems.top_ups import close_reports
        from pooling import hooks

        hooks.on_preview.append(cost_of_more)
        hooks.further_files.append(files_of_collection)
        hooks.before_deleting_campaign.append(forget_campaign)
        hooks.upkeep.append(close_reports)
        hooks.upkeep.append(mail_when_due)
