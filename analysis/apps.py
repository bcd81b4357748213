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
        from annotation.services.campaigns.removal import forgetters
        from assay.labels.clicks import dctr_labels, raw_labels
        from pooling.platform import jobs
        from pooling.services.collections import further_files
        from pooling.services.extending import on_preview
        from pooling.services.qrels import click_labels

        click_labels.update(raw=raw_labels, dctr=dctr_labels)
        on_preview.append(cost_of_more)
        further_files.append(files_of_collection)
        forgetters.append(forget_campaign)
        jobs.upkeep.append(close_reports)
        jobs.upkeep.append(mail_when_due)
