from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        import analysis.job_registry  # noqa: F401  registers the app's kinds of jobs
        from analysis.dashboard.progress import extension_costs
        from analysis.dashboard.to_do_mail import request_due_mails
        from analysis.dashboard.webhook_checks import request_due_checks
        from analysis.deletion import prepare_file_deletion
        from analysis.systems.selectors import list_collection_files
        from analysis.systems.top_ups import request_follow_up_reports
        from pooling import hooks

        hooks.on_preview.append(extension_costs)
        hooks.further_files.append(list_collection_files)
        hooks.before_deleting_campaign.append(prepare_file_deletion)
        hooks.upkeep.append(request_follow_up_reports)
        hooks.upkeep.append(request_due_mails)
        hooks.upkeep.append(request_due_checks)
